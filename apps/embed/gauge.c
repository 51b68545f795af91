/* SPDX-License-Identifier: BSD-3-Clause */
#include "gauge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "forward.h"
#include "load.h"
#include "service.h"

#define RING       1024u
#define FRAMES     256u /**< going round: few enough that both ends' rings never fill */
#define POOL       2047u
#define ROUNDS     64u /**< polls between two looks at the clock */
#define CONNECT_US 5000000u

/* Where the appliance and its client live on this wire. */
#define SERVICE_PARAMS "ip=192.0.2.10/24"
#define CLIENT_PARAMS  "ip=192.0.2.11/24"

static const uint8_t service_ip[16] = { [10] = 0xff, 0xff, 192, 0, 2, 10 };

/** The two ports, seen from the wire: what goes in is received, what is sent comes out. */
struct wire {
	struct rte_ring *in[2], *out[2];
	struct rte_mempool *pool;
	struct roce_device *client; /**< beyond port 0; NULL: none */
	struct load *load;
	uint64_t forth, back; /**< number of the next frame that is put in, and that comes out */
	uint64_t wrong;       /**< frames that did not come out in order */
};

/** One line of the table. */
struct line {
	const char *what;
	bool device, traffic;
	double frames, messages; /**< millions a second, thousands a second */
	uint64_t lost, wrong;
};

static struct rte_ring *
make_ring(const char *name)
{
	return rte_ring_create(name, RING, (int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/* A port of two rings. */
static int
make_port(struct wire *w, unsigned int i)
{
	char name[16];
	int port;

	snprintf(name, sizeof(name), "in%u", i);
	w->in[i] = make_ring(name);
	snprintf(name, sizeof(name), "out%u", i);
	w->out[i] = make_ring(name);
	if (w->in[i] == NULL || w->out[i] == NULL)
		return -1;
	snprintf(name, sizeof(name), "embed%u", i);
	port = rte_eth_from_rings(name, &w->in[i], 1, &w->out[i], 1, (int)rte_socket_id());
	return port >= 0 && forward_start((uint16_t)port, w->pool) == 0 ? port : -1;
}

/* A frame of other people, as short as Ethernet allows or longer. */
static void
write_frame(struct rte_mbuf *m, uint32_t length)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, (uint16_t)length);

	memset(eth, 0, length);
	eth->dst_addr.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	eth->src_addr.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	eth->src_addr.addr_bytes[5] = 1;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

static uint64_t *
number_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint64_t *, RTE_ETHER_HDR_LEN + 26);
}

static int
fill(struct wire *w, uint32_t length)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(w->pool);

		if (m == NULL)
			return -1;
		write_frame(m, length);
		*number_of(m) = w->forth++;
		rte_ring_sp_enqueue(w->in[0], m);
	}
	return 0;
}

/* Questions of neighbours are forwarded, too: nobody lives there to answer. */
static bool
is_ours(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct rte_ether_hdr *)->ether_type ==
			RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

/* Frames that came out at port 1 go in again at port 0. */
static void
poll_frames(struct wire *w)
{
	struct rte_mbuf *pkts[FORWARD_BURST];
	unsigned int kept = 0;
	unsigned int n = rte_ring_sc_dequeue_burst(w->out[1], (void **)pkts, FORWARD_BURST, NULL);

	for (unsigned int i = 0; i < n; i++) {
		uint64_t *number = number_of(pkts[i]);

		if (!is_ours(pkts[i])) {
			rte_pktmbuf_free(pkts[i]);
			continue;
		}
		w->wrong += *number != w->back;
		w->back = *number + 1;
		*number = w->forth++;
		pkts[kept++] = pkts[i];
	}
	rte_ring_sp_enqueue_bulk(w->in[0], (void **)pkts, kept, NULL);
}

/* The client's side of port 0. */
static void
poll_client(struct wire *w)
{
	struct rte_mbuf *pkts[FORWARD_BURST];
	unsigned int n = rte_ring_sc_dequeue_burst(w->out[0], (void **)pkts, FORWARD_BURST, NULL);

	n = roce_device_rx(w->client, 0, pkts, (uint16_t)n);
	rte_pktmbuf_free_bulk(pkts, n);
	load_poll(w->load);
	/* Never more than the ring holds beside what goes round: the wire loses nothing. */
	n = RTE_MIN(rte_ring_free_count(w->in[0]) - RTE_MIN(rte_ring_free_count(w->in[0]), FRAMES),
			FORWARD_BURST);
	n = roce_device_tx(w->client, 0, pkts, (uint16_t)n);
	rte_ring_sp_enqueue_bulk(w->in[0], (void **)pkts, n, NULL);
}

static void
poll_once(struct wire *w, struct forward *f, struct service *s)
{
	poll_frames(w);
	forward_poll(f);
	if (s != NULL)
		service_poll(s);
	if (w->client != NULL)
		poll_client(w);
}

/* Free what is no frame of the wire's own; the others stay, in order. */
static void
sort_out(struct rte_ring *ring, const struct rte_mempool *own)
{
	unsigned int n = rte_ring_count(ring);
	void *frame;

	for (unsigned int i = 0; i < n && rte_ring_sc_dequeue(ring, &frame) == 0; i++) {
		if (((struct rte_mbuf *)frame)->pool == own)
			rte_ring_sp_enqueue(ring, frame);
		else
			rte_pktmbuf_free(frame);
	}
}

