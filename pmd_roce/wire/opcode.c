/* SPDX-License-Identifier: BSD-3-Clause */

#include "wire/bth.h"
#include "wire/opcode.h"

/* First, middle, last or only packet of a request or a response. */
#define REQ       ROCE_OP_REQUEST
#define REQ_FIRST (ROCE_OP_REQUEST | ROCE_OP_START)
#define REQ_LAST  (ROCE_OP_REQUEST | ROCE_OP_END)
#define REQ_ONLY  (ROCE_OP_REQUEST | ROCE_OP_START | ROCE_OP_END)
#define RSP       ROCE_OP_RESPONSE
#define RSP_FIRST (ROCE_OP_RESPONSE | ROCE_OP_START)
#define RSP_LAST  (ROCE_OP_RESPONSE | ROCE_OP_END)
#define RSP_ONLY  (ROCE_OP_RESPONSE | ROCE_OP_START | ROCE_OP_END)

/* Every packet of a SEND fills a receive; of a WRITE only the one that carries the immediate. */
#define DATA ROCE_OP_PAYLOAD
#define RECV (ROCE_OP_PAYLOAD | ROCE_OP_RECEIVE)

#define RETH      ROCE_OP_RETH
#define AETH      ROCE_OP_AETH
#define IMM       ROCE_OP_IMM
#define IETH      ROCE_OP_IETH
#define ATOMIC    ROCE_OP_ATOMIC
#define ATOMICACK ROCE_OP_ATOMICACK
#define DETH      ROCE_OP_DETH
#define CNP       ROCE_OP_CNP
#define SACK      ROCE_OP_SACK

#define PIGGYBACK ROCE_OP_PIGGYBACK

#define LEN_IF(flags, flag, header) (((flags) & (flag)) != 0 ? sizeof(struct header) : 0)

/* The order on the wire: BTH; piggybacked acknowledgement; RETH, AtomicETH, DETH or AETH; AtomicAckETH; ImmDt or IETH. */
#define BTH_LEN sizeof(struct roce_bth)
#define FIRST_LEN(flags)                                                                  \
	(LEN_IF(flags, RETH, roce_reth) + LEN_IF(flags, ATOMIC, roce_atomiceth) +         \
			LEN_IF(flags, DETH, roce_deth) + LEN_IF(flags, AETH, roce_aeth) + \
			LEN_IF(flags, CNP, roce_cnp) + LEN_IF(flags, SACK, roce_sack) +   \
			LEN_IF(flags, PIGGYBACK, roce_piggyback))
#define SECOND_LEN(flags) LEN_IF(flags, ATOMICACK, roce_atomicacketh)
#define THIRD_LEN(flags)  (LEN_IF(flags, IMM, roce_immdt) + LEN_IF(flags, IETH, roce_ieth))

#define HAS(flags, any) (((flags) & (any)) != 0)
#define AETH_OFF(flags) (HAS(flags, AETH | PIGGYBACK) ? BTH_LEN : 0)
#define IMM_OFF(f)      (HAS(f, IMM | IETH) ? BTH_LEN + FIRST_LEN(f) + SECOND_LEN(f) : 0)
/* The AtomicAckETH stands behind an AETH; a RETH behind a piggybacked acknowledgement, if any; others behind nothing. */
#define EXT_OFF(flags)                                                                           \
	(HAS(flags, RETH | ATOMIC | DETH | ATOMICACK | SACK)                                     \
					? BTH_LEN + LEN_IF(flags, AETH, roce_aeth) +             \
							LEN_IF(flags, PIGGYBACK, roce_piggyback) \
					: 0)

#define ROW(v, f)                                                                      \
	{                                                                              \
		.flags = (f), .verb = ROCE_VERB_##v,                                   \
		.header_len = BTH_LEN + FIRST_LEN(f) + SECOND_LEN(f) + THIRD_LEN(f),   \
		.imm_off = IMM_OFF(f), .aeth_off = AETH_OFF(f), .ext_off = EXT_OFF(f), \
	}

