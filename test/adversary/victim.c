/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer of DAT 1.2 that hostile peers (hostile.py) talk to: whatever they do, each count of its shared receive queue
 * is exact, each message whole, no length longer than its buffer, and memory that none may write stays as it is.
 *
 * usage: victim ADAPTER PORT    until SIGTERM. SIGUSR1 only interrupts it. Says that it listens, and at the end its sums.
 *
 * A peer is told where it may write and read, and where memory lies whose key it is not told. A message begins with a
 * letter and two numbers: 'm', its length and its number among those of its connection; or 'e', messages and writes with
 * immediate data so far. The rest follows from the length. When all places are taken, the next peer is sent away, and the
 * one that was heard of the longest ago loses its place.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <dat/udat.h>

#include "../limit.h"

#define GUESTS 16u
#define DEPTH  64u
#define SIZE   4096u  /* of a buffer: longer than a packet, so that half a message may lie in it */
#define DESK   65536u /* peers may write and read here */
#define FORBIDDEN \
	4096u /* behind it, with the same key: whoever writes here has no right any more */
#define SECRET    4096u
#define UNTOUCHED 0xa5
#define HEAD      9u
#define EVENTS    4096
#define LOOK_US   200000 /* from one look at `enough` to the next */

/** The private data of an acceptance, big endian. */
struct told {
	uint64_t desk, secret;
	uint32_t key; /**< of the desk */
} __attribute__((packed));

/** A place, and the connection that has it. */
struct guest {
	DAT_EP_HANDLE ep; /**< NULL: free */
	bool leaving;
	uint32_t messages, immediates;
	uint64_t heard; /**< a number that grows with each sign of life of any */
};

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
static DAT_PZ_HANDLE pz;
static DAT_SRQ_HANDLE srq;
static DAT_LMR_CONTEXT key;
static struct guest guests[GUESTS];
static uint8_t desk[DESK + FORBIDDEN] __attribute__((aligned(4096)));
static uint8_t secret[SECRET] __attribute__((aligned(4096)));
static uint8_t buffers[DEPTH][SIZE] __attribute__((aligned(4096)));
static struct told told;
static uint64_t sign, connections, turned_away, evicted, messages, immediates, failed, checks,
		interrupted;
static volatile sig_atomic_t enough;

static void
on_signal(int number)
{
	if (number != SIGUSR1)
		enough = 1;
}

/* A wrong count ends the program. */
static void __attribute__((format(printf, 2, 3))) want(bool holds, const char *format, ...)
{
	va_list args;

	if (holds)
		return;
	va_start(args, format);
	fputs("victim.c: ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
	exit(EXIT_FAILURE);
}

static void
ok(DAT_RETURN ret, const char *call)
{
	const char *major = "?", *minor = "?";

	if (ret != DAT_SUCCESS)
		dat_strerror(ret, &major, &minor);
	want(ret == DAT_SUCCESS, "%s: %s %s", call, major, minor);
}

static bool
all_are(const uint8_t *bytes, size_t n, uint8_t value)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

/* ---- memory ---- */

static void
post(uint32_t i)
{
	DAT_LMR_TRIPLET segment = {
		.lmr_context = key, .virtual_address = (uintptr_t)buffers[i], .segment_length = SIZE
	};

	memset(buffers[i], UNTOUCHED, SIZE);
	ok(dat_srq_post_recv(srq, 1, &segment, (DAT_DTO_COOKIE){ .as_64 = i }),
			"dat_srq_post_recv");
}

static DAT_LMR_CONTEXT
register_memory(void *at, size_t len, DAT_MEM_PRIV_FLAGS rights, DAT_RMR_CONTEXT *remote)
{
	DAT_REGION_DESCRIPTION region = { .for_va = at };
	DAT_LMR_CONTEXT local;
	DAT_LMR_HANDLE lmr;

	ok(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, len, pz, rights, &lmr, &local, remote,
			   NULL, NULL),
			"dat_lmr_create");
	return local;
}

