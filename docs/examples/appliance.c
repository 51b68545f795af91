/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A small appliance with RDMA, to be copied. It has an EAL, two ports and a loop of its own, in which it passes every
 * frame from one port to the other. A device is attached to the first port by handover; each message of its clients
 * comes back. One thread does all that, so nothing here needs a lock. docs/embedding.md tells the rest.
 *
 *     cc -o appliance appliance.c $(pkg-config --cflags --libs roce)
 *     ./appliance --no-huge --no-pci --vdev net_memif0,role=server,id=0 --vdev net_memif1,role=server,id=1 \
 *         -- "ip=192.0.2.10/24"
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <roce/roce.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#define SERVICE     18516 /* port of the RDMA TCP port space */
#define BURST       32
#define BUFFERS     512   /* each is on the shared receive queue, or on its way back */
#define BUFFER_SIZE 16384 /* a longer message ends its client's connection */
#define LOOK        4096  /* polls from one look at the links to the next */
#define IDLE        1000  /* polls with nothing to do, before it sleeps */
#define NAP_US      100   /* at most: a port that is polled wakes nobody */

struct client {
	LIST_ENTRY(client) entry;
	struct roce_cm_id *id;
	struct roce_qp *qp;
};

static uint16_t port[2]; /* the device is attached to the first */
static struct rte_mempool *pool;
static struct roce_device *device;
static struct roce_context *context;
static struct roce_pd *pd;
static struct roce_mr *mr;
static struct roce_cq *cq;
static struct roce_srq *srq;
static struct roce_cm_id *listener;
static LIST_HEAD(, client) clients;
static uint8_t buffers[BUFFERS][BUFFER_SIZE];
static unsigned long forwarded, dropped, served, answered;
static volatile sig_atomic_t stopped;

static void
stop(int number)
{
	stopped = number;
}

/* For what it cannot go on without. */
static void
check(int rc, const char *what)
{
	if (rc < 0)
		rte_exit(EXIT_FAILURE, "appliance: %s: %s\n", what, rte_strerror(-rc));
}

static void
start_port(uint16_t id)
{
	struct rte_eth_conf conf = { 0 };

	check(rte_eth_dev_configure(id, 1, 1, &conf), "port");
	check(rte_eth_rx_queue_setup(id, 0, 512, SOCKET_ID_ANY, NULL, pool), "receive queue");
	check(rte_eth_tx_queue_setup(id, 0, 512, SOCKET_ID_ANY, NULL), "transmit queue");
	check(rte_eth_dev_start(id), "start of a port");
	rte_eth_promiscuous_enable(id); /* a device that cannot has no filter either */
}

/* Connections outlive a link for some time: what was lost is sent again. Asked, since not every device tells. */
static void
look_at_links(void)
{
	static uint16_t was[2] = { RTE_ETH_LINK_UP, RTE_ETH_LINK_UP };
	struct rte_eth_link link;

	for (int i = 0; i < 2; i++)
		if (rte_eth_link_get_nowait(port[i], &link) == 0 && link.link_status != was[i]) {
			was[i] = link.link_status;
			fprintf(stderr, "port %d: link %s\n", i, was[i] != 0 ? "up" : "down");
		}
}

/* What it sends comes from the pool of the ports. */
static void
attach(const char *params)
{
	struct roce_attach_config config = { .name = "rdma0", .params = params, .pool = { pool } };
	char errmsg[256];

	config.mode = ROCE_ATTACH_HANDOVER;
	check(rte_eth_macaddr_get(port[0], (struct rte_ether_addr *)config.mac), "MAC");
	if (roce_device_attach(&config, &device, errmsg, sizeof(errmsg)) != 0)
		rte_exit(EXIT_FAILURE, "appliance: %s\n", errmsg);
}

/* There is room: the queue holds as many as there are, and one whose event was polled has left it. */
static void
post_receive(uint64_t i)
{
	struct roce_sge piece = { (uintptr_t)buffers[i], BUFFER_SIZE, roce_mr_key(mr) };
	struct roce_recv_wr wr = { .wr_id = i, .sg = &piece, .num_sge = 1 };

	check(roce_srq_post(srq, &wr), "receive");
}

/* A buffer has one event at a time, of its receive or of its answer: the completion queue cannot overflow. */
static void
start_service(void)
{
	const unsigned int access = ROCE_ACCESS_LOCAL_WRITE;

	check(roce_context_create(device, &context), "context");
	check(roce_pd_create(context, &pd), "protection domain");
	check(roce_mr_create(pd, (uintptr_t)buffers, sizeof(buffers), access, &mr), "memory");
	check(roce_cq_create(context, BUFFERS, NULL, &cq), "completion queue");
	check(roce_srq_create(pd, BUFFERS, 1, NULL, &srq), "shared receive queue");
	for (uint64_t i = 0; i < BUFFERS; i++)
		post_receive(i);
	check(roce_cm_id_create(context, NULL, &listener), "listener");
	check(roce_cm_id_listen(listener, SERVICE, 64), "listen");
}

/*
 * A message goes back from where it lies. Not on a connection that is over: what is posted there is flushed by a later
 * poll, and if the queue pair is gone by then, the buffer is, too. @return 0: the buffer comes back with an event.
 */
static int
answer(const struct client *client, uint64_t i, uint32_t length)
{
	struct roce_sge piece = { (uintptr_t)buffers[i], length, roce_mr_key(mr) };
	struct roce_wr wr = { .wr_id = i, .sg = &piece, .num_sge = 1, .opcode = ROCE_WR_SEND };

	wr.flags = ROCE_WR_SIGNALED;
	if (roce_qp_state(client->qp) == ROCE_QP_ERR)
		return -ENOTCONN;
	return roce_qp_post_send(client->qp, &wr);
}

