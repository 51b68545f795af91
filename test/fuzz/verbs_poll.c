/* SPDX-License-Identifier: BSD-3-Clause */

/* Completions and events of a fuzzed program: each once, in order, and of something that is there. */

#include "verbs_world.h"

#define SETTLE_POLLS 64u

/** The content of a completion, whichever way it was polled. */
struct completion {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t qp_num;
};

/* Requests in front of it, in the same queue, are over: those that are not signaled in silence. */
static void
judge_order(uint32_t index)
{
	const struct vw_request *done = &vw.requests[index];

	if (done->srq != NULL)
		return;
	for (uint32_t i = 0; i < index; i++) {
		struct vw_request *request = &vw.requests[i];

		if (request->qp != done->qp || request->receive != done->receive ||
				request->state != VW_POSTED)
			continue;
		BASE_MUST(!request->signaled || vw.tight, "completions of a queue come in order");
		request->state = VW_SILENT;
	}
}

static void
judge(const struct ibv_cq *cq, const struct completion *c)
{
	const uint32_t index = (uint32_t)c->wr_id;
	struct vw_request *request = &vw.requests[index];

	BASE_MUST((c->wr_id & ~(uint64_t)UINT32_MAX) == VW_COOKIE && index < vw.posted,
			"a completion has the wr_id of a request");
	BASE_MUST(request->state != VW_FREE, "what was refused does not complete");
	BASE_MUST(request->state != VW_GONE, "requests end with their queue pair");
	BASE_MUST(request->state == VW_POSTED, "a request completes once");
	BASE_MUST((unsigned int)c->status <= IBV_WC_GENERAL_ERR, "a completion has a status");
	if (c->status == IBV_WC_SUCCESS) {
		BASE_MUST(!(c->opcode & IBV_WC_RECV) == !request->receive,
				"a completion is of the kind of its request");
		BASE_MUST(request->signaled || request->unsure,
				"success of a request that is not signaled is silent");
	}
	if (request->qp != NULL) {
		BASE_MUST(cq == (request->receive ? request->qp->recv_cq : request->qp->send_cq),
				"a completion comes to the queue of its queue pair");
		BASE_MUST(c->qp_num == request->qp->qp_num, "a completion names its queue pair");
	}
	judge_order(index);
	request->state = VW_DONE;
}

static int
poll_plain(struct ibv_cq *cq, int n)
{
	struct ibv_wc wc[20];
	const int got = ibv_poll_cq(cq, n, wc);

	BASE_MUST(n < 0 ? got < 0 : got >= 0 && got <= n, "no more completions than asked for");
	for (int i = 0; i < got; i++)
		judge(cq,
				&(struct completion){ wc[i].wr_id, wc[i].status, wc[i].opcode,
						wc[i].qp_num });
	return got;
}

static int
poll_extended(struct ibv_cq *cq, int n, uint32_t comp_mask)
{
	struct ibv_cq_ex *ex = (struct ibv_cq_ex *)(void *)cq;
	struct ibv_poll_cq_attr attr = { .comp_mask = comp_mask };
	int rc = vw_result(ibv_start_poll(ex, &attr));
	int got = 0;

	if (rc != 0)
		return 0;
	for (; rc == 0; rc = got < n ? ibv_next_poll(ex) : ENOENT) {
		struct completion c = { ex->wr_id, ex->status, IBV_WC_SEND,
			ibv_wc_read_qp_num(ex) };

		if (c.status == IBV_WC_SUCCESS) {
			c.opcode = ibv_wc_read_opcode(ex);
			(void)ibv_wc_read_byte_len(ex);
			(void)ibv_wc_read_imm_data(ex);
			(void)ibv_wc_read_invalidated_rkey(ex);
			(void)ibv_wc_read_wc_flags(ex);
			(void)ibv_wc_read_src_qp(ex);
			(void)ibv_wc_read_slid(ex);
			(void)ibv_wc_read_sl(ex);
			(void)ibv_wc_read_dlid_path_bits(ex);
		}
		(void)ibv_wc_read_vendor_err(ex);
		judge(cq, &c);
		got++;
	}
	ibv_end_poll(ex);
	return got;
}

void
vw_poll_cq(const uint8_t *r)
{
	const struct vw_object *object = vw_some(VW_CQ, r[1]);

	if (object == NULL)
		return;
	if (object->extended && r[2] & 1)
		(void)poll_extended(object->cq, r[3] % 20, r[4] & 7 ? 0 : r[5]);
	else
		(void)poll_plain(object->cq, r[3] < 0xfc ? r[3] % 20 : -(int)r[4] - 1);
}

void
vw_drain(void)
{
	for (unsigned int i = 0; i < VW_SLOTS; i++) {
		const struct vw_object *object = &vw.objects[VW_CQ][i];

		while (object->any != NULL && poll_plain(object->cq, 20) > 0)
			;
	}
}