/* Give the devices their frames back that are still on the wire: they close, and count them. */
static void
return_frames(struct wire *w)
{
	for (unsigned int i = 0; i < 2; i++) {
		sort_out(w->in[i], w->pool);
		sort_out(w->out[i], w->pool);
	}
}

static bool
connect_client(struct wire *w, struct forward *f, struct service *s)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * CONNECT_US;

	while (load_poll(w->load) == 0 && rte_rdtsc() < end && cli_signal() == 0)
		poll_once(w, f, s);
	return load_poll(w->load) == 1;
}

static void
measure(struct wire *w, struct forward *f, struct service *s, struct line *line, uint32_t seconds)
{
	uint64_t hz = rte_get_tsc_hz(), wrong = 0, messages = 0;
	uint64_t frames = w->back, begin, now;

	if (w->load != NULL)
		messages = load_count(w->load, &wrong);
	begin = rte_rdtsc();
	do {
		for (unsigned int i = 0; i < ROUNDS; i++)
			poll_once(w, f, s);
		now = rte_rdtsc();
	} while (now - begin < hz * seconds && cli_signal() == 0);
	line->frames = (double)(w->back - frames) / ((double)(now - begin) / (double)hz) / 1e6;
	if (w->load != NULL)
		line->messages = (double)(load_count(w->load, &wrong) - messages) /
				((double)(now - begin) / (double)hz) / 1000.0;
	line->lost = f->counts[0].dropped + f->counts[1].dropped;
	line->wrong = w->wrong + wrong;
}

static int
attach(const char *name, const char *params, uint8_t mac, struct roce_device **device)
{
	struct roce_attach_config config = {
		.name = name,
		.mode = ROCE_ATTACH_HANDOVER,
		.mac = { RTE_ETHER_LOCAL_ADMIN_ADDR, [5] = mac },
		.frame_room = 4200,
		.params = params,
	};
	char errmsg[256];

	if (roce_device_attach(&config, device, errmsg, sizeof(errmsg)) == 0)
		return 0;
	cli_say("%s", errmsg);
	return -1;
}

static int
run_line(struct wire *w, struct forward *f, const struct embed_options *o, struct line *line)
{
	struct service *service = NULL;
	int rc = -1;

	memset(f->counts, 0, sizeof(f->counts));
	w->wrong = 0;
	if (line->device &&
			(attach("appliance", SERVICE_PARAMS, 10, &f->device) != 0 ||
					service_start(f->device, o->listen, &service) != 0))
		goto close;
	if (line->traffic &&
			(attach("client", CLIENT_PARAMS, 11, &w->client) != 0 ||
					load_start(w->client, service_ip, o->listen, o->size,
							&w->load) != 0))
		goto close;
	if (line->traffic && !connect_client(w, f, service)) {
		cli_say(cli_signal() != 0 ? "interrupted while the client connects"
					  : "the client did not reach the service");
		goto close;
	}
	measure(w, f, service, line, o->seconds > 0 ? o->seconds : 1);
	rc = 0;
close:
	load_stop(w->load);
	service_stop(service);
	forward_stop(f);
	return_frames(w);
	if (w->client != NULL)
		roce_device_close(w->client);
	if (f->device != NULL)
		roce_device_close(f->device);
	w->load = NULL;
	w->client = NULL;
	f->device = NULL;
	return rc;
}

static void
print(const struct embed_options *o, const struct line *lines, unsigned int n)
{
	printf("One core forwards frames of %u bytes; messages of %u bytes go there and back.\n\n",
			o->frame, o->size);
	printf("%-30s %14s %8s %16s %6s %6s\n", "", "frames [M/s]", "ratio", "messages [k/s]",
			"lost", "wrong");
	for (unsigned int i = 0; i < n; i++)
		printf("%-30s %14.2f %8.3f %16.1f %6" PRIu64 " %6" PRIu64 "\n", lines[i].what,
				lines[i].frames, lines[i].frames / lines[0].frames,
				lines[i].messages, lines[i].lost, lines[i].wrong);
}

int
gauge_run(const struct embed_options *options)
{
	struct line lines[] = {
		{ .what = "forwarding alone" },
		{ .what = "with RDMA on the port, idle", .device = true },
		{ .what = "with RDMA traffic beside", .device = true, .traffic = true },
	};
	struct wire wire = { 0 };
	struct forward forward = { 0 };
	unsigned int done = 0;
	uint64_t bad = 0;

	wire.pool = rte_pktmbuf_pool_create(
			"frames", POOL, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	for (unsigned int i = 0; i < 2; i++) {
		int port = make_port(&wire, i);

		if (port < 0 || wire.pool == NULL) {
			cli_say("the rings cannot be made");
			return CLI_EXIT_FAILED;
		}
		forward.port[i] = (uint16_t)port;
	}
	if (fill(&wire, options->frame) != 0)
		return CLI_EXIT_FAILED;
	for (; done < RTE_DIM(lines) && cli_signal() == 0; done++) {
		if (run_line(&wire, &forward, options, &lines[done]) != 0)
			return cli_signal_status(-1);
		bad += lines[done].lost + lines[done].wrong;
	}
	print(options, lines, done);
	if (cli_signal() != 0)
		cli_say("interrupted: the last line was measured until then");
	return cli_signal_status(bad == 0 && cli_signal() == 0 ? 0 : -1);
}
