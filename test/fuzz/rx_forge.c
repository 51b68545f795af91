/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the script. A record asks for a frame that the peer of a queue pair could send now, and says what of
 * it is otherwise: so most of what is tried comes past the first checks.
 */

#include <string.h>

#include "rx_world.h"
#include "requester/req_read.h"
#include "wire/icrc.h"

/** Places of a record, when it makes a frame. */
enum {
	R_STEP = 0,
	R_TALK, /**< talk:3, opcode is raw:1, bad ICRC:1, ackreq:1, solicited:1, second adapter:1 */
	R_OPCODE,
	R_PSN,        /**< near what:3, how near:5 */
	R_LENGTH,     /**< which:3, region:4, key is wrong:1 */
	R_NUMBER,     /**< a length, or a part of one */
	R_VA,         /**< place:3, offset:5 */
	R_EXTRA,      /**< length in the RETH, syndrome in the AETH */
	R_VALUE,      /**< 3 bytes: raw PSN, MSN, operands */
	R_PATCH = 11, /**< field, and two bytes of value */
	R_CUT = 14,
	R_SHAPE, /**< alignment:2, second cut:2, tag stripped:1, next queue:1, wait for a burst:1 */
};

static const uint8_t opcodes[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
	0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x04, 0x0c,
	0x11, 0x10, 0x12, 0x64, 0x65, 0x81 };

/* Near what the queue pair expects, sends or waits for. */
static uint32_t
psn_of(const struct roce_qp *qp, const uint8_t *r)
{
	int32_t near = (int8_t)(r[R_PSN] & 0xf8) >> 3;
	const struct roce_wqe *read;
	uint32_t base;

	switch (r[R_PSN] & 7) {
	case 1:
		base = qp->tx.una;
		break;
	case 2:
		base = qp->tx.psn;
		break;
	case 3:
		base = qp->tx.max;
		break;
	case 4:
		read = qp->tx.reads > 0 ? roce_read_oldest(qp) : NULL;
		base = read != NULL ? roce_read_expected(qp, read) : qp->tx.una;
		break;
	case 5:
		base = base_u24(r + R_VALUE);
		break;
	case 6:
		base = qp->remote.allowed > 0 ? qp->remote.resource[qp->remote.newest].psn
					      : qp->rx.epsn;
		break;
	default:
		base = qp->rx.epsn;
		break;
	}
	return (base + (uint32_t)near) & ROCE_PSN_MASK;
}

/* The bytes of payload that the answer at @p psn to the oldest READ must have. */
static uint32_t
length_of_answer(const struct roce_qp *qp, uint32_t psn)
{
	const struct roce_wqe *read = qp->tx.reads > 0 ? roce_read_oldest(qp) : NULL;
	uint32_t got;

	if (read == NULL)
		return 0;
	got = ((psn - read->psn) & ROCE_PSN_MASK) * rx_world.mtu;
	return got < read->length ? RTE_MIN(read->length - got, rx_world.mtu) : 0;
}

static uint32_t
natural_length(const struct roce_qp *qp, uint8_t opcode, uint32_t psn, const uint8_t *r)
{
	const struct roce_opcode_info *op = &roce_opcode[opcode];

	if (!oracle_has_payload(opcode))
		return 0;
	if (op->flags & ROCE_OP_RESPONSE)
		return length_of_answer(qp, psn);
	if (!(op->flags & ROCE_OP_END))
		return rx_world.mtu;
	if (op->verb == ROCE_VERB_WRITE && !(op->flags & ROCE_OP_START))
		return RTE_MIN(qp->remote.left, rx_world.mtu);
	return RTE_MIN(r[R_NUMBER], rx_world.mtu);
}

static uint32_t
length_of(const struct roce_qp *qp, uint8_t opcode, uint32_t psn, const uint8_t *r)
{
	switch (r[R_LENGTH] & 7) {
	case 1:
		return 0;
	case 2:
		return rx_world.mtu;
	case 3:
		return rx_world.mtu - 1;
	case 4:
		return rx_world.mtu + 1;
	case 5:
		return r[R_NUMBER];
	case 6:
		return r[R_NUMBER] * 8u;
	default:
		return natural_length(qp, opcode, psn, r);
	}
}

/** Memory that a frame names: a region, or the window. */
struct target {
	uint64_t at;
	uint64_t length;
	uint32_t key;
};

static struct target
target_of(const struct rx_side *side, const uint8_t *r)
{
	uint32_t region = (r[R_LENGTH] >> 3 & 15) % (RX_REGIONS + 1);

	if (region == RX_REGIONS)
		return (struct target){
			.at = (uintptr_t)rx_region_at(side, RX_UNDER) + RX_WINDOW_OFF,
			.length = RX_WINDOW_LEN,
			.key = side->window_key[(side->binds - 1) % RX_WINDOW_KEYS],
		};
	return (struct target){
		.at = (uintptr_t)rx_region_at(side, region),
		.length = rx_region_len(region),
		.key = side->key[region],
	};
}

/* A place in memory of the side, or beside it. */
static uint64_t
va_of(const struct target *target, uint32_t length, const uint8_t *r)
{
	uint64_t at = target->at;
	uint64_t end = at + target->length;
	uint64_t offset = (uint64_t)(r[R_VA] >> 3) * 8;

	switch (r[R_VA] & 7) {
	case 1:
		return end - length + (uint64_t)(r[R_VA] >> 3);
	case 2:
		return at - 1 - (uint64_t)(r[R_VA] >> 3);
	case 3:
		return UINT64_MAX - offset;
	case 4:
		return offset;
	case 5:
		return at + 1 + (uint64_t)(r[R_VA] >> 3);
	case 6:
		return end;
	case 7:
		return base_u24(r + R_VALUE) * UINT64_C(0x10000000001);
	default:
		return at + offset;
	}
}

