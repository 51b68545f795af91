/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_BTH_H
#define ROCE_WIRE_BTH_H

/**
 * @file
 * Transport headers as they stand on the wire (IBTA Vol 1, chapter 9).
 *
 * Every multi-byte field is big endian (`rte_be*_t`); masks are given for the
 * value in host order. No function here has state. A packed structure says so
 * in the compiler's own word: DPDK's was another one after 24.11.
 */

#include <assert.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#define ROCE_UDP_PORT      4791
#define ROCE_PKEY_DEFAULT  0xffff
#define ROCE_PKEY_MASK     0x7fff /**< the top bit only says full or limited member */
#define ROCE_ICRC_LEN      4
#define ROCE_QPN_MASK      0xffffffu
#define ROCE_QPN_GSI       1 /**< general services: connection management */
#define ROCE_QPN_MULTICAST 0xffffffu
#define ROCE_GSI_QKEY      0x80010000u

/** Base Transport Header (IBTA Vol 1, 9.2). On the wire, big endian, 12 bytes. */
struct roce_bth {
	uint8_t opcode;
	uint8_t flags; /**< SE:1 MigReq:1 PadCnt:2 TVer:4 */
	rte_be16_t pkey;
	rte_be32_t dest_qp; /**< FECN:1 BECN:1 reserved:6 DestQP:24 */
	rte_be32_t psn; /**< AckReq:1 reserved:7 PSN:24; repeat.h has a use for the reserved bits */
} __attribute__((packed));

#define ROCE_BTH_SE           0x80 /**< solicited event */
#define ROCE_BTH_MIGREQ       0x40
#define ROCE_BTH_PAD_SHIFT    4
#define ROCE_BTH_PAD_MASK     0x30
#define ROCE_BTH_TVER_MASK    0x0f
#define ROCE_BTH_FECN         0x80000000u
#define ROCE_BTH_BECN         0x40000000u
#define ROCE_BTH_ACKREQ       0x80000000u
#define ROCE_BTH_REPEAT_SHIFT 24
#define ROCE_BTH_REPEAT_MASK  0x7f

/** RDMA extended header: WRITE first/only, READ request. */
struct roce_reth {
	rte_be64_t va;
	rte_be32_t rkey;
	rte_be32_t length; /**< of the whole message, bytes */
} __attribute__((packed));

/** ACK extended header: acknowledge, READ response first/last/only, atomic acknowledge. */
struct roce_aeth {
	rte_be32_t syndrome_msn; /**< syndrome:8 MSN:24, see aeth.h */
} __attribute__((packed));

/** Immediate data: handed to the consumer as it came. */
struct roce_immdt {
	rte_be32_t data;
} __attribute__((packed));

/** Invalidate extended header: the key that SEND with invalidate ends. */
struct roce_ieth {
	rte_be32_t rkey;
} __attribute__((packed));

/** Atomic extended header: compare-and-swap, fetch-and-add. */
struct roce_atomiceth {
	rte_be64_t va;
	rte_be32_t rkey;
	rte_be64_t swap_or_add;
	rte_be64_t compare;
} __attribute__((packed));

/** Atomic acknowledge extended header: the value before the operation. */
struct roce_atomicacketh {
	rte_be64_t original;
} __attribute__((packed));

/** Datagram extended header: UD, here only for the GSI. */
struct roce_deth {
	rte_be32_t qkey;
	rte_be32_t src_qp; /**< reserved:8 SrcQP:24 */
} __attribute__((packed));

/** Reserved bytes behind the BTH of a congestion notification packet (IBTA annex A17.9.3). */
struct roce_cnp {
	uint8_t reserved[16];
} __attribute__((packed));

/**
 * Behind the BTH of a selective acknowledgement, a frame of this provider whose PSN is the one that the responder expects:
 * bit i of the first word is expected PSN + 1 + i, of the second one expected PSN + 65 + i; set: the responder holds it. Without
 * any bit the PSN is that of a request which came twice.
 */
struct roce_sack {
	rte_be64_t held[2];
} __attribute__((packed));

/**
 * Behind the BTH of a request that carries an acknowledgement of the other direction, between two ends of this provider:
 * all that an acknowledgement says, which has that PSN.
 */
struct roce_piggyback {
	struct roce_aeth aeth;
	rte_be32_t psn; /**< reserved:8 PSN:24 */
} __attribute__((packed));

static_assert(sizeof(struct roce_piggyback) == 8, "the opcode table has 8 bytes for it");
static_assert(sizeof(struct roce_sack) == 16, "the opcode table has 16 bytes for it");
static_assert(sizeof(struct roce_cnp) == 16, "IBTA A17.9.3: 16 reserved bytes");
static_assert(sizeof(struct roce_bth) == 12, "IBTA 9.2: BTH is 12 bytes");
static_assert(sizeof(struct roce_reth) == 16, "IBTA 9.3: RETH is 16 bytes");
static_assert(sizeof(struct roce_aeth) == 4, "IBTA 9.3: AETH is 4 bytes");
static_assert(sizeof(struct roce_immdt) == 4, "IBTA 9.3: ImmDt is 4 bytes");
static_assert(sizeof(struct roce_ieth) == 4, "IBTA 9.3: IETH is 4 bytes");
static_assert(sizeof(struct roce_atomiceth) == 28, "IBTA 9.3: AtomicETH is 28 bytes");
static_assert(sizeof(struct roce_atomicacketh) == 8, "IBTA 9.3: AtomicAckETH is 8 bytes");
static_assert(sizeof(struct roce_deth) == 8, "IBTA 9.3: DETH is 8 bytes");

#endif