static void
make_memory(void)
{
	DAT_RMR_CONTEXT remote, unused;

	memset(desk + DESK, UNTOUCHED, FORBIDDEN);
	snprintf((char *)secret, sizeof(secret),
			"the secret of this region, which no peer may see");
	(void)register_memory(desk, sizeof(desk), DAT_MEM_PRIV_ALL_FLAG, &remote);
	(void)register_memory(secret, sizeof(secret), DAT_MEM_PRIV_ALL_FLAG, &unused);
	key = register_memory(buffers, sizeof(buffers),
			DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &unused);
	told = (struct told){ .desk = htobe64((uintptr_t)desk),
		.secret = htobe64((uintptr_t)secret),
		.key = htobe32(remote) };
}

static void
open_all(char *adapter, DAT_CONN_QUAL port)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = DEPTH, .max_recv_iov = 1 };
	DAT_PSP_HANDLE psp;

	ok(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
	ok(dat_pz_create(ia, &pz), "dat_pz_create");
	ok(dat_evd_create(ia, EVENTS, DAT_HANDLE_NULL,
			   DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG, &evd),
			"dat_evd_create");
	ok(dat_srq_create(ia, pz, &attr, &srq), "dat_srq_create");
	make_memory();
	for (uint32_t i = 0; i < DEPTH; i++)
		post(i);
	ok(dat_psp_create(ia, port, evd, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
}

/* ---- counts ---- */

/* No completion waits to be reaped: what is not on the queue is held by an endpoint for a message that arrives. */
static void
check(void)
{
	DAT_SRQ_PARAM param;
	DAT_COUNT held, span, all = 0;

	for (unsigned int i = 0; i < GUESTS; i++) {
		if (guests[i].ep == DAT_HANDLE_NULL)
			continue;
		ok(dat_ep_recv_query(guests[i].ep, &held, &span), "dat_ep_recv_query");
		want(held <= 1, "endpoint %u holds %d buffers", i, held);
		all += held;
	}
	ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), "dat_srq_query");
	want(param.max_recv_dtos == (DAT_COUNT)DEPTH, "%d buffers at most", param.max_recv_dtos);
	want(param.outstanding_dto_count == (DAT_COUNT)DEPTH, "%d buffers outstanding of %u",
			param.outstanding_dto_count, DEPTH);
	want(param.available_dto_count + all == (DAT_COUNT)DEPTH,
			"%d buffers available and %d held of %u", param.available_dto_count, all,
			DEPTH);
	want(all_are(desk + DESK, FORBIDDEN, UNTOUCHED), "bytes behind the desk are written");
	checks++;
}

/* ---- peers ---- */

static struct guest *
guest_of(DAT_EP_HANDLE ep)
{
	for (unsigned int i = 0; i < GUESTS; i++) {
		if (guests[i].ep == ep)
			return &guests[i];
	}
	want(false, "an event of no endpoint");
	return NULL;
}

static struct guest *
free_place(void)
{
	struct guest *oldest = NULL;

	for (unsigned int i = 0; i < GUESTS; i++) {
		if (guests[i].ep == DAT_HANDLE_NULL)
			return &guests[i];
		if (!guests[i].leaving && (oldest == NULL || guests[i].heard < oldest->heard))
			oldest = &guests[i];
	}
	if (oldest == NULL)
		return NULL;
	oldest->leaving = true;
	evicted++;
	/* One whose end has come meanwhile has its event already. */
	(void)dat_ep_disconnect(oldest->ep, DAT_CLOSE_ABRUPT_FLAG);
	return NULL;
}

static void
requested(DAT_CR_HANDLE cr)
{
	const DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = SIZE,
		.max_rdma_size = DESK,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = 1,
		.max_request_dtos = 1,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.max_rdma_read_in = 4,
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_write_iov = 1,
	};
	struct guest *guest = free_place();

	if (guest == NULL) {
		/* A peer may have given up its request. */
		(void)dat_cr_reject(cr);
		turned_away++;
		return;
	}
	*guest = (struct guest){ .heard = ++sign };
	ok(dat_ep_create_with_srq(ia, pz, evd, evd, evd, srq, &attr, &guest->ep),
			"dat_ep_create_with_srq");
	if (dat_cr_accept(cr, guest->ep, sizeof(told), &told) == DAT_SUCCESS)
		return;
	ok(dat_ep_free(guest->ep), "dat_ep_free");
	guest->ep = DAT_HANDLE_NULL;
}

