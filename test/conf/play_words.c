/* SPDX-License-Identifier: BSD-3-Clause */
/* The longer statements of rules: frames, requests, receives, completions. */

#include <string.h>

#include "play_pvt.h"

/* Answers go by what they say. */
static bool
answer_of(const struct play *p, const char *name, struct stage_frame *f)
{
	static const struct {
		const char *name;
		uint8_t syndrome;
	} answer[] = {
		{ "ACK", FX_ACK },
		{ "NAK_SEQ", FX_NAK(ROCE_NAK_PSN_SEQUENCE) },
		{ "NAK_INV", FX_NAK(ROCE_NAK_INVALID_REQUEST) },
		{ "NAK_ACCESS", FX_NAK(ROCE_NAK_REMOTE_ACCESS) },
		{ "NAK_OP", FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL) },
		{ "RNR", FX_RNR(12) },
	};

	f->opcode = IBV_OPCODE_RC_ACKNOWLEDGE;
	for (size_t i = 0; i < RTE_DIM(answer); i++) {
		if (play_is(name, answer[i].name)) {
			f->syndrome = answer[i].syndrome;
			return true;
		}
	}
	if (strncmp(name, "NAK_", 4) != 0 && strncmp(name, "SYN_", 4) != 0)
		return false;
	f->syndrome = (uint8_t)play_number(p, name + 4);
	if (name[0] == 'N')
		f->syndrome |= ROCE_AETH_NAK;
	return true;
}

/* A word of a frame that is followed by a number. @return false: there is none such. */
static bool
number_of_frame(struct play *p, const char *word, struct stage_frame *f)
{
	uint64_t value;

	if (!play_is(word, "len") && !play_is(word, "va") && !play_is(word, "abs") &&
			!play_is(word, "dma") && !play_is(word, "msn") &&
			!play_is(word, "credits") && !play_is(word, "timer") &&
			!play_is(word, "add") && !play_is(word, "swap") && !play_is(word, "cmp") &&
			!play_is(word, "orig") && !play_is(word, "from") &&
			!play_is(word, "acked") && !play_is(word, "syndrome"))
		return false;
	value = play_number(p, play_next(p));
	if (play_is(word, "len"))
		f->len = (uint32_t)value;
	else if (play_is(word, "va"))
		f->va = value;
	else if (play_is(word, "abs"))
		f->va = value - (uintptr_t)p->stage->end.memory;
	else if (play_is(word, "dma"))
		f->dma = (uint32_t)value;
	else if (play_is(word, "credits") || play_is(word, "timer"))
		f->syndrome = (uint8_t)((f->syndrome & ROCE_AETH_KIND_MASK) | value);
	else if (play_is(word, "syndrome"))
		f->syndrome = (uint8_t)value;
	else if (play_is(word, "acked"))
		f->acked = (int32_t)value;
	else if (play_is(word, "add") || play_is(word, "swap"))
		f->add = value;
	else if (play_is(word, "cmp"))
		f->compare = value;
	else if (play_is(word, "orig"))
		f->original = value;
	else if (play_is(word, "from"))
		f->from = (int64_t)value;
	else {
		f->msn = (uint32_t)value;
		f->msn_told = true;
	}
	return true;
}

struct stage_frame
play_frame(struct play *p)
{
	struct stage_frame f = { .from = -1, .key = p->stage->key[KEY_ALL], .syndrome = FX_ACK };
	const char *word = play_next(p);

	if (word == NULL || (!answer_of(p, word, &f) && !stage_opcode_of(word, &f.opcode)))
		play_fail(p, "there is no such opcode");
	play_range(p, play_next(p), &f.psn, &f.last);
	while ((word = play_next(p)) != NULL) {
		if (number_of_frame(p, word, &f))
			continue;
		if (play_is(word, "ack"))
			f.ack = true;
		else if (play_is(word, "se"))
			f.solicited = true;
		else if (play_is(word, "ce"))
			f.marked = true;
		else if (play_is(word, "key"))
			f.key = play_key(p, play_next(p));
		else
			play_fail(p, "there is no such word of a frame");
	}
	return f;
}

static void
verb_of(const struct play *p, const char *name, struct roce_wr *wr)
{
	static const struct {
		const char *name;
		uint8_t opcode;
	} verb[] = {
		{ "SEND", IBV_WR_SEND },
		{ "SEND_IMM", IBV_WR_SEND_WITH_IMM },
		{ "SEND_INV", IBV_WR_SEND_WITH_INV },
		{ "WRITE", IBV_WR_RDMA_WRITE },
		{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM },
		{ "READ", IBV_WR_RDMA_READ },
		{ "CAS", IBV_WR_ATOMIC_CMP_AND_SWP },
		{ "FADD", IBV_WR_ATOMIC_FETCH_AND_ADD },
	};

	for (size_t i = 0; i < RTE_DIM(verb); i++) {
		if (play_is(name, verb[i].name)) {
			wr->opcode = verb[i].opcode;
			return;
		}
	}
	play_fail(p, "there is no such verb");
}

static void
flag_of(const struct play *p, const char *word, struct roce_wr *wr)
{
	if (play_is(word, "fence"))
		wr->flags |= ROCE_WR_FENCE;
	else if (play_is(word, "se"))
		wr->flags |= ROCE_WR_SOLICITED;
	else if (play_is(word, "silent"))
		wr->flags &= (uint8_t)~ROCE_WR_SIGNALED;
	else
		play_fail(p, "there is no such word of a request");
}

