/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/fault_injection.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#define ECN_MASK    3u
#define V6_ECN_BITS (ECN_MASK << 20) /* of the first word of the header */

/* splitmix64: neighbouring seeds and streams become unlike states. */
static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t
never_0(uint64_t state)
{
	return state != 0 ? state : 1;
}

void
roce_fault_injection_init(struct roce_fault_injection *injection,
		const uint32_t ppm[ROCE_FAULT_KINDS], uint64_t seed, uint32_t stream)
{
	const uint64_t state = mix(mix(seed) + stream);

	*injection = (struct roce_fault_injection){ .state = never_0(state) };
	for (unsigned int kind = 0; kind < ROCE_FAULT_KINDS; kind++) {
		injection->die[kind] = (struct roce_fault_die){
			.state = never_0(mix(state + 1 + kind)),
			.threshold = roce_fault_threshold(ppm[kind]),
		};
		injection->on |= ppm[kind] != 0;
	}
}

void
roce_fault_injection_fini(struct roce_fault_injection *injection)
{
	rte_pktmbuf_free(injection->late);
	injection->late = NULL;
}

static uint32_t
roll(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

/* Throw until the next @p n frames are known to be spared, or which one of them is not. @return how many are spared. */
static uint16_t
throw_ahead(struct roce_fault_die *die, uint16_t n)
{
	if (die->threshold == 0)
		return n;
	while (die->spared < n && !die->strikes) {
		if (roll(&die->state) < die->threshold)
			die->strikes = true;
		else
			die->spared++;
	}
	return RTE_MIN(die->spared, n);
}

static bool
strikes(struct roce_fault_injection *injection, enum roce_fault_kind kind)
{
	struct roce_fault_die *die = &injection->die[kind];

	if (die->threshold == 0)
		return false;
	if (throw_ahead(die, 1) == 1) {
		die->spared--;
		return false;
	}
	die->strikes = false;
	injection->count[kind]++;
	return true;
}

/* How many of the next frames, at most @p n, does nothing happen to? Their throws are used up. */
static uint16_t
spare(struct roce_fault_injection *injection, uint16_t n)
{
	if (injection->late != NULL)
		return 0;
	for (unsigned int kind = 0; kind < ROCE_FAULT_KINDS; kind++)
		n = throw_ahead(&injection->die[kind], n);
	for (unsigned int kind = 0; kind < ROCE_FAULT_KINDS; kind++) {
		if (injection->die[kind].threshold != 0)
			injection->die[kind].spared -= n;
	}
	return n;
}

static void
corrupt(struct roce_fault_injection *injection, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t bits = (m->data_len - (uint32_t)sizeof(struct rte_ether_hdr)) * 8;
	uint32_t at = roll(&injection->state) % bits;

	frame[sizeof(struct rte_ether_hdr) + at / 8] ^= (uint8_t)(1u << at % 8);
}

/* As a router does. @return false: the frame does not want to be marked. */
static bool
mark(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t l3 = sizeof(struct rte_ether_hdr);
	rte_be16_t type;

	memcpy(&type, frame + l3 - sizeof(type), sizeof(type));
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		l3 += sizeof(struct rte_vlan_hdr);
		memcpy(&type, frame + l3 - sizeof(type), sizeof(type));
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + l3);

		if ((ip->type_of_service & ECN_MASK) == 0)
			return false;
		ip->type_of_service |= ECN_MASK;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
		return true;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(frame + l3);

		if ((ip->vtc_flow & RTE_BE32(V6_ECN_BITS)) == 0)
			return false;
		ip->vtc_flow |= RTE_BE32(V6_ECN_BITS);
		return true;
	}
	return false;
}

/* The faults of a frame that arrives. */
static void
spoil(struct roce_fault_injection *injection, struct rte_mbuf *m)
{
	if (strikes(injection, ROCE_FAULT_MARK) && !mark(m))
		injection->count[ROCE_FAULT_MARK]--;
	if (strikes(injection, ROCE_FAULT_CORRUPT))
		corrupt(injection, m);
}

/* Another frame, or a poll without any, has passed the one that is held back. */
static uint16_t
let_late_go(struct roce_fault_injection *injection, struct rte_mbuf **out)
{
	if (injection->late == NULL || --injection->late_for > 0)
		return 0;
	out[0] = injection->late;
	injection->late = NULL;
	return 1;
}

/* @return frames that come of one. */
static uint16_t
pass(struct roce_fault_injection *injection, struct rte_mbuf *m, struct rte_mbuf **out)
{
	struct rte_mbuf *copy;
	uint16_t n = 0;

	if (strikes(injection, ROCE_FAULT_LOSS)) {
		rte_pktmbuf_free(m);
		return 0;
	}
	spoil(injection, m);
	if (strikes(injection, ROCE_FAULT_DUPLICATE)) {
		copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);
		if (copy != NULL)
			out[n++] = copy;
	}
	if (injection->late == NULL && strikes(injection, ROCE_FAULT_REORDER)) {
		injection->late = m;
		injection->late_for = (uint8_t)(1 + roll(&injection->state) % ROCE_FAULT_LATE_MAX);
		return n;
	}
	out[n++] = m;
	return n;
}

uint16_t
roce_fault_injection_throw(
		struct roce_fault_injection *injection, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *out[2 * ROCE_FAULT_BURST_MAX + 1];
	uint16_t i, made, spared;

	RTE_ASSERT(n <= ROCE_FAULT_BURST_MAX);
	if (n == 0)
		return let_late_go(injection, pkts);
	i = spare(injection, n);
	made = i;
	memcpy(out, pkts, made * sizeof(out[0]));
	while (i < n) {
		bool late = injection->late != NULL;

		made += pass(injection, pkts[i++], out + made);
		if (late)
			made += let_late_go(injection, out + made);
		spared = spare(injection, n - i);
		memcpy(out + made, pkts + i, spared * sizeof(out[0]));
		i += spared;
		made += spared;
	}
	memcpy(pkts, out, made * sizeof(out[0]));
	return made;
}
