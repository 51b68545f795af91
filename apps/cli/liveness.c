/* SPDX-License-Identifier: BSD-3-Clause */
#include "liveness.h"

static bool
owes(const struct cli_liveness *l)
{
	return l->held > 0 || l->asked;
}

void
cli_liveness_message(struct cli_liveness *l, double now)
{
	l->heard_at = l->message_at = now;
}

void
cli_liveness_hold(struct cli_liveness *l, double now)
{
	if (!owes(l))
		l->moved_at = now;
	if (l->held++ > 0)
		return;
	l->overdue = 1;
	l->due_at = now;
}

void
cli_liveness_let_go(struct cli_liveness *l, double now)
{
	l->held--;
	if (--l->overdue > 0)
		return;
	l->overdue = l->held;
	l->due_at = now;
}

void
cli_liveness_moved(struct cli_liveness *l, double now)
{
	l->moved_at = now;
}

void
cli_liveness_asked(struct cli_liveness *l, double now)
{
	if (!owes(l))
		l->moved_at = now;
	l->asked = true;
}

void
cli_liveness_answered(struct cli_liveness *l, double now, bool alive)
{
	l->asked = false;
	if (alive)
		l->heard_at = l->moved_at = now;
}

void
cli_liveness_begun(struct cli_liveness *l, double now, bool begun)
{
	/* One that has ended since made room for the next one. */
	bool same = l->begun && l->begun_at > l->message_at;

	l->begun = begun;
	if (!same)
		l->begun_at = now;
}

enum cli_stall
cli_liveness_stall(const struct cli_liveness *l, double now, double stall_s, double slow_s)
{
	if (owes(l) && now - l->moved_at >= stall_s)
		return CLI_STALLS_SILENT;
	if (l->held > 0 && now - l->due_at >= slow_s)
		return CLI_STALLS_SLOW;
	if (l->begun && now - l->begun_at >= stall_s)
		return CLI_STALLS_MIDWAY;
	return CLI_STALLS_NOT;
}

uint32_t
cli_liveness_buffers(const struct cli_liveness *l)
{
	return l->held + l->begun;
}

bool
cli_scarcity_lasts(struct cli_scarcity *scarcity, double now, bool is_on)
{
	if (is_on && !scarcity->is_on)
		scarcity->since = now;
	scarcity->is_on = is_on;
	return is_on && now - scarcity->since >= CLI_SCARCE_STALL_S;
}

bool
cli_liveness_is_silent(const struct cli_liveness *l, double now, double keepalive_s)
{
	return !owes(l) && now - l->heard_at >= keepalive_s;
}
