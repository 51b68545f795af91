/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cost to a program that hands everything it receives to roce_device_rx(): processor time of a frame that is not
 * ours and comes back, by its kind. The frames lie in the caches, as they do when a program has just looked at them.
 */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "bench.h"
#include "roce/device.h"

#define FRAME 64u

struct hands {
	struct roce_device *device;
	struct rte_mbuf *pkts[BENCH_BURST];
};

static void
write_v4(uint8_t *at, uint8_t proto, uint16_t port)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = RTE_BE16(FRAME - sizeof(*eth)),
		.time_to_live = 64,
		.next_proto_id = proto,
		.src_addr = RTE_BE32(0xc0000207),
		.dst_addr = RTE_BE32(0xc0000209),
	};
	*udp = (struct rte_udp_hdr){ .dst_port = rte_cpu_to_be_16(port),
		.dgram_len = RTE_BE16(FRAME - sizeof(*eth) - sizeof(*ip)) };
}

static void
write_udp(uint8_t *at)
{
	write_v4(at, IPPROTO_UDP, 4790);
}

static void
write_tcp(uint8_t *at)
{
	write_v4(at, IPPROTO_TCP, 80);
}

static void
write_v6(uint8_t *at)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(eth + 1);

	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	*ip = (struct rte_ipv6_hdr){ .vtc_flow = RTE_BE32(6u << 28),
		.proto = IPPROTO_TCP,
		.payload_len = RTE_BE16(FRAME - sizeof(*eth) - sizeof(*ip)),
		.hop_limits = 64 };
}

static void
write_vlan(uint8_t *at)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_vlan_hdr *vlan = (struct rte_vlan_hdr *)(eth + 1);

	write_v4(at + sizeof(*vlan), IPPROTO_TCP, 80);
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	*vlan = (struct rte_vlan_hdr){ .vlan_tci = RTE_BE16(7),
		.eth_proto = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
}

static const struct {
	const char *name;
	void (*write)(uint8_t *at);
} kinds[] = {
	{ "UDP to another port", write_udp },
	{ "TCP", write_tcp },
	{ "TCP over IPv6", write_v6 },
	{ "TCP with a VLAN tag", write_vlan },
};

static void
fill(struct hands *hands, unsigned int kind)
{
	for (unsigned int i = 0; i < BENCH_BURST; i++) {
		uint8_t *at = rte_pktmbuf_mtod(hands->pkts[i], uint8_t *);

		memset(at, 0, FRAME);
		kinds[kind].write(at);
		hands->pkts[i]->data_len = FRAME;
		hands->pkts[i]->pkt_len = FRAME;
	}
}

static void
receive(void *arg)
{
	struct hands *hands = arg;

	if (roce_device_rx(hands->device, 0, hands->pkts, BENCH_BURST) != BENCH_BURST)
		bench_fail("a frame is missing");
}

static void
open_hands(struct hands *hands)
{
	const struct roce_attach_config config = {
		.name = "bench",
		.mode = ROCE_ATTACH_HANDOVER,
		.mac = { 2, 0, 0, 0, 0, 1 },
		.params = "ip=192.0.2.1/24",
	};
	struct rte_mempool *pool;
	char errmsg[256];

	if (roce_device_attach(&config, &hands->device, errmsg, sizeof(errmsg)) != 0)
		bench_fail("%s", errmsg);
	pool = rte_pktmbuf_pool_create(
			"foreign", 127, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, hands->pkts, BENCH_BURST) != 0)
		bench_fail("no memory for frames");
}

int
main(int argc, char **argv)
{
	bool json = bench_wants(argc, argv, "--json");
	struct hands hands;

	bench_start();
	open_hands(&hands);
	if (!json)
		printf("\n %-24s%10s\n", "roce_device_rx()", "ns/frame");
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		double ns;

		fill(&hands, k);
		ns = bench_measure(receive, &hands);
		if (json)
			printf("{\"kind\": \"handover\", \"name\": \"%s\", \"ns\": %.3f}\n",
					kinds[k].name, ns);
		else
			printf(" %-24s%10.2f\n", kinds[k].name, ns);
	}
	return 0;
}