static void
ended(DAT_EP_HANDLE ep)
{
	ok(dat_ep_free(ep), "dat_ep_free");
	guest_of(ep)->ep = DAT_HANDLE_NULL;
}

static void
take_message(struct guest *guest, const uint8_t *bytes, uint32_t len)
{
	uint32_t number[2];

	want(len >= HEAD && len <= SIZE, "a message of %u bytes in %u", len, SIZE);
	memcpy(number, bytes + 1, sizeof(number));
	number[0] = ntohl(number[0]);
	number[1] = ntohl(number[1]);
	want(all_are(bytes + HEAD, len - HEAD, (uint8_t)len),
			"bytes of another message in one of %u", len);
	want(all_are(bytes + len, SIZE - len, UNTOUCHED), "bytes behind a message of %u", len);
	if (bytes[0] == 'm')
		want(number[0] == len && number[1] == guest->messages,
				"message %u of %u bytes is number %u of %u", guest->messages, len,
				number[1], number[0]);
	else
		want(number[0] == guest->messages && number[1] == guest->immediates,
				"%u messages and %u writes, of %u and %u", guest->messages,
				guest->immediates, number[0], number[1]);
	guest->messages++;
	messages++;
}

/* DAT 1.2 cannot tell a write with immediate data from a message: it has no length, and nothing lies in its buffer. */
static void
completed(const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const uint32_t i = (uint32_t)data->user_cookie.as_64,
		       len = (uint32_t)data->transfered_length;
	struct guest *guest = guest_of(data->ep_handle);

	want(i < DEPTH, "a completion with cookie %u", i);
	guest->heard = ++sign;
	if (data->status != DAT_DTO_SUCCESS) {
		failed++;
	} else if (len > 0) {
		take_message(guest, buffers[i], len);
	} else {
		want(all_are(buffers[i], SIZE, UNTOUCHED),
				"a write with immediate data lies in a buffer");
		guest->immediates++;
		immediates++;
	}
	post(i);
}

static void
handle(const DAT_EVENT *event)
{
	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		completed(&event->event_data.dto_completion_event_data);
		break;
	case DAT_CONNECTION_REQUEST_EVENT:
		requested(event->event_data.cr_arrival_event_data.cr_handle);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		connections++;
		break;
	default:
		ended(event->event_data.connect_event_data.ep_handle);
	}
}

/* A signal takes no event away. */
static void
wait_and_handle(void)
{
	DAT_COUNT more;
	DAT_EVENT event;
	DAT_RETURN ret = dat_evd_wait(evd, LOOK_US, 1, &event, &more);

	if (DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL) {
		interrupted++;
	} else if (DAT_GET_TYPE(ret) != DAT_TIMEOUT_EXPIRED) {
		ok(ret, "dat_evd_wait");
		handle(&event);
	}
	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		handle(&event);
}

int
main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };

	if (argc != 3) {
		fprintf(stderr, "usage: victim ADAPTER PORT\n");
		return 2;
	}
	/* None stays when the driver is gone. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	open_all(argv[1], strtoul(argv[2], NULL, 10));
	printf("victim listens\n");
	fflush(stdout);
	while (!enough) {
		wait_and_handle();
		check();
	}
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	printf("checks: %llu, connections: %llu, turned away: %llu, evicted: %llu, messages: %llu, "
	       "writes with immediate data: %llu, flushed or too long: %llu, interrupted: %llu\n",
			(unsigned long long)checks, (unsigned long long)connections,
			(unsigned long long)turned_away, (unsigned long long)evicted,
			(unsigned long long)messages, (unsigned long long)immediates,
			(unsigned long long)failed, (unsigned long long)interrupted);
	return EXIT_SUCCESS;
}