#define WITH_ACK(opcode) (ROCE_OPCODE_PIGGYBACK | (opcode))

/* One row per opcode (IBTA Vol 1, 9.2.1). Laws checked in test/unit/test_opcode.c. */
const struct roce_opcode_info roce_opcode[256] = {
	/* clang-format off */
	[IBV_OPCODE_RC_SEND_FIRST] =                     ROW(SEND, REQ_FIRST | RECV),
	[IBV_OPCODE_RC_SEND_MIDDLE] =                    ROW(SEND, REQ | RECV),
	[IBV_OPCODE_RC_SEND_LAST] =                      ROW(SEND, REQ_LAST | RECV),
	[IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] =       ROW(SEND, REQ_LAST | RECV | IMM),
	[ROCE_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] =     ROW(SEND, REQ_LAST | RECV | IETH),
	[IBV_OPCODE_RC_SEND_ONLY] =                      ROW(SEND, REQ_ONLY | RECV),
	[IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] =       ROW(SEND, REQ_ONLY | RECV | IMM),
	[ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] =     ROW(SEND, REQ_ONLY | RECV | IETH),

	[IBV_OPCODE_RC_RDMA_WRITE_FIRST] =               ROW(WRITE, REQ_FIRST | DATA | RETH),
	[IBV_OPCODE_RC_RDMA_WRITE_MIDDLE] =              ROW(WRITE, REQ | DATA),
	[IBV_OPCODE_RC_RDMA_WRITE_LAST] =                ROW(WRITE, REQ_LAST | DATA),
	[IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = ROW(WRITE, REQ_LAST | RECV | IMM),
	[IBV_OPCODE_RC_RDMA_WRITE_ONLY] =                ROW(WRITE, REQ_ONLY | DATA | RETH),
	[IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = ROW(WRITE, REQ_ONLY | RECV | RETH | IMM),

	[IBV_OPCODE_RC_RDMA_READ_REQUEST] =              ROW(READ, REQ_ONLY | RETH),
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] =       ROW(READ, RSP_FIRST | DATA | AETH),
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] =      ROW(READ, RSP | DATA),
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST] =        ROW(READ, RSP_LAST | DATA | AETH),
	[IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] =        ROW(READ, RSP_ONLY | DATA | AETH),

	[IBV_OPCODE_RC_ACKNOWLEDGE] =                    ROW(ACK, RSP_ONLY | AETH),
	/* It answers either atomic; which one, only the requester knows. */
	[IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE] =             ROW(ACK, RSP_ONLY | AETH | ATOMICACK),
	[IBV_OPCODE_RC_COMPARE_SWAP] =                   ROW(ATOMIC_CAS, REQ_ONLY | ATOMIC),
	[IBV_OPCODE_RC_FETCH_ADD] =                      ROW(ATOMIC_FADD, REQ_ONLY | ATOMIC),

	[IBV_OPCODE_UD_SEND_ONLY] =                      ROW(SEND, REQ_ONLY | RECV | DETH),
	[IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] =       ROW(SEND, REQ_ONLY | RECV | DETH | IMM),

	[ROCE_OPCODE_CNP] =                              ROW(NONE, CNP | ROCE_OP_START | ROCE_OP_END),
	[ROCE_OPCODE_SACK] =                             ROW(NONE, SACK | ROCE_OP_START | ROCE_OP_END),

	[WITH_ACK(IBV_OPCODE_RC_SEND_ONLY)] =            ROW(SEND, REQ_ONLY | PIGGYBACK | RECV),
	[WITH_ACK(IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE)] =
			ROW(SEND, REQ_ONLY | PIGGYBACK | RECV | IMM),
	[WITH_ACK(ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE)] =
			ROW(SEND, REQ_ONLY | PIGGYBACK | RECV | IETH),
	[WITH_ACK(IBV_OPCODE_RC_RDMA_WRITE_ONLY)] =      ROW(WRITE, REQ_ONLY | PIGGYBACK | DATA | RETH),
	[WITH_ACK(IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE)] =
			ROW(WRITE, REQ_ONLY | PIGGYBACK | RECV | RETH | IMM),
	/* clang-format on */
};

