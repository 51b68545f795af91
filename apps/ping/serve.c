/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include <string.h>

#include "cli/cli.h"

/* @return as ping_serve_step(). */
static int
let_go(struct ping_server *server)
{
	bool came = server->up;

	server->up = false;
	server->life = (struct cli_liveness){ 0 };
	cli_forget_said();
	return link_release(&server->link) == 0 ? came : -1;
}

/* One client at a time; but one that has said nothing for long makes room for another. @return as ping_serve_step(). */
static int
make_room(struct ping_server *server)
{
	if (server->link.ep == DAT_HANDLE_NULL || !server->up ||
			server->runtime.now - server->life.message_at < CLI_IDLE_S)
		return 0;
	cli_say("the client has sent nothing for %d seconds, and another one asks for its place",
			CLI_IDLE_S);
	return let_go(server);
}

static int
admit(struct ping_server *server)
{
	struct link *link = &server->link;
	int gone = make_room(server);

	if (gone < 0 || link->ep != DAT_HANDLE_NULL) {
		link_reject(link);
		return gone;
	}
	if (link_prepare(link, link->asked) == 0 && link_accept(link) == 0) {
		cli_liveness_message(&server->life, server->runtime.now);
		return gone;
	}
	link_reject(link);
	return let_go(server) < 0 ? -1 : gone;
}

static int
answer(struct ping_server *server)
{
	struct link *link = &server->link;

	cli_liveness_message(&server->life, server->runtime.now);
	memcpy(link->outgoing, link->message, link->size);
	/* A client that sends on without taking an answer has no more room. */
	if (link_send(link) != 0)
		return let_go(server);
	cli_liveness_hold(&server->life, server->runtime.now);
	return 0;
}

/*
 * An accepted client confirms, or sends, at once. The connection manager repeats its reply for most of a minute, and for
 * longer where the client asks for time: the place is not kept for so long. @return as ping_serve_step().
 */
static int
await_client(struct ping_server *server)
{
	if (server->link.ep == DAT_HANDLE_NULL ||
			server->runtime.now - server->life.message_at < CLI_STALL_S)
		return 0;
	cli_say("the client has not confirmed its connection for %d seconds", CLI_STALL_S);
	return let_go(server);
}

/* While the link is quiet. @return as ping_serve_step(). */
static int
look_after(struct ping_server *server)
{
	double now = server->runtime.now;

	if (!server->up)
		return await_client(server);
	if (cli_liveness_stall(&server->life, now, CLI_STALL_S, CLI_STALL_S) != CLI_STALLS_NOT) {
		cli_say("the client has not acknowledged what was sent to it for %d seconds",
				CLI_STALL_S);
		return let_go(server);
	}
	if (cli_liveness_is_silent(&server->life, now, CLI_KEEPALIVE_S) && link_ask(&server->link))
		cli_liveness_hold(&server->life, now);
	return 0;
}

int
ping_serve_step(struct ping_server *server, bool *busy)
{
	enum link_news news = link_step(&server->link);
	double now = cli_runtime_step(&server->runtime);

	*busy = news != LINK_QUIET;
	switch (news) {
	case LINK_REQUEST:
		return admit(server);
	case LINK_UP:
		server->up = true;
		cli_liveness_message(&server->life, now);
		return 0;
	case LINK_MESSAGE:
		return answer(server);
	case LINK_SENT:
		cli_liveness_let_go(&server->life, now);
		cli_liveness_answered(&server->life, now, true);
		return 0;
	case LINK_DOWN:
	case LINK_LOST:
		return let_go(server);
	case LINK_FAILED:
		return -1;
	default:
		return look_after(server);
	}
}
