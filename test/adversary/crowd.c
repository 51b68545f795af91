/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of a crowd (crowd.h): its connections, which come and go, and what it reports of them.
 *
 * usage: crowd INDEX COUNT LIFE PORT SEED TICK_US BURST [ADAPTER]    until SIGTERM; SIGUSR1 ends it without a word
 *
 * Lines on standard output, each with PEER and LIFE of the peer, and times in seconds of CLOCK_MONOTONIC:
 *   ready TIME                             it listens
 *   up PEER LIFE TIME                      a connection is there
 *   break PEER LIFE TIME EVENT STATUS      it is not any more; the status of the first completion that failed
 *   refused PEER TIME EVENT SINCE          there was none, asked for at SINCE
 *   unmade PEER LIFE TIME EVENT            the peer asked for one, and had given up when it was accepted
 *   wrong PEER LIFE TIME WHAT              bytes that are not what they must be
 *   hang PEER LIFE TIME WHAT               the peer has said for long nothing of what was sent to it
 *   twice PEER LIFE TIME                   a process asks for a second connection
 *   count TIME SENT RECEIVED BYTES WRITES READS UP
 */
#include "crowd.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../limit.h"

#define EVENTS     8192
#define CONNECT_US test_limit_us()
#define AGAIN_S    0.02 /* until the next request to a process that does not listen */
#define COUNT_S    1.0

static volatile sig_atomic_t enough;

double
crowd_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void
crowd_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("crowd: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	fflush(stdout);
	exit(EXIT_FAILURE);
}

void
crowd_ok(DAT_RETURN ret, const char *call)
{
	const char *major = "?", *minor = "?";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &major, &minor);
	crowd_fail("%s: %s %s", call, major, minor);
}

uint32_t
crowd_below(struct crowd *crowd, uint32_t n)
{
	crowd->random = crowd->random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
	return (uint32_t)(crowd->random >> 33) % n;
}

struct crowd_link *
crowd_link_of(DAT_EP_HANDLE ep)
{
	DAT_CONTEXT context;

	crowd_ok(dat_get_consumer_context(ep, &context), "dat_get_consumer_context");
	return context.as_ptr;
}

/* ---- links ---- */

static struct crowd_link *
make_link(struct crowd *crowd, enum crowd_link_state state, uint32_t peer)
{
	const DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = CROWD_MESSAGE,
		.max_rdma_size = CROWD_MESSAGE,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = 1,
		.max_request_dtos = 3 * CROWD_WINDOW,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
	};
	struct crowd_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		crowd_fail("no memory");
	link->state = state;
	link->peer.index = peer;
	link->since = crowd_now();
	link->next = crowd->links;
	crowd->links = link;
	crowd_ok(dat_ep_create_with_srq(crowd->ia, crowd->pz, crowd->evd, crowd->evd, crowd->evd,
				 crowd->srq, &attr, &link->ep),
			"dat_ep_create_with_srq");
	crowd_ok(dat_set_consumer_context(link->ep, (DAT_CONTEXT){ .as_ptr = link }),
			"dat_set_consumer_context");
	return link;
}

void
crowd_drop(struct crowd *crowd, struct crowd_link *link)
{
	struct crowd_link **at = &crowd->links;

	if (link->under_way != 0)
		return;
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	crowd_ok(dat_ep_free(link->ep), "dat_ep_free");
	free(link);
}

static void
end_link(struct crowd *crowd, struct crowd_link *link)
{
	uint32_t peer = link->peer.index;

	if (crowd->current[peer] == link) {
		crowd->current[peer] = NULL;
		crowd->again[peer] = crowd_now() + (link->state == LINK_UP ? 0 : AGAIN_S);
	}
	link->state = LINK_ENDED;
	link->waits = crowd_now();
	crowd_drop(crowd, link);
}

/* ---- connecting ---- */