void
vw_notify(const uint8_t *r)
{
	const struct vw_object *object = vw_some(VW_CQ, r[1]);

	if (object != NULL)
		BASE_MUST(ibv_req_notify_cq(object->cq, (int8_t)r[2]) == 0, "a queue is armed");
}

static struct vw_object *
object_of(enum vw_kind kind, const void *any)
{
	for (unsigned int i = 0; i < VW_SLOTS; i++) {
		if (vw.objects[kind][i].any == any)
			return &vw.objects[kind][i];
	}
	return NULL;
}

void
vw_get_event(const uint8_t *r)
{
	const struct vw_object *channel = vw_some(VW_CHANNEL, r[1]);
	struct vw_object *object;
	struct ibv_cq *cq;
	void *context;

	if (channel == NULL)
		return;
	errno = 0;
	if (ibv_get_cq_event(channel->channel, &cq, &context) != 0) {
		BASE_MUST(errno == EAGAIN, "a channel without events says so");
		return;
	}
	object = object_of(VW_CQ, cq);
	BASE_MUST(object != NULL && object->uses[0] == channel->any && context == &vw,
			"an event is of a queue of the channel");
	object->unacked++;
}

void
vw_ack(const uint8_t *r)
{
	struct vw_object *object = vw_some(VW_CQ, r[1]);
	uint32_t n;

	if (object == NULL || object->unacked == 0)
		return;
	n = r[2] % (object->unacked + 1);
	ibv_ack_cq_events(object->cq, n);
	object->unacked -= n;
}

static void *
element_of(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
	case IBV_EVENT_SQ_DRAINED:
		return event->element.qp;
	default:
		return NULL;
	}
}

static void
ack_pending(uint32_t i)
{
	ibv_ack_async_event(&vw.pending[i]);
	vw.pending[i] = vw.pending[--vw.pendings];
}

void
vw_async(const uint8_t *r)
{
	struct ibv_async_event event;
	const void *element;

	if (vw.pendings > 0 && (r[1] & 1 || vw.pendings == VW_PENDING)) {
		ack_pending(r[2] % vw.pendings);
		return;
	}
	errno = 0;
	if (ibv_get_async_event(vw.context, &event) != 0) {
		BASE_MUST(errno == EAGAIN, "a context without events says so");
		return;
	}
	element = element_of(&event);
	BASE_MUST(element == NULL || object_of(VW_CQ, element) != NULL ||
					object_of(VW_SRQ, element) != NULL ||
					object_of(VW_QP, element) != NULL,
			"an event is of an object that is there");
	vw.pending[vw.pendings++] = event;
}

void
vw_resize(const uint8_t *r)
{
	static const int odd[] = { 0, -1, INT32_MIN, INT32_MAX, (1 << 22) + 1 };
	const struct vw_object *object = vw_some(VW_CQ, r[1]);
	int before, cqe, rc;

	if (object == NULL)
		return;
	before = object->cq->cqe;
	cqe = vw.tight ? 1 + r[2] % 64 : (int)VW_ROOMY + r[2];
	if (r[2] >= 0xf0)
		cqe = VW_PICK(odd, r[2]);
	rc = vw_result(ibv_resize_cq(object->cq, cqe));
	BASE_MUST(rc != 0 ? object->cq->cqe == before : object->cq->cqe >= cqe,
			"a queue has the size that it says");
}

void
vw_forget(const struct ibv_qp *qp)
{
	for (uint32_t i = 0; i < vw.posted; i++) {
		struct vw_request *request = &vw.requests[i];

		if (request->qp != qp)
			continue;
		/* Its address may be that of another queue pair soon. */
		if (request->state == VW_POSTED)
			request->state = VW_GONE;
	}
}

void
vw_ack_all(struct vw_object *object)
{
	if (object->unacked > 0)
		ibv_ack_cq_events(object->cq, object->unacked);
	object->unacked = 0;
	for (uint32_t i = 0; i < vw.pendings;) {
		if (element_of(&vw.pending[i]) == object->any)
			ack_pending(i);
		else
			i++;
	}
}

static bool
owes(const struct vw_request *request)
{
	return request->state == VW_POSTED && request->signaled && request->qp != NULL;
}

void
vw_settle(void)
{
	for (unsigned int i = 0; i < VW_SLOTS; i++) {
		if (vw.objects[VW_QP][i].any != NULL)
			vw_break(vw.objects[VW_QP][i].qp);
	}
	for (unsigned int i = 0; i < SETTLE_POLLS; i++) {
		vw_poll(1);
		vw_drain();
	}
	for (uint32_t i = 0; i < vw.posted && !vw.tight; i++)
		BASE_MUST(!owes(&vw.requests[i]), "what is posted completes");
}
