/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint's life, as one picture. */

#include <stdio.h>
#include <string.h>

#include "dapl/ep.h"
#include "dapl/ep_state.h"
#include "dapl/status.h"
#include "rules.h"

/*
 * Where each input leads (uDAPL 1.2). Columns: dat_ep_connect, dat_cr_accept, dat_rsp_create, its request, dat_cr_accept
 * of that, dat_rsp_free or dat_cr_reject of that, established, refused, disconnect graceful and abrupt, the peer left,
 * drained (without a connection manager), broken, dat_ep_reset. A dot: not allowed, or ignored.
 */
/* clang-format off */
static const char picture[] =
	"               connect accept reserve request answer release establ. refused graceful abrupt left  drained broken reset\n"
	"unconnected    active  compl. resvd   .       .      .       .       .       .        .      .     .       .      unconn\n"
	"reserved       .       .      .       passive .      unconn  .       .       .        .      .     .       .      .\n"
	"passive p.     .       .      .       .       compl. unconn  .       .       .        .      .     .       .      .\n"
	"active pending .       .      .       .       .      .       connd   discd   discd    discd  .     .       .      .\n"
	"completion p.  .       .      .       .       .      .       connd   discd   discd    discd  .     .       .      .\n"
	"connected      .       .      .       .       .      .       .       .       pending  discd  discd .       discd  .\n"
	"disconnect p.  .       .      .       .       .      .       .       .       pending  discd  discd discd   discd  .\n"
	"disconnected   .       .      .       .       .      .       .       .       discd    discd  .     .       .      unconn\n";
/* clang-format on */

static const char *const row_name[DAPL_EP_STATES] = {
	[DAPL_EP_STATE_UNCONNECTED] = "unconnected    ",
	[DAPL_EP_STATE_RESERVED] = "reserved       ",
	[DAPL_EP_STATE_PASSIVE_PENDING] = "passive p.     ",
	[DAPL_EP_STATE_ACTIVE_PENDING] = "active pending ",
	[DAPL_EP_STATE_COMPLETION_PENDING] = "completion p.  ",
	[DAPL_EP_STATE_CONNECTED] = "connected      ",
	[DAPL_EP_STATE_DISCONNECT_PENDING] = "disconnect p.  ",
	[DAPL_EP_STATE_DISCONNECTED] = "disconnected   ",
};

static const char *const cell_name[DAPL_EP_STATES] = {
	[0] = ".",
	[DAPL_EP_STATE_UNCONNECTED] = "unconn",
	[DAPL_EP_STATE_RESERVED] = "resvd",
	[DAPL_EP_STATE_PASSIVE_PENDING] = "passive",
	[DAPL_EP_STATE_ACTIVE_PENDING] = "active",
	[DAPL_EP_STATE_COMPLETION_PENDING] = "compl.",
	[DAPL_EP_STATE_CONNECTED] = "connd",
	[DAPL_EP_STATE_DISCONNECT_PENDING] = "pending",
	[DAPL_EP_STATE_DISCONNECTED] = "discd",
};

/* One blank between words, so that columns may be aligned for people. */
static void
squeeze(const char *from, char *to)
{
	for (; *from != '\0'; from++)
		if (*from != ' ' || (from[1] != ' ' && from[1] != '\n'))
			*to++ = *from;
	*to = '\0';
}

UNIT_RULE_IN(dapl_ep_next__is_the_picture, NULL, NULL)
{
	char drawn[sizeof(picture) * 2], want[sizeof(picture)], have[sizeof(picture) * 2];
	int n;

	n = snprintf(drawn, sizeof(drawn), "%.*s\n", (int)strcspn(picture, "\n"), picture);
	for (unsigned int s = 1; s < DAPL_EP_STATES; s++) {
		n += snprintf(drawn + n, sizeof(drawn) - (size_t)n, "%s", row_name[s]);
		for (unsigned int in = 0; in < DAPL_EP_INPUTS; in++)
			n += snprintf(drawn + n, sizeof(drawn) - (size_t)n, " %s",
					cell_name[dapl_ep_next(s, (enum dapl_ep_input)in)]);
		n += snprintf(drawn + n, sizeof(drawn) - (size_t)n, "\n");
	}
	print_message("%s", drawn);
	squeeze(picture, want);
	squeeze(drawn, have);
	assert_string_equal(have, want);
}

/* Laws that hold however the table grows. */
UNIT_RULE_IN(dapl_ep_next__laws, NULL, NULL)
{
	for (unsigned int s = 1; s < DAPL_EP_STATES; s++) {
		for (unsigned int in = 0; in < DAPL_EP_INPUTS; in++) {
			unsigned int to = dapl_ep_next(s, (enum dapl_ep_input)in);

			assert_true(to < DAPL_EP_STATES);
			/* Only an established connection makes an endpoint connected. */
			if (to == DAPL_EP_STATE_CONNECTED)
				assert_int_equal(in, DAPL_EP_IN_ESTABLISHED);
			/* Only a reset, or a release before a connection has begun, leads back to the start. */
			if (to == DAPL_EP_STATE_UNCONNECTED)
				assert_true(in == DAPL_EP_IN_RESET || in == DAPL_EP_IN_RELEASE);
		}
		/* An abrupt disconnect that is allowed is the end at once. */
		if (dapl_ep_next(s, DAPL_EP_IN_ABRUPT) != 0)
			assert_int_equal(dapl_ep_next(s, DAPL_EP_IN_ABRUPT),
					DAPL_EP_STATE_DISCONNECTED);
	}
}

UNIT_RULE_IN(dapl_ep_advance__moves_or_changes_nothing, NULL, NULL)
{
	struct dapl_ep ep = { .state = DAPL_EP_STATE_UNCONNECTED };

	assert_false(dapl_ep_advance(&ep, DAPL_EP_IN_ESTABLISHED));
	assert_int_equal(ep.state, DAPL_EP_STATE_UNCONNECTED);
	assert_true(dapl_ep_advance(&ep, DAPL_EP_IN_CONNECT));
	assert_int_equal(ep.state, DAPL_EP_STATE_ACTIVE_PENDING);
	assert_true(dapl_ep_advance(&ep, DAPL_EP_IN_ESTABLISHED));
	assert_false(dapl_ep_advance(&ep, DAPL_EP_IN_ESTABLISHED));
	assert_int_equal(ep.state, DAPL_EP_STATE_CONNECTED);
}

UNIT_RULE_IN(dapl_ep_state_error__names_the_state, NULL, NULL)
{
	static const enum dapl_status want[DAPL_EP_STATES] = {
		[DAPL_EP_STATE_UNCONNECTED] = DAPL_EP_UNCONNECTED,
		[DAPL_EP_STATE_RESERVED] = DAPL_EP_RESERVED,
		[DAPL_EP_STATE_PASSIVE_PENDING] = DAPL_EP_PASSIVE_PENDING,
		[DAPL_EP_STATE_ACTIVE_PENDING] = DAPL_EP_ACTIVE_PENDING,
		[DAPL_EP_STATE_COMPLETION_PENDING] = DAPL_EP_COMPLETION_PENDING,
		[DAPL_EP_STATE_CONNECTED] = DAPL_EP_CONNECTED,
		[DAPL_EP_STATE_DISCONNECT_PENDING] = DAPL_EP_DISCONNECT_PENDING,
		[DAPL_EP_STATE_DISCONNECTED] = DAPL_EP_DISCONNECTED,
	};

	for (unsigned int s = 1; s < DAPL_EP_STATES; s++)
		assert_int_equal(dapl_ep_state_error(s), want[s]);
}