#define VERBS    (ROCE_VERB_ACK + 1)
#define SUFFIXES (ROCE_SUFFIX_INVALIDATE + 1)

/* A packet's place in its message. */
#define MIDDLE 0
#define FIRST  1
#define LAST   2
#define ONLY   (FIRST | LAST)

/* Inverted, so that a hole in the table reads as 0xff. */
#define OP(name) (uint8_t) ~(name)

static const uint8_t request[VERBS][SUFFIXES][4] = {
	/* clang-format off */
	[ROCE_VERB_SEND] = {
		[ROCE_SUFFIX_NONE] = {
			[FIRST] = OP(IBV_OPCODE_RC_SEND_FIRST),
			[MIDDLE] = OP(IBV_OPCODE_RC_SEND_MIDDLE),
			[LAST] = OP(IBV_OPCODE_RC_SEND_LAST),
			[ONLY] = OP(IBV_OPCODE_RC_SEND_ONLY),
		},
		[ROCE_SUFFIX_IMM] = {
			[FIRST] = OP(IBV_OPCODE_RC_SEND_FIRST),
			[MIDDLE] = OP(IBV_OPCODE_RC_SEND_MIDDLE),
			[LAST] = OP(IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE),
			[ONLY] = OP(IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE),
		},
		[ROCE_SUFFIX_INVALIDATE] = {
			[FIRST] = OP(IBV_OPCODE_RC_SEND_FIRST),
			[MIDDLE] = OP(IBV_OPCODE_RC_SEND_MIDDLE),
			[LAST] = OP(ROCE_OPCODE_RC_SEND_LAST_WITH_INVALIDATE),
			[ONLY] = OP(ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE),
		},
	},
	[ROCE_VERB_WRITE] = {
		[ROCE_SUFFIX_NONE] = {
			[FIRST] = OP(IBV_OPCODE_RC_RDMA_WRITE_FIRST),
			[MIDDLE] = OP(IBV_OPCODE_RC_RDMA_WRITE_MIDDLE),
			[LAST] = OP(IBV_OPCODE_RC_RDMA_WRITE_LAST),
			[ONLY] = OP(IBV_OPCODE_RC_RDMA_WRITE_ONLY),
		},
		[ROCE_SUFFIX_IMM] = {
			[FIRST] = OP(IBV_OPCODE_RC_RDMA_WRITE_FIRST),
			[MIDDLE] = OP(IBV_OPCODE_RC_RDMA_WRITE_MIDDLE),
			[LAST] = OP(IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE),
			[ONLY] = OP(IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE),
		},
	},
	[ROCE_VERB_READ][ROCE_SUFFIX_NONE][ONLY] = OP(IBV_OPCODE_RC_RDMA_READ_REQUEST),
	[ROCE_VERB_ATOMIC_CAS][ROCE_SUFFIX_NONE][ONLY] = OP(IBV_OPCODE_RC_COMPARE_SWAP),
	[ROCE_VERB_ATOMIC_FADD][ROCE_SUFFIX_NONE][ONLY] = OP(IBV_OPCODE_RC_FETCH_ADD),
	/* clang-format on */
};

uint8_t
roce_opcode_request(enum roce_verb verb, enum roce_suffix suffix, bool first, bool last)
{
	uint32_t place = (first ? FIRST : 0) | (last ? LAST : 0);

	if ((uint32_t)verb >= VERBS || (uint32_t)suffix >= SUFFIXES)
		return ROCE_OPCODE_NONE;
	return (uint8_t)~request[verb][suffix][place];
}
