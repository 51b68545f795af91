/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_AETH_H
#define ROCE_WIRE_AETH_H

/**
 * @file
 * The acknowledge extended header: syndrome, credits, NAK codes and RNR timer
 * (IBTA Vol 1, 9.7.5).
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/bth.h"

/** Top three bits of the syndrome. */
enum roce_aeth_kind {
	ROCE_AETH_ACK = 0x00,
	ROCE_AETH_RNR = 0x20,
	ROCE_AETH_NAK = 0x60,
};

#define ROCE_AETH_KIND_MASK  0xe0
#define ROCE_AETH_VALUE_MASK 0x1f

/** NAK codes (the low five bits of a NAK syndrome). */
enum roce_nak {
	ROCE_NAK_PSN_SEQUENCE = 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_REMOTE_ACCESS = 2,
	ROCE_NAK_REMOTE_OPERATIONAL = 3,
	ROCE_NAK_INVALID_RD_REQUEST = 4,
};

#define ROCE_CREDIT_INVALID \
	31 /**< the responder gives no credits (it has a shared receive queue) */

/** Syndrome and 24-bit message sequence number as the AETH word. */
static inline rte_be32_t
roce_aeth_pack(uint8_t syndrome, uint32_t msn)
{
	return rte_cpu_to_be_32(((uint32_t)syndrome << 24) | (msn & ROCE_QPN_MASK));
}

/** Syndrome byte of an AETH. */
static inline uint8_t
roce_aeth_syndrome(const struct roce_aeth *aeth)
{
	return (uint8_t)(rte_be_to_cpu_32(aeth->syndrome_msn) >> 24);
}

/** Message sequence number of an AETH, 24 bits. */
static inline uint32_t
roce_aeth_msn(const struct roce_aeth *aeth)
{
	return rte_be_to_cpu_32(aeth->syndrome_msn) & ROCE_QPN_MASK;
}

/**
 * Credit code that says at most @p receives (IBTA Vol 1, table of AETH credit codes).
 * @return 0..30, the largest code whose count is <= @p receives.
 */
uint8_t roce_credit_encode(uint32_t receives);

/** Receives that a credit code 0..30 stands for; UINT32_MAX for ROCE_CREDIT_INVALID. */
uint32_t roce_credit_decode(uint8_t code);

/** RNR NAK timer of code 0..31 in microseconds (0: 655360, 1: 10, ... 31: 491520). */
uint32_t roce_rnr_timer_us(uint8_t code);

/** Local ACK timeout of code 0..31 in nanoseconds: 4096 * 2^code; 0 means none. */
uint64_t roce_ack_timeout_ns(uint8_t code);

#endif
