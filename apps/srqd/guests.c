/* SPDX-License-Identifier: BSD-3-Clause */
#include "guests.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/words.h"
#include "hello.h"
#include "liveness.h"
#include "pending.h"

static int
failed(DAT_RETURN ret, const char *call)
{
	cli_say_dat(ret, "%s", call);
	return -1;
}

/* A place never used, else that of the client who left first. NULL: all are taken. */
static struct guest *
find_place(struct server *server)
{
	struct guest *oldest = NULL;

	if (server->places < server->options->max_clients)
		return &server->guests[server->places++];
	if (server->present == server->places)
		return NULL;
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (guest->state == GUEST_GONE &&
				(oldest == NULL || guest->number < oldest->number))
			oldest = guest;
	}
	return oldest;
}

static DAT_RETURN
make_ep(struct server *server, struct guest *guest)
{
	/*
	 * A client sees an answer before we hear that it has: its next message may be here while the last answer
	 * still occupies the send queue. So there is room for two windows, and what finds none waits.
	 */
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = server->options->size,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = 1,
		.max_request_dtos = (DAT_COUNT)(server->options->sink ? 1 : 2 * guest->window),
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
	};
	DAT_CONTEXT context = { .as_ptr = guest };
	DAT_RETURN ret;

	ret = dat_ep_create_with_srq(server->ia, server->pz, server->dto_evd, server->dto_evd,
			server->conn_evd, server->refill.srq, &attr, &guest->ep);
	if (ret != DAT_SUCCESS) {
		guest->ep = DAT_HANDLE_NULL;
		return ret;
	}
	return dat_set_consumer_context(guest->ep, context);
}

static DAT_RETURN
accept_request(struct server *server, DAT_CR_HANDLE cr, struct guest *guest)
{
	struct srqd_hello grant = {
		.size = server->options->size,
		.window = guest->window,
		.sink = server->options->sink,
	};
	uint8_t bytes[SRQD_HELLO_LEN];
	DAT_RETURN ret;

	ret = make_ep(server, guest);
	if (ret != DAT_SUCCESS)
		return ret;
	srqd_hello_encode(&grant, bytes);
	/* Messages longer than our buffers are the client's to avoid: this tells it how long they are. */
	return dat_cr_accept(cr, guest->ep, sizeof(bytes), bytes);
}

static void
turn_away(struct server *server, DAT_CR_HANDLE cr)
{
	server->totals.turned_away++;
	dat_cr_reject(cr);
}

static void
admit(struct server *server, const struct srqd_request *request, struct guest *guest)
{
	DAT_RETURN ret;

	*guest = (struct guest){
		.state = GUEST_COMING,
		.number = server->totals.clients + 1,
		.window = request->window,
		.first_waiting = GUEST_NO_BUFFER,
		.last_waiting = GUEST_NO_BUFFER,
	};
	memcpy(guest->address, request->address, sizeof(guest->address));
	cli_liveness_message(&guest->life, server->now);
	ret = accept_request(server, request->cr, guest);
	if (ret == DAT_SUCCESS) {
		server->totals.clients++;
		server->present++;
		return;
	}
	/* One more was one too many for the adapter: the others stay. */
	cli_say_dat(ret, "cannot admit client %u at %s", guest->number, guest->address);
	cli_forget_said();
	if (guest->ep != DAT_HANDLE_NULL)
		dat_ep_free(guest->ep);
	guest->ep = DAT_HANDLE_NULL;
	guest->state = GUEST_GONE;
	guest->ended = "never came";
	turn_away(server, request->cr);
}

static void
find_place_for(struct server *server, const struct srqd_request *request)
{
	struct guest *guest = find_place(server);

	if (guest != NULL) {
		admit(server, request, guest);
	} else if (!pending_keep(server, request)) {
		turn_away(server, request->cr);
		liveness_make_room(server);
	}
}

int
guests_request(struct server *server, const DAT_CR_ARRIVAL_EVENT_DATA *arrival)
{
	struct srqd_request request = { .cr = arrival->cr_handle };
	uint32_t window = server->options->window;
	struct srqd_hello wish;
	DAT_CR_PARAM param;
	DAT_RETURN ret;

	ret = dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_cr_query");
	if (param.private_data_size >= 0 &&
			srqd_hello_decode(param.private_data, (size_t)param.private_data_size,
					&wish) &&
			wish.window > 0) {
		request.window = wish.window < window ? wish.window : window;
		cli_address(param.remote_ia_address_ptr, request.address, sizeof(request.address));
		find_place_for(server, &request);
		return 0;
	}
	/* An unknown peer. */
	turn_away(server, request.cr);
	return 0;
}

