/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_NEIGHBOUR_NEIGH_H
#define ROCE_NEIGHBOUR_NEIGH_H

/**
 * @file
 * IP address to MAC address: permanent, learned, asked for by ARP (RFC 826) and
 * neighbour discovery (RFC 4861), and answered.
 *
 * Frames and `now` in, frames and a deadline out, like the engine: no device,
 * no clock, no thread, no lock. One thread at a time.
 *
 * An address is asked for four times a second; after three
 * seconds without an answer it is unreachable, and stays so for three seconds
 * more. An answer is good for thirty seconds; if the address was wanted in that
 * time the neighbour is then asked again, by unicast, and stays usable
 * meanwhile. Only requests for one of our addresses teach an address that
 * nobody wanted, so unknown peers cannot push out what is in use.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "engine/engine.h"
#include "neighbour/subnet.h"
#include "wire/frame.h"

#define ROCE_NEIGH_MAX 1024 /**< addresses it knows at once */

struct roce_neigh;

struct roce_neigh_config {
	uint64_t hz; /**< ticks per second of every @c now */
	struct rte_ether_addr mac;
	uint16_t vlan_tci;                       /**< 0: untagged */
	struct roce_subnet addr[ROCE_ADDRS_MAX]; /**< ours */
	unsigned int addrs;
	struct roce_ip gw; /**< all zero: none */
	struct rte_mempool *pool;
	struct roce_memory memory;
};

/**
 * @return 0; -EINVAL the gateway lies in none of our subnets; -ENOMEM.
 */
int roce_neigh_create(const struct roce_neigh_config *config, struct roce_neigh **out);

/** NULL is allowed. */
void roce_neigh_destroy(struct roce_neigh *neigh);

/** Add a permanent entry. @return 0; -ENOSPC. */
int roce_neigh_add(struct roce_neigh *neigh, const struct roce_ip *ip,
		const struct rte_ether_addr *mac);

/** The first hop to an address. */
struct roce_neigh_hop {
	struct roce_ip src; /**< which of our addresses to send from */
	struct rte_ether_addr mac;
};

/**
 * We have other addresses now, as of struct roce_neigh_config. Entries of neighbours that are near none of them are
 * forgotten, unless they are permanent.
 */
void
roce_neigh_set_addrs(struct roce_neigh *neigh, const struct roce_subnet *addr, unsigned int addrs);

/**
 * Find the first hop to an address, through the gateway when it is not on one of the subnets.
 *
 * @param from,n those of our addresses to choose the source from.
 * @param hop filled when the call returns 0.
 * @return 0; -EAGAIN asked: roce_neigh_changed() will say when to come back; -ENETUNREACH no subnet and no
 *   gateway, or not the address of one host; -EHOSTUNREACH does not answer, or is one of @p from. Another address of ours
 *   is reached by our own MAC address, over a wire that brings back what is sent.
 */
int roce_neigh_resolve(struct roce_neigh *neigh, const struct roce_subnet *from, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop, uint64_t now);

/**
 * Could roce_neigh_rx() want a frame? Judged by its type alone, in no time: what is none of our business passes by
 * here at any rate.
 */
static inline bool
roce_neigh_may_want(const struct rte_mbuf *m)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	const struct rte_vlan_hdr *vlan = (const struct rte_vlan_hdr *)(eth + 1);
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(eth + 1);

	/* Short, or in pieces: who reads it finds out. */
	if (m->data_len < sizeof(*eth) + sizeof(*vlan))
		return true;
	if (likely(eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return false;
	switch (eth->ether_type) {
	case RTE_BE16(RTE_ETHER_TYPE_ARP):
		return true;
	case RTE_BE16(RTE_ETHER_TYPE_IPV6):
		return m->data_len < sizeof(*eth) + sizeof(*ip) || ip->proto == IPPROTO_ICMPV6;
	case RTE_BE16(RTE_ETHER_TYPE_VLAN):
		return vlan->eth_proto != RTE_BE16(RTE_ETHER_TYPE_IPV4);
	default:
		return false;
	}
}

/**
 * Look at a frame the engine did not want. It stays the caller's.
 * @return true: a word among neighbours that was for us.
 */
bool roce_neigh_rx(struct roce_neigh *neigh, const struct rte_mbuf *m, uint64_t now);

/**
 * Frames to send: answers and questions. Runs the timers, with @p max 0 only them.
 * @return how many; ownership passes.
 */
uint16_t
roce_neigh_tx(struct roce_neigh *neigh, struct rte_mbuf **pkts, uint16_t max, uint64_t now);

/** Next time at which roce_neigh_tx() has something to do; 0: now; ROCE_NEVER. */
uint64_t roce_neigh_deadline(const struct roce_neigh *neigh);

/** True once after an address was answered, moved or was given up. */
bool roce_neigh_changed(struct roce_neigh *neigh);

#endif
