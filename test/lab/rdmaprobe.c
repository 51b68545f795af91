/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *   rdmaprobe server [options]          listen, accept or reject, answer
 *   rdmaprobe client [options] STEP...  connect, do the steps, disconnect
 *
 * Both:    -p PORT   -d TEXT private data   -I inline bytes   -q depth of the queues   -m rd_atomic depth   -v more output
 * Server:  -n N receives posted before it accepts (64)   -s SIZE of each (65536)
 *          -D MS  post the receives only so long after the connection is up
 *          -F MS  post as many receives once more so long after the connection is up
 *          -S     take receives from a shared queue       -L N   arm its limit
 *          -R     reject, with the private data           -N     never answer the request
 *          -c N   connections to serve, one by one (1)
 *          -K     destroy the queue pair as soon as it is up, the connection left open
 *          -M N   min_rnr_timer code of the queue pair    -B N   bytes of the region offered to the client (1048576)
 *          -r N   rnr_retry in the REP: what the client's queue pair will use (7)
 * Client:  -a ADDR   -r rnr_retry in the REQ: for the server's queue pair (7)   -t retry_count (7)
 *          -A ack timeout code   -T type of service   -E leave without disconnecting
 * Steps:   send:LEN write:LEN read:LEN   any length, also 0
 *          sendimm:LEN writeimm:LEN sendinv:LEN sendinl:LEN writeinl:LEN sendsol:LEN
 *          fadd cswp                     on the first 8 bytes of the region
 *          badkey:LEN (WRITE) badkeyr:LEN (READ) oob:LEN (WRITE beyond the end)
 *          fill:N  N SENDs of 16 bytes at once   reads:N  N READs of 2048 bytes at once
 *          sleep:MS  flush (wait for all that is posted, as behind each step)
 */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rdmaprobe.h"

#define EVENT_MS        120000
#define RESOLVE_MS      3000
#define CLIENT_RECEIVES 16

struct probe_options opt = {
	.port = "7471",
	.text = "",
	.receives = 64,
	.size = 65536,
	.connections = 1,
	.rnr_timer = -1,
	.rnr_retry = 7,
	.retry = 7,
	.ack_timeout = -1,
	.tos = -1,
	.depth = 128,
	.rd_atomic = 16,
	.region = 1 << 20,
};

struct rdma_event_channel *probe_channel;

static const struct {
	char letter;
	int *value;
} numbers[] = { { 'I', &opt.inline_max }, { 'q', &opt.depth }, { 'm', &opt.rd_atomic },
	{ 'n', &opt.receives }, { 's', &opt.size }, { 'D', &opt.delay }, { 'F', &opt.refill },
	{ 'L', &opt.limit }, { 'c', &opt.connections }, { 'M', &opt.rnr_timer },
	{ 'r', &opt.rnr_retry }, { 't', &opt.retry }, { 'A', &opt.ack_timeout },
	{ 'T', &opt.tos } };

static const struct {
	char letter;
	bool *value;
} switches[] = { { 'v', &opt.verbose }, { 'S', &opt.srq }, { 'R', &opt.reject }, { 'N', &opt.mute },
	{ 'K', &opt.kill_qp }, { 'E', &opt.leave } };

static const struct {
	char letter;
	const char **value;
} words[] = { { 'a', &opt.addr }, { 'p', &opt.port }, { 'd', &opt.text } };

#define DIM(table) (sizeof(table) / sizeof((table)[0]))

void
probe_die(const char *what)
{
	fprintf(stderr, "rdmaprobe: %s: %s\n", what, strerror(errno));
	exit(1);
}

double
probe_now(void)
{
	static double zero;
	struct timespec time;
	double now;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	now = (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
	if (zero == 0)
		zero = now;
	return now - zero;
}

void
probe_sleep(int ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	/* As long as the command line says. */
	(void)nanosleep(&time, NULL);
}

static void
show_private(const struct rdma_conn_param *param)
{
	const unsigned char *bytes = param->private_data;
	int len = param->private_data_len;

	if (bytes == NULL || len == 0)
		return;
	printf(" private_data[%d] ", len);
	while (len > 0 && bytes[len - 1] == 0)
		len--;
	for (int i = 0; i < len; i++)
		printf("%02x", bytes[i]);
}

struct rdma_cm_event *
probe_event(int ms)
{
	struct pollfd source = { probe_channel->fd, POLLIN, 0 };
	const struct rdma_conn_param *param;
	struct rdma_cm_event *event;

	if (poll(&source, 1, ms) <= 0)
		return NULL;
	if (rdma_get_cm_event(probe_channel, &event) != 0)
		probe_die("rdma_get_cm_event");
	param = &event->param.conn;
	printf("%9.3f event %s status %d", probe_now(), rdma_event_str(event->event),
			event->status);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
			event->event == RDMA_CM_EVENT_ESTABLISHED)
		printf(" qpn 0x%x initiator_depth %u responder_resources %u flow %u retry %u rnr_retry %u srq %u",
				param->qp_num, param->initiator_depth, param->responder_resources,
				param->flow_control, param->retry_count, param->rnr_retry_count,
				param->srq);
	show_private(param);
	printf("\n");
	return event;
}