static unsigned int
poll_messages(void)
{
	struct roce_event events[BURST], *event;
	unsigned int n, all = 0;

	for (; (n = roce_cq_poll(cq, events, BURST)) > 0; all += n)
		for (event = events; event < &events[n]; event++)
			if (event->kind == ROCE_EVENT_RECV && event->status == ROCE_WC_SUCCESS &&
					answer(event->owner, event->wr_id, event->byte_len) == 0)
				answered++;
			else
				post_receive(event->wr_id);
	return all;
}

/* When its id is gone all its buffers are in the completion queue: they are taken before the queue pair goes. */
static void
end_client(struct client *client)
{
	roce_cm_id_destroy(client->id);
	poll_messages();
	roce_qp_destroy(client->qp);
	LIST_REMOVE(client, entry);
	free(client);
}

static void
accept_client(struct roce_cm_id *id)
{
	struct client *client = calloc(1, sizeof(*client));
	struct roce_qp_attr attr = { .pd = pd, .send_cq = cq, .recv_cq = cq, .srq = srq };

	attr.max_send_wr = BUFFERS;
	attr.owner = client;
	if (client == NULL || roce_qp_create(&attr, &client->qp) != 0) {
		roce_cm_id_destroy(id); /* which refuses it */
		free(client);
		return;
	}
	served++;
	client->id = id;
	LIST_INSERT_HEAD(&clients, client, entry);
	roce_cm_id_set_user(id, client);
	if (roce_cm_id_accept(id, &(struct roce_cm_conn_param){ .qp = client->qp }) != 0)
		end_client(client);
}

static void
poll_context(void)
{
	struct roce_cm_event_info event;
	struct roce_async_event async;

	while (roce_cm_poll(context, &event) == 1)
		if (event.type == ROCE_CM_EVENT_CONNECT_REQUEST)
			accept_client(event.id);
		else if (event.type != ROCE_CM_EVENT_ESTABLISHED)
			end_client(event.user);
	while (roce_context_poll(context, &async) == 1)
		fprintf(stderr, "event %d, status %d\n", async.type, async.status);
}

static uint16_t
send_all(uint16_t id, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(id, 0, pkts, n);

	rte_pktmbuf_free_bulk(&pkts[sent], n - sent);
	dropped += n - sent;
	return sent;
}

/* Both ways. @return frames that came or went. */
static unsigned int
forward(void)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t near = rte_eth_rx_burst(port[0], 0, pkts, BURST), far, own;

	forwarded += send_all(port[1], pkts, roce_device_rx(device, 0, pkts, near));
	far = rte_eth_rx_burst(port[1], 0, pkts, BURST);
	forwarded += send_all(port[0], pkts, far);
	own = roce_device_tx(device, 0, pkts, BURST);
	send_all(port[0], pkts, own);
	return near + far + own;
}

/* It sleeps when nothing moves, unless the device will have to speak meanwhile, to send again what was lost, say. */
static void
run(void)
{
	const uint64_t nap = roce_device_hz(device) / US_PER_S * NAP_US;

	for (unsigned int polls = 0, idle = 0; !stopped; polls++, idle++) {
		unsigned int moved = forward();

		poll_context();
		if (moved + poll_messages() > 0)
			idle = 0;
		if (polls % LOOK == 0)
			look_at_links();
		if (idle > IDLE && roce_device_deadline(device) > roce_device_now(device) + nap)
			rte_delay_us_sleep(NAP_US);
	}
}

/* In the opposite order of start_service(), which is why nothing can be busy. */
static void
end_service(void)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n;

	roce_cm_id_destroy(listener);
	while (!LIST_EMPTY(&clients))
		end_client(LIST_FIRST(&clients));
	if (roce_srq_destroy(srq) != 0 || roce_cq_destroy(cq) != 0 || roce_mr_destroy(mr) != 0 ||
			roce_pd_destroy(pd) != 0 || roce_context_destroy(context) != 0)
		rte_exit(EXIT_FAILURE, "appliance: something is left\n");
	while ((n = roce_device_tx(device, 0, pkts, BURST)) > 0) /* clients are told */
		send_all(port[0], pkts, n);
	roce_device_close(device);
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);

	if (n < 0 || argc - n != 2 || rte_eth_dev_count_avail() != 2)
		rte_exit(EXIT_FAILURE,
				"usage: appliance EAL-OPTIONS-WITH-TWO-PORTS -- ip=ADDRESS/PREFIX\n");
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	pool = rte_pktmbuf_pool_create(
			"rx", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	check(pool == NULL ? -rte_errno : 0, "pool");
	start_port(port[0] = rte_eth_find_next_owned_by(0, RTE_ETH_DEV_NO_OWNER));
	start_port(port[1] = rte_eth_find_next_owned_by(port[0] + 1, RTE_ETH_DEV_NO_OWNER));
	attach(argv[n + 1]);
	start_service();
	fprintf(stderr, "appliance: serving %s\n", argv[n + 1]);
	run();
	end_service();
	for (n = 0; n < 2; n++) {
		rte_eth_dev_stop(port[n]);
		rte_eth_dev_close(port[n]);
	}
	rte_eal_cleanup();
	printf("forwarded %lu, dropped %lu, clients %lu, answered %lu\n", forwarded, dropped,
			served, answered);
	return 0;
}