struct guest *
guests_of(DAT_EP_HANDLE ep)
{
	DAT_CONTEXT context = { .as_ptr = NULL };
	DAT_RETURN ret;

	ret = dat_get_consumer_context(ep, &context);
	if (ret == DAT_SUCCESS && context.as_ptr != NULL)
		return context.as_ptr;
	cli_say_dat(ret, "an event names an endpoint that is none of ours");
	return NULL;
}

static void
leave(struct server *server, struct guest *guest, const char *how)
{
	guest->state = GUEST_LEAVING;
	/* Thrown out is thrown out, whatever the network calls it. */
	if (guest->ended == NULL)
		guest->ended = how;
	server->leaving++;
}

int
guests_connection(struct server *server, const DAT_EVENT *event)
{
	struct guest *guest = guests_of(event->event_data.connect_event_data.ep_handle);

	if (guest == NULL)
		return -1;
	switch (event->event_number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		guest->state = GUEST_HERE;
		cli_liveness_message(&guest->life, server->now);
		return 0;
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		leave(server, guest, "left");
		return 0;
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
		leave(server, guest, "never came");
		return 0;
	default:
		/* A client that crashed, or broke a rule: its own end, and nobody else's. */
		if (guest->ended == NULL) {
			server->totals.lost++;
			cli_say("client %u at %s is lost: %s", guest->number, guest->address,
					cli_connection_words(event->event_number));
			cli_forget_said();
		}
		leave(server, guest, "lost");
		return 0;
	}
}

void
guests_throw_out(struct server *server, struct guest *guest, const char *reason)
{
	DAT_RETURN ret;

	if ((guest->state != GUEST_HERE && guest->state != GUEST_COMING) || guest->ended != NULL)
		return;
	cli_say("client %u at %s is thrown out: %s", guest->number, guest->address, reason);
	cli_forget_said();
	guest->ended = "thrown out";
	server->totals.lost++;
	ret = dat_ep_disconnect(guest->ep, DAT_CLOSE_ABRUPT_FLAG);
	if (ret != DAT_SUCCESS)
		cli_say_dat(ret, "dat_ep_disconnect");
}

static int
part(struct server *server, struct guest *guest)
{
	DAT_RETURN ret = dat_ep_free(guest->ep);

	guest->ep = DAT_HANDLE_NULL;
	guest->state = GUEST_GONE;
	server->leaving--;
	server->present--;
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_ep_free");
}

/* Answers under way, and those that wait behind them, come back flushed: until then the guest keeps its place. */
static bool
is_reaped(const struct guest *guest)
{
	return guest->life.held == 0 && !guest->life.asked;
}

/* Places have become free. */
static void
admit_pending(struct server *server)
{
	struct srqd_request request;

	while (server->present < server->places && pending_take(server, &request))
		find_place_for(server, &request);
}

int
guests_part(struct server *server)
{
	for (uint32_t i = 0; server->leaving > 0 && i < server->places; i++)
		if (server->guests[i].state == GUEST_LEAVING && is_reaped(&server->guests[i]) &&
				part(server, &server->guests[i]) != 0)
			return -1;
	admit_pending(server);
	return 0;
}

int
guests_stop(struct server *server)
{
	DAT_RETURN ret;

	pending_reject(server);
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (guest->state != GUEST_HERE && guest->state != GUEST_COMING)
			continue;
		ret = dat_ep_disconnect(guest->ep,
				guest->state == GUEST_HERE ? DAT_CLOSE_GRACEFUL_FLAG
							   : DAT_CLOSE_ABRUPT_FLAG);
		if (ret != DAT_SUCCESS)
			return failed(ret, "dat_ep_disconnect");
	}
	return 0;
}

void
guests_break(struct server *server)
{
	for (uint32_t i = 0; i < server->places; i++) {
		struct guest *guest = &server->guests[i];

		if (guest->state == GUEST_HERE || guest->state == GUEST_COMING)
			dat_ep_disconnect(guest->ep, DAT_CLOSE_ABRUPT_FLAG);
	}
}

int
guests_close(struct server *server)
{
	int rc = 0;

	for (uint32_t i = 0; i < server->places; i++) {
		DAT_EP_HANDLE ep = server->guests[i].ep;
		DAT_RETURN ret = ep == DAT_HANDLE_NULL ? DAT_SUCCESS : dat_ep_free(ep);

		server->guests[i].ep = DAT_HANDLE_NULL;
		if (ret != DAT_SUCCESS)
			rc = failed(ret, "dat_ep_free");
	}
	return rc;
}