static void
word_of_request(struct play *p, const char *word, struct roce_wr *wr, struct roce_sge *sge)
{
	if (play_is(word, "len"))
		sge->length = (uint32_t)play_number(p, play_next(p));
	else if (play_is(word, "at"))
		sge->addr += play_number(p, play_next(p));
	else if (play_is(word, "va"))
		wr->remote_addr += play_number(p, play_next(p));
	else if (play_is(word, "add") || play_is(word, "cmp"))
		wr->compare_add = play_number(p, play_next(p));
	else if (play_is(word, "swap"))
		wr->swap = play_number(p, play_next(p));
	else if (play_is(word, "key"))
		wr->imm = rte_cpu_to_be_32(play_key(p, play_next(p)));
	else
		flag_of(p, word, wr);
}

void
play_post(struct play *p)
{
	struct roce_sge sge = { (uintptr_t)p->stage->end.memory, 0, p->stage->end.key };
	struct roce_wr wr = { .flags = ROCE_WR_SIGNALED,
		.imm = FX_IMM,
		.rkey = STAGE_RKEY,
		.remote_addr = STAGE_REMOTE,
		.sg = &sge };
	int32_t first, last;
	const char *word;

	play_range(p, play_next(p), &first, &last);
	verb_of(p, play_next(p), &wr);
	while ((word = play_next(p)) != NULL)
		word_of_request(p, word, &wr, &sge);
	wr.num_sge = sge.length > 0;
	for (; first <= last; first++) {
		wr.wr_id = (uint64_t)first;
		if (roce_qp_post_send(p->stage->qp, &wr) != 0)
			play_fail(p, "it was not taken");
	}
}

void
play_receive(struct play *p)
{
	const uint64_t id = play_number(p, play_next(p));
	const char *word = play_next(p);
	uint32_t len = 4 * FX_MTU;
	struct roce_recv_wr wr;
	struct roce_sge sge;

	if (play_is(word, "len"))
		len = (uint32_t)play_number(p, play_next(p));
	wr = fx_recv(&p->stage->end, &sge, id, FX_MEMORY / 2, len);
	if ((p->stage->options.own ? roce_qp_post_recv(p->stage->qp, &wr)
				   : roce_srq_post(p->stage->end.srq, &wr)) != 0)
		play_fail(p, "it was not taken");
}

enum ibv_wc_status
play_status(const struct play *p, const char *name)
{
	static const struct {
		const char *name;
		enum ibv_wc_status status;
	} status[] = {
		{ "success", IBV_WC_SUCCESS },
		{ "flush", IBV_WC_WR_FLUSH_ERR },
		{ "length", IBV_WC_LOC_LEN_ERR },
		{ "local", IBV_WC_LOC_PROT_ERR },
		{ "invalid", IBV_WC_REM_INV_REQ_ERR },
		{ "access", IBV_WC_REM_ACCESS_ERR },
		{ "operation", IBV_WC_REM_OP_ERR },
		{ "retries", IBV_WC_RETRY_EXC_ERR },
		{ "rnr", IBV_WC_RNR_RETRY_EXC_ERR },
		{ "bad_response", IBV_WC_BAD_RESP_ERR },
		{ "window", IBV_WC_MW_BIND_ERR },
	};

	for (size_t i = 0; i < RTE_DIM(status); i++) {
		if (play_is(name, status[i].name))
			return status[i].status;
	}
	play_fail(p, "there is no such status");
	return IBV_WC_GENERAL_ERR;
}

/* The fields that a successful completion must have beside its number. */
static struct roce_event
event_told(struct play *p)
{
	struct roce_event want = { .byte_len = UINT32_MAX };
	const char *word;

	while ((word = play_next(p)) != NULL) {
		if (play_is(word, "len")) {
			want.byte_len = (uint32_t)play_number(p, play_next(p));
		} else if (play_is(word, "imm")) {
			want.flags |= ROCE_EVENT_IMM;
			want.imm = FX_IMM;
		} else if (play_is(word, "se")) {
			want.flags |= ROCE_EVENT_SOLICITED;
		} else if (play_is(word, "write")) {
			want.flags |= ROCE_EVENT_WRITE;
		} else if (play_is(word, "inv")) {
			want.flags |= ROCE_EVENT_INVALID;
			want.imm = rte_cpu_to_be_32(play_key(p, play_next(p)));
		} else {
			play_fail(p, "there is no such word of a completion");
		}
	}
	return want;
}

static void
judge_event(struct play *p, struct roce_cq *cq, int32_t id, enum ibv_wc_status status,
		const struct roce_event *want)
{
	struct roce_event event;

	if (roce_cq_poll(cq, &event, 1) != 1)
		play_fail(p, "nothing completed");
	if (event.wr_id != (uint64_t)id)
		play_fail(p, "another one completed");
	if (event.status != status)
		play_fail(p, "it has another status");
	if (status != IBV_WC_SUCCESS)
		return;
	if (want->byte_len != UINT32_MAX && event.byte_len != want->byte_len)
		play_fail(p, "it has another length");
	if (event.flags != want->flags)
		play_fail(p, "it has other flags");
	if (want->flags != 0 && event.imm != want->imm)
		play_fail(p, "it has other immediate data");
}

void
play_event(struct play *p)
{
	struct roce_cq *cq = p->stage->end.recv_cq;
	const char *which = play_next(p);
	enum ibv_wc_status status;
	struct roce_event want;
	int32_t first, last;

	if (play_is(which, "send"))
		cq = p->stage->end.send_cq;
	else if (!play_is(which, "recv"))
		play_fail(p, "a completion is of recv or send");
	play_range(p, play_next(p), &first, &last);
	status = play_status(p, play_next(p));
	want = event_told(p);
	for (; first <= last; first++)
		judge_event(p, cq, first, status, &want);
}
