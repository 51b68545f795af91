/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_HEADERS_H
#define ROCE_LOCAL_HEADERS_H

/**
 * @file
 * The headers of a frame that say which process it is for. Of bytes that nobody else can change: a frame is copied first.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "wire/bth.h"

#define ROCE_HEADERS_V4 \
	(sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))
#define ROCE_HEADERS_V6 \
	(sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr))

/** Where a frame comes from and goes to. */
struct roce_headers {
	uint32_t qpn; /**< destination; valid for RoCEv2 */
	bool roce;    /**< over UDP, as the transport writes it: no tag, no options */
	bool to_self; /**< source and destination address are the same: this host's */
	bool v6;
	const uint8_t *l3; /**< behind the Ethernet header */
};

static inline uint32_t
roce_headers_qpn(const uint8_t *bth)
{
	rte_be32_t dest_qp;

	memcpy(&dest_qp, bth + offsetof(struct roce_bth, dest_qp), sizeof(dest_qp));
	return rte_be_to_cpu_32(dest_qp) & ROCE_QPN_MASK;
}

/** Read the headers of a frame in one piece. The parser of the engine finds the same BTH, or refuses the frame. */
static inline struct roce_headers
roce_headers_read(const uint8_t *frame, uint32_t len)
{
	const uint8_t *l3 = frame + sizeof(struct rte_ether_hdr);
	struct roce_headers h = { .l3 = l3 };
	uint16_t type;

	if (unlikely(len < ROCE_HEADERS_V4 + sizeof(struct roce_bth)))
		return h;
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	if (likely(type == RTE_BE16(RTE_ETHER_TYPE_IPV4))) {
		h.roce = l3[0] == RTE_IPV4_VHL_DEF &&
				l3[offsetof(struct rte_ipv4_hdr, next_proto_id)] == IPPROTO_UDP;
		h.to_self = memcmp(l3 + offsetof(struct rte_ipv4_hdr, src_addr),
					    l3 + offsetof(struct rte_ipv4_hdr, dst_addr), 4) == 0;
		h.qpn = roce_headers_qpn(frame + ROCE_HEADERS_V4);
	} else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) &&
			len >= ROCE_HEADERS_V6 + sizeof(struct roce_bth)) {
		h.v6 = true;
		h.roce = l3[offsetof(struct rte_ipv6_hdr, proto)] == IPPROTO_UDP;
		h.to_self = memcmp(l3 + offsetof(struct rte_ipv6_hdr, src_addr),
					    l3 + offsetof(struct rte_ipv6_hdr, dst_addr), 16) == 0;
		h.qpn = roce_headers_qpn(frame + ROCE_HEADERS_V6);
	}
	return h;
}

/** Is a frame over UDP one of RoCEv2? */
static inline bool
roce_headers_port_ok(const struct roce_headers *h)
{
	const uint8_t *udp =
			h->l3 + (h->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr));
	uint16_t port;

	memcpy(&port, udp + offsetof(struct rte_udp_hdr, dst_port), sizeof(port));
	return port == RTE_BE16(ROCE_UDP_PORT);
}

#endif
