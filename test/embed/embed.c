/* SPDX-License-Identifier: BSD-3-Clause */

#include "embed.h"

#include <pthread.h>
#include <sched.h>

#include <rte_arp.h>
#include <rte_common.h>
#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_udp.h>

#define NETWORK  UINT32_C(0xc0000200) /**< 192.0.2.0 */
#define BTH      42u
#define SMALLEST 60u /**< a frame without its checksum */

struct rte_mempool *embed_foreign;

int
embed_start(void **state)
{
	/* The EAL keeps them, and may write into them. */
	static char args[][24] = { "embed", "--no-huge", "--no-pci", "--no-shconf",
		"--no-telemetry", "-m", "256", "--log-level=error" };
	char *argv[RTE_DIM(args)];
	cpu_set_t cpus;

	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus), 0);
	assert_true(rte_eal_init(RTE_DIM(args), argv) >= 0);
	assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus), 0);
	return 0;
}

int
embed_start_foreign(void **state)
{
	embed_start(state);
	embed_foreign = embed_pool("foreign", 1023, 256);
	return 0;
}

int
embed_end_foreign(void **state)
{
	embed_pool_end(embed_foreign);
	return 0;
}

uint32_t
embed_dice(uint32_t sides)
{
	static uint64_t dice = 1;

	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(dice >> 33) % sides;
}

struct rte_mempool *
embed_pool(const char *name, unsigned int frames, uint16_t room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
			name, frames, 0, 0, (uint16_t)(room + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);

	assert_non_null(pool);
	return pool;
}

void
embed_pool_end(struct rte_mempool *pool)
{
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	rte_mempool_free(pool);
}

void
embed_mac(uint8_t mac[6], uint8_t n)
{
	memcpy(mac, (uint8_t[6]){ 2, 0, 0, 0, 0, n }, 6);
}

struct roce_device *
embed_attach(const struct roce_attach_config *config)
{
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc = roce_device_attach(config, &device, errmsg, sizeof(errmsg));

	if (rc != 0)
		fail_msg("%s: %d %s", config->name, rc, errmsg);
	assert_non_null(device);
	return device;
}

void
embed_refused(const struct roce_attach_config *config, int want, const char *word)
{
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc = roce_device_attach(config, &device, errmsg, sizeof(errmsg));

	if (rc != want || strstr(errmsg, word) == NULL)
		fail_msg("wanted %d %s: %d %s", want, word, rc, errmsg);
	assert_null(device);
}

uint64_t
embed_counter(const struct roce_device *device, const char *wanted)
{
	const char *name;
	uint64_t value;

	for (unsigned int i = 0; roce_device_counter(device, i, &name, &value); i++) {
		if (strcmp(name, wanted) == 0)
			return value;
	}
	fail_msg("there is no counter %s", wanted);
	return 0;
}

struct roce_attach_config
embed_handover(uint8_t n)
{
	static const char *const names[] = { "hands0", "hands1", "hands2" };
	static const char *const params[] = { "ip=192.0.2.9/24",
		"ip=192.0.2.1/24 ip=2001:db8::1/64", "ip=192.0.2.2/24 ip=2001:db8::2/64" };
	struct roce_attach_config config = {
		.name = names[n],
		.mode = ROCE_ATTACH_HANDOVER,
		.params = params[n],
	};

	embed_mac(config.mac, n);
	return config;
}

static uint32_t
write_arp(uint8_t *at, uint8_t host)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(eth + 1);

	memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	*arp = (struct rte_arp_hdr){
		.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
		.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = 4,
		.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
	};
	embed_mac(arp->arp_data.arp_sha.addr_bytes, 77);
	arp->arp_data.arp_sip = rte_cpu_to_be_32(NETWORK | 77);
	arp->arp_data.arp_tip = rte_cpu_to_be_32(NETWORK | host);
	return SMALLEST;
}

static uint32_t
write_nd(uint8_t *at)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(eth + 1);

	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = RTE_BE32(6u << 28),
		.payload_len = RTE_BE16(32),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = 255,
	};
	at[sizeof(*eth) + sizeof(*ip)] = 135;
	return sizeof(*eth) + sizeof(*ip) + 32;
}

/* UDP over IPv4 with @p payload bytes, as a SEND of no byte would have it; @p tag: bytes of a VLAN tag. */
static uint32_t
write_udp(uint8_t *at, uint32_t tag, uint8_t host, uint16_t port)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	struct rte_vlan_hdr *vlan = (struct rte_vlan_hdr *)(eth + 1);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(at + sizeof(*eth) + tag);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	uint8_t *bth = (uint8_t *)(udp + 1);
	const uint16_t payload = 12 + 4;

	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	if (tag > 0) {
		eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		*vlan = (struct rte_vlan_hdr){ .vlan_tci = RTE_BE16(7),
			.eth_proto = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
	}
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + sizeof(*udp) + payload)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(NETWORK | 77),
		.dst_addr = rte_cpu_to_be_32(NETWORK | host),
	};
	*udp = (struct rte_udp_hdr){ .src_port = RTE_BE16(49152),
		.dst_port = rte_cpu_to_be_16(port),
		.dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(*udp) + payload)) };
	memset(bth, 0, payload);
	bth[0] = 0x04;
	bth[2] = 0xff;
	bth[3] = 0xff;
	return RTE_MAX(SMALLEST, (uint32_t)(bth - at) + payload);
}

struct rte_mbuf *
embed_frame(struct rte_mempool *pool, enum embed_kind kind, uint32_t serial)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *at;
	uint32_t len;

	assert_non_null(m);
	at = rte_pktmbuf_mtod(m, uint8_t *);
	memset(at, 0x5a, 128);
	switch (kind) {
	case EMBED_ARP:
	case EMBED_ARP_OURS:
		len = write_arp(at, kind == EMBED_ARP ? 99 : 2);
		break;
	case EMBED_ND:
		len = write_nd(at);
		break;
	case EMBED_SHORT:
		len = 1 + serial % 13;
		break;
	default:
		len = write_udp(at, kind == EMBED_VLAN ? 4 : 0, kind >= EMBED_ELSEWHERE ? 99 : 2,
				kind >= EMBED_ELSEWHERE ? 4791 : 4790);
		if (kind == EMBED_BROKEN)
			at[BTH] = 0xff;
		break;
	}
	/* A source address is nobody's business, either. */
	if (len >= SMALLEST)
		memcpy(at + RTE_ETHER_ADDR_LEN + 2, &serial, sizeof(serial));
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return m;
}

void
embed_remember(struct embed_shadow *shadow, const struct rte_mbuf *m)
{
	assert_true(m->data_len <= sizeof(shadow->bytes));
	*shadow = (struct embed_shadow){
		.m = m, .ol_flags = m->ol_flags, .pkt_len = m->pkt_len, .data_len = m->data_len
	};
	memcpy(shadow->bytes, rte_pktmbuf_mtod(m, const void *), m->data_len);
}

void
embed_compare(const struct embed_shadow *shadow, const struct rte_mbuf *m)
{
	assert_ptr_equal(m, shadow->m);
	assert_int_equal(m->pkt_len, shadow->pkt_len);
	assert_int_equal(m->data_len, shadow->data_len);
	assert_int_equal(m->ol_flags, shadow->ol_flags);
	assert_memory_equal(rte_pktmbuf_mtod(m, const void *), shadow->bytes, m->data_len);
}