static void
ask(struct crowd *crowd, uint32_t peer)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct crowd_link *link = make_link(crowd, LINK_CONNECTING, peer);
	struct crowd_hello hello = crowd_introduce(crowd, link);

	crowd->current[peer] = link;
	crowd_ok(dat_ep_connect(link->ep, (DAT_IA_ADDRESS_PTR)&to, crowd->port + peer, CONNECT_US,
				 sizeof(hello), &hello, DAT_QOS_BEST_EFFORT,
				 DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
}

static void
ask_some(struct crowd *crowd)
{
	double now = crowd_now();

	for (uint32_t peer = 0; peer < crowd->index; peer++) {
		if (crowd->current[peer] == NULL && now >= crowd->again[peer])
			ask(crowd, peer);
	}
}

static void
requested(struct crowd *crowd, DAT_CR_HANDLE cr)
{
	struct crowd_hello peer, hello;
	struct crowd_link *link, *old;
	DAT_CR_PARAM param;

	crowd_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
	if (!crowd_recognise(crowd, param.private_data, param.private_data_size, &peer))
		crowd_fail("a request of an unknown process, %d bytes",
				(int)param.private_data_size);
	old = crowd->current[peer.index];
	/* One that is not up yet may be of a request that the peer sent twice, and whose rejection it has heard meanwhile. */
	if (old != NULL && old->state == LINK_UP && old->peer.life == peer.life)
		printf("twice %u %u %.6f\n", peer.index, peer.life, crowd_now());
	link = make_link(crowd, LINK_ACCEPTED, peer.index);
	hello = crowd_introduce(crowd, link);
	link->peer = peer;
	crowd_talk_begin(crowd, link);
	crowd->current[peer.index] = link;
	crowd_ok(dat_cr_accept(cr, link->ep, sizeof(hello), &hello), "dat_cr_accept");
}

static void
established(struct crowd *crowd, const DAT_CONNECTION_EVENT_DATA *data)
{
	struct crowd_link *link = crowd_link_of(data->ep_handle);
	uint32_t asked = link->peer.index;

	if (link->state == LINK_CONNECTING) {
		if (!crowd_recognise(crowd, data->private_data, data->private_data_size,
				    &link->peer) ||
				link->peer.index != asked)
			crowd_fail("process %u was asked, and another one has accepted", asked);
		crowd_talk_begin(crowd, link);
	}
	link->state = LINK_UP;
	printf("up %u %u %.6f\n", link->peer.index, link->peer.life, crowd_now());
}

static void
ended(struct crowd *crowd, const DAT_EVENT *event)
{
	struct crowd_link *link = crowd_link_of(event->event_data.connect_event_data.ep_handle);

	unsigned int number = event->event_number;
	double now = crowd_now();

	if (link->state == LINK_CONNECTING)
		printf("refused %u %.6f 0x%x %.6f\n", link->peer.index, now, number, link->since);
	else if (link->state == LINK_ACCEPTED)
		printf("unmade %u %u %.6f 0x%x\n", link->peer.index, link->peer.life, now, number);
	else
		printf("break %u %u %.6f 0x%x %d\n", link->peer.index, link->peer.life, now, number,
				link->error);
	end_link(crowd, link);
}

/* ---- life ---- */

static void
handle(struct crowd *crowd, const DAT_EVENT *event)
{
	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		crowd_completed(crowd, &event->event_data.dto_completion_event_data);
		break;
	case DAT_CONNECTION_REQUEST_EVENT:
		requested(crowd, event->event_data.cr_arrival_event_data.cr_handle);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		established(crowd, &event->event_data.connect_event_data);
		break;
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		ended(crowd, event);
		break;
	default:
		crowd_fail("event 0x%x", (unsigned int)event->event_number);
	}
}

static void
report(const struct crowd *crowd)
{
	unsigned int up = 0;

	for (const struct crowd_link *link = crowd->links; link != NULL; link = link->next)
		up += link->state == LINK_UP;
	printf("count %.6f %llu %llu %llu %llu %llu %u\n", crowd_now(),
			(unsigned long long)crowd->messages, (unsigned long long)crowd->received,
			(unsigned long long)crowd->bytes, (unsigned long long)crowd->writes,
			(unsigned long long)crowd->reads, up);
}

/* Sleep until something comes, or the next messages are to be sent. */
static void
wait_and_handle(struct crowd *crowd, double until)
{
	double left = until - crowd_now();
	DAT_COUNT more;
	DAT_EVENT event;
	DAT_RETURN ret = dat_evd_wait(
			crowd->evd, left > 0 ? (DAT_TIMEOUT)(left * 1e6) : 0, 1, &event, &more);

	if (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED || DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL)
		return;
	crowd_ok(ret, "dat_evd_wait");
	do
		handle(crowd, &event);
	while (dat_evd_dequeue(crowd->evd, &event) == DAT_SUCCESS);
}

static void
live(struct crowd *crowd)
{
	double tick = crowd_now(), count = tick + COUNT_S;

	while (!enough) {
		double now = crowd_now();

		if (now >= tick) {
			ask_some(crowd);
			crowd_talk(crowd);
			tick = now + crowd->tick_us / 1e6;
		}
		if (now >= count) {
			report(crowd);
			count = now + COUNT_S;
		}
		fflush(stdout);
		wait_and_handle(crowd, tick);
	}
}

static void
open_all(struct crowd *crowd, const char *name)
{
	char copy[DAT_NAME_MAX_LENGTH];

	snprintf(copy, sizeof(copy), "%s", name);
	crowd_ok(dat_ia_open(copy, 8, &crowd->async, &crowd->ia), "dat_ia_open");
	crowd_ok(dat_pz_create(crowd->ia, &crowd->pz), "dat_pz_create");
	crowd_ok(dat_evd_create(crowd->ia, EVENTS, DAT_HANDLE_NULL,
				 DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG,
				 &crowd->evd),
			"dat_evd_create");
	crowd_make_memory(crowd);
	crowd_ok(dat_psp_create(crowd->ia, crowd->port + crowd->index, crowd->evd,
				 DAT_PSP_CONSUMER_FLAG, &crowd->psp),
			"dat_psp_create");
	printf("ready %.6f\n", crowd_now());
	fflush(stdout);
}

static void
stop(int number)
{
	if (number == SIGUSR1)
		_exit(EXIT_SUCCESS);
	enough = 1;
}

static uint32_t
number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 0);
}

int
main(int argc, char **argv)
{
	static struct crowd crowd;

	if (argc < 8 || argc > 9 || number(argv[2]) > CROWD_MAX ||
			number(argv[1]) >= number(argv[2]))
		crowd_fail("usage: crowd INDEX COUNT LIFE PORT SEED TICK_US BURST [ADAPTER]");
	crowd = (struct crowd){
		.index = number(argv[1]),
		.count = number(argv[2]),
		.life = number(argv[3]),
		.port = number(argv[4]),
		.random = strtoull(argv[5], NULL, 0),
		.tick_us = number(argv[6]),
		.burst = number(argv[7]),
		.async = DAT_HANDLE_NULL,
	};
	/* None stays when the driver is gone. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, stop);
	signal(SIGUSR1, stop);
	open_all(&crowd, argc == 9 ? argv[8] : "roce0");
	live(&crowd);
	report(&crowd);
	fflush(stdout);
	crowd_ok(dat_ia_close(crowd.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	return EXIT_SUCCESS;
}