static void
put_reth(uint8_t *at, const struct rx_side *side, uint32_t payload, const uint8_t *r)
{
	static const uint32_t edge[8] = { 0, 1, UINT32_C(1) << 31, (UINT32_C(1) << 31) + 1,
		UINT32_MAX, 0x7fffffff, RX_PATTERN, RX_PATTERN + 1 };
	const struct target target = target_of(side, r);
	uint32_t length = r[R_EXTRA] < 0x80 ? payload + r[R_EXTRA] * 16u : edge[r[R_EXTRA] & 7];
	const struct roce_reth reth = {
		.va = rte_cpu_to_be_64(va_of(&target, length, r)),
		.rkey = rte_cpu_to_be_32(
				target.key + (r[R_LENGTH] & 0x80 ? base_u24(r + R_VALUE) : 0)),
		.length = rte_cpu_to_be_32(length),
	};

	memcpy(at, &reth, sizeof(reth));
}

static void
put_atomic(uint8_t *at, const struct rx_side *side, const uint8_t *r)
{
	const struct target target = target_of(side, r);
	const struct roce_atomiceth eth = {
		.va = rte_cpu_to_be_64(va_of(&target, 8, r)),
		.rkey = rte_cpu_to_be_32(target.key + (r[R_LENGTH] & 0x80 ? 1 : 0)),
		.swap_or_add = rte_cpu_to_be_64(base_u24(r + R_VALUE)),
		.compare = 0,
	};

	memcpy(at, &eth, sizeof(eth));
}

/* The key that a SEND with invalidate names. */
static void
put_key(uint8_t *at, const struct rx_side *side, const uint8_t *r)
{
	rte_be32_t key = rte_cpu_to_be_32(target_of(side, r).key ^
			(r[R_LENGTH] & 0x80 ? 1u << (r[R_VALUE] & 31) : 0));

	memcpy(at, &key, sizeof(key));
}

/* Headers behind the BTH, and the payload. */
static void
fill(uint8_t *at, const struct rx_end *end, uint8_t opcode, uint32_t payload, const uint8_t *r)
{
	uint32_t extension = oracle_header_len(opcode) - (uint32_t)sizeof(struct roce_bth);
	uint16_t flags = roce_opcode[opcode].flags;
	rte_be32_t aeth = roce_aeth_pack(r[R_EXTRA], base_u24(r + R_VALUE));

	memset(at, r[R_EXTRA], extension);
	if (flags & ROCE_OP_RETH)
		put_reth(at, end->side, payload, r);
	if (flags & ROCE_OP_ATOMIC)
		put_atomic(at, end->side, r);
	if (flags & ROCE_OP_AETH)
		memcpy(at, &aeth, sizeof(aeth));
	if (flags & ROCE_OP_IETH)
		put_key(at, end->side, r);
	for (uint32_t i = 0; i < payload; i++)
		at[extension + i] = (uint8_t)(0xc0 + i);
}

/* Of an opcode that nobody serves a frame is a BTH and bytes. */
static void
put_opcode(struct rx_flat *flat, const struct roce_template *t, uint8_t opcode)
{
	flat->bytes[t->bth_off] = opcode;
}

static void
build(struct rx_end *end, const uint8_t *r, struct rx_flat *flat)
{
	uint8_t opcode = r[R_TALK] & 8 ? r[R_OPCODE] : opcodes[r[R_OPCODE] % sizeof(opcodes)];
	uint8_t like = oracle_header_len(opcode) != 0 ? opcode : IBV_OPCODE_RC_SEND_ONLY;
	uint32_t psn = psn_of(end->qp, r);
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = like,
		.ack_req = r[R_TALK] & 0x20,
		.solicited = r[R_TALK] & 0x40,
		.payload_len = length_of(end->qp, like, psn, r),
	};
	struct rte_mbuf *m = base_scratch();
	uint8_t *at;

	at = roce_frame_build(m, &end->template, &spec);
	fill(at, end, like, spec.payload_len, r);
	flat->len = m->data_len;
	memcpy(flat->bytes, rte_pktmbuf_mtod(m, void *), flat->len);
	put_opcode(flat, &end->template, opcode);
}

void
rx_forge(const uint8_t *r, struct rx_flat *flat)
{
	struct rx_side *side = &rx_world.side[r[R_TALK] >> 7];
	struct rx_end *end = &side->end[r[R_TALK] & 7];

	flat->len = 0;
	flat->genuine = false;
	flat->to = side->index;
	flat->talk = end->talk;
	flat->stripped = r[R_SHAPE] & 0x10;
	flat->cut = (struct base_cut){ .first = r[R_CUT],
		.second = (uint16_t)((r[R_SHAPE] >> 2 & 3) * 5),
		.offset = (uint8_t)((r[R_SHAPE] & 3) * 2) };
	/* One that was never connected has no template: what an IPv4 one is like will do. */
	if (end->qp == NULL || end->template.bth_off == 0)
		return;
	build(end, r, flat);
	rx_patch(flat, r + R_PATCH);
	if (r[R_TALK] & 0x10)
		flat->bytes[flat->len > 0 ? flat->len - 1 : 0] ^= 0x40;
	else
		(void)oracle_seal(flat->bytes, flat->len);
}