struct rdma_cm_event *
probe_expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = probe_event(EVENT_MS);

	if (event == NULL) {
		fprintf(stderr, "rdmaprobe: no event\n");
		exit(1);
	}
	if (event->event != type) {
		fprintf(stderr, "rdmaprobe: %s instead of %s\n", rdma_event_str(event->event),
				rdma_event_str(type));
		exit(event->event == RDMA_CM_EVENT_REJECTED ? 3 : 1);
	}
	return event;
}

static void
set_option(struct rdma_cm_id *id, int name, int value, const char *what)
{
	uint8_t byte = (uint8_t)value;

	if (value >= 0 && rdma_set_option(id, RDMA_OPTION_ID, name, &byte, sizeof(byte)) != 0)
		probe_die(what);
}

/* A way to the server. */
static struct rdma_cm_id *
resolved(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *found;
	struct rdma_cm_id *id;

	if (opt.addr == NULL || rdma_getaddrinfo(opt.addr, opt.port, &hints, &found) != 0 ||
			rdma_create_id(probe_channel, &id, NULL, RDMA_PS_TCP) != 0 ||
			rdma_resolve_addr(id, NULL, found->ai_dst_addr, RESOLVE_MS) != 0)
		probe_die("resolve");
	rdma_freeaddrinfo(found);
	(void)rdma_ack_cm_event(probe_expect(RDMA_CM_EVENT_ADDR_RESOLVED));
	set_option(id, RDMA_OPTION_ID_ACK_TIMEOUT, opt.ack_timeout, "ack timeout");
	set_option(id, RDMA_OPTION_ID_TOS, opt.tos, "type of service");
	if (rdma_resolve_route(id, RESOLVE_MS) != 0)
		probe_die("resolve_route");
	(void)rdma_ack_cm_event(probe_expect(RDMA_CM_EVENT_ROUTE_RESOLVED));
	return id;
}

static void
connect_to(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .private_data = opt.text,
		.private_data_len = (uint8_t)strlen(opt.text),
		.responder_resources = (uint8_t)opt.rd_atomic,
		.initiator_depth = (uint8_t)opt.rd_atomic,
		.retry_count = (uint8_t)opt.retry,
		.rnr_retry_count = (uint8_t)opt.rnr_retry,
		.flow_control = 1 };
	struct rdma_cm_event *event;

	if (rdma_connect(id, &param) != 0)
		probe_die("rdma_connect");
	event = probe_expect(RDMA_CM_EVENT_ESTABLISHED);
	if (event->param.conn.private_data_len >= sizeof(probe_peer) &&
			memcmp(event->param.conn.private_data, "RP1", sizeof(probe_peer.magic)) ==
					0)
		memcpy(&probe_peer, event->param.conn.private_data, sizeof(probe_peer));
	(void)rdma_ack_cm_event(event);
}

static int
talk(char **step)
{
	struct rdma_cm_id *id = resolved();
	struct rdma_cm_event *event;

	probe_resources(id);
	probe_receives(opt.receives < CLIENT_RECEIVES ? opt.receives : CLIENT_RECEIVES);
	connect_to(id);
	probe_show_qp();
	for (; *step != NULL; step++)
		probe_step(*step);
	probe_show_qp();
	if (opt.leave)
		_exit(0);
	(void)rdma_disconnect(id);
	event = probe_event(EVENT_MS);
	if (event != NULL)
		(void)rdma_ack_cm_event(event);
	while (probe_drain() > 0)
		;
	printf("%9.3f %d receives flushed\n", probe_now(), probe_flushed());
	rdma_destroy_qp(id);
	(void)rdma_destroy_id(id);
	return probe_errors() > 0 ? 4 : 0;
}

/* @return false: no such option. */
static bool
take_option(int letter, const char *argument)
{
	for (size_t i = 0; i < DIM(numbers); i++) {
		if (numbers[i].letter == letter)
			*numbers[i].value = (int)strtol(argument, NULL, 0);
	}
	for (size_t i = 0; i < DIM(switches); i++) {
		if (switches[i].letter == letter)
			*switches[i].value = true;
	}
	for (size_t i = 0; i < DIM(words); i++) {
		if (words[i].letter == letter)
			*words[i].value = argument;
	}
	if (letter == 'B')
		opt.region = strtol(argument, NULL, 0);
	return letter != '?';
}

int
main(int argc, char **argv)
{
	int letter;

	if (argc < 2) {
		fprintf(stderr, "usage: rdmaprobe server|client [options] [step...]\n");
		return 2;
	}
	opt.server = strcmp(argv[1], "server") == 0;
	argv++;
	argc--;
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	while ((letter = getopt(argc, argv, "a:p:d:I:q:m:vn:s:D:F:SL:RNc:KM:B:r:t:A:T:E")) != -1) {
		if (!take_option(letter, optarg))
			return 2;
	}
	probe_channel = rdma_create_event_channel();
	if (probe_channel == NULL)
		probe_die("rdma_create_event_channel");
	return opt.server ? probe_serve() : talk(argv + optind);
}
