/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/extbuf.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/complete.h"
#include "queue/frames.h"
#include "queue/qp_end.h"
#include "queue/sge.h"

/* References are counted in 16 bits; a request that is sent again and again to a device that keeps all of it copies. */
#define REFERENCES_MAX (UINT16_MAX / 2)

/* In place of the status of a request: it has no completion. */
#define DROPPED UINT8_MAX

/* The references to the memory of one request. All but the shared info and the first link is the engine's. */
struct extbuf {
	struct rte_mbuf_ext_shared_info shinfo;
	struct roce_extbufs *all;
	struct extbuf *next;                  /* of the free ones, or of those released */
	struct roce_qp *qp;                   /* whose request it is; NULL: nobody waits */
	uint32_t request;                     /* its slot */
	uint16_t region[ROCE_EXTBUF_REGIONS]; /* places of the key table; 0: none */
};

static_assert(sizeof(struct extbuf) <= RTE_CACHE_LINE_SIZE, "a request has one line of it");

struct roce_extbufs {
	struct extbuf *released; /* stack; atomic */
	uint32_t users;          /* the engine, and each one that is not free; atomic */
	uint32_t waiting;        /* ended, and not released */
	struct extbuf *free;
	struct roce_memory memory;
	struct extbuf at[ROCE_EXTBUFS_MAX];
};

static void
leave(struct roce_extbufs *all)
{
	struct roce_memory memory = all->memory;

	if (__atomic_sub_fetch(&all->users, 1, __ATOMIC_ACQ_REL) == 0)
		memory.free(memory.arg, all);
}

/* rte_mbuf_extbuf_free_callback_t: the last frame is gone, and the request ended before. On the thread of who freed it. */
static void
push_release(void *addr, void *opaque)
{
	struct extbuf *buf = opaque;
	struct roce_extbufs *all = buf->all;
	struct extbuf *top = __atomic_load_n(&all->released, __ATOMIC_RELAXED);

	do {
		buf->next = top;
	} while (!__atomic_compare_exchange_n(
			&all->released, &top, buf, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	leave(all);
}

int
roce_extbufs_create(struct roce_engine *e)
{
	struct roce_extbufs *all = roce_alloc(e->domain, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	all->users = 1;
	all->memory = e->domain->config.memory;
	for (uint32_t i = ROCE_EXTBUFS_MAX; i-- > 0;) {
		all->at[i].all = all;
		all->at[i].next = all->free;
		all->free = &all->at[i];
	}
	e->extbufs = all;
	return 0;
}

void
roce_extbufs_destroy(struct roce_engine *e)
{
	if (e->extbufs != NULL)
		leave(e->extbufs);
}

bool
roce_extbufs_released(const struct roce_engine *e)
{
	return __atomic_load_n(&e->extbufs->released, __ATOMIC_RELAXED) != NULL;
}

bool
roce_extbufs_wait(const struct roce_engine *e)
{
	return e->extbufs != NULL && e->extbufs->waiting > 0;
}

static struct roce_mr *
region_at(struct roce_engine *e, uint16_t place)
{
	return roce_keys_entry(&e->domain->keys, (uint32_t)place << 8);
}

/* No frame refers to the memory any more. */
static void
come_home(struct roce_engine *e, struct extbuf *buf)
{
	struct roce_extbufs *all = e->extbufs;

	for (unsigned int i = 0; i < ROCE_EXTBUF_REGIONS && buf->region[i] != 0; i++) {
		struct roce_mr *mr = region_at(e, buf->region[i]);

		/* It is there for as long as it has visitors; the compiler cannot know. */
		if (likely(mr != NULL))
			__atomic_fetch_sub(&mr->visitors, 1, __ATOMIC_RELEASE);
	}
	buf->next = all->free;
	all->free = buf;
}

/*
 * Completions in order, up to the first one that waits. A bind in a reused slot is seen by its opcode: what stands where
 * its references would is something else.
 */
static void
tell_ended(struct roce_qp *qp)
{
	while (qp->done != qp->tx.tail) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->done);

		if (!roce_wqe_is_bind(wqe) && wqe->extbuf != 0)
			break;
		if (likely(wqe->status != DROPPED))
			roce_qp_end_request(qp, &qp->done, (enum ibv_wc_status)wqe->status);
		else
			__atomic_store_n(&qp->done, qp->done + 1, __ATOMIC_RELEASE);
	}
}

void
roce_extbufs_collect(struct roce_engine *e)
{
	struct extbuf *buf, *next;

	if (likely(!roce_extbufs_released(e)))
		return;
	for (buf = __atomic_exchange_n(&e->extbufs->released, NULL, __ATOMIC_ACQUIRE); buf != NULL;
			buf = next) {
		struct roce_qp *qp = buf->qp;
		uint32_t request = buf->request;

		next = buf->next;
		e->extbufs->waiting--;
		come_home(e, buf);
		if (qp != NULL) {
			roce_wq_slot(&qp->wq, request)->extbuf = 0;
			tell_ended(qp);
			roce_qp_check_drained(qp);
		}
	}
}

static struct extbuf *
take(struct roce_qp *qp, uint32_t request)
{
	struct roce_extbufs *all = qp->engine->extbufs;
	struct extbuf *buf = all->free;

	if (buf == NULL)
		return NULL;
	all->free = buf->next;
	buf->shinfo = (struct rte_mbuf_ext_shared_info){
		.free_cb = push_release,
		.fcb_opaque = buf,
	};
	rte_mbuf_ext_refcnt_set(&buf->shinfo, 1);
	buf->qp = qp;
	buf->request = request;
	memset(buf->region, 0, sizeof(buf->region));
	__atomic_fetch_add(&all->users, 1, __ATOMIC_RELAXED);
	return buf;
}

/* Keep the region for as long as the request's frames. @return false: it has too many. */
static bool
keep_region(struct extbuf *buf, struct roce_mr *mr)
{
	for (unsigned int i = 0; i < ROCE_EXTBUF_REGIONS; i++) {
		if (buf->region[i] == mr->place)
			return true;
		if (buf->region[i] != 0)
			continue;
		buf->region[i] = mr->place;
		__atomic_fetch_add(&mr->visitors, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* The part of a segment that is the whole payload. @return false: it lies in several segments. */
static bool
find_part(const struct roce_wqe *wqe, uint32_t offset, uint32_t len, struct roce_sge *part)
{
	const struct roce_sge *sge = wqe->sge;

	for (; offset >= sge->length; sge++)
		offset -= sge->length;
	if (sge->length - offset < len)
		return false;
	*part = (struct roce_sge){ .addr = sge->addr + offset, .length = len, .lkey = sge->lkey };
	return true;
}

/* The references of the request at next, which can take one more; NULL: they cannot, or none are left. */
static struct extbuf *
references_of(struct roce_qp *qp, struct roce_wqe *wqe, struct roce_mr *mr)
{
	struct roce_extbufs *all = qp->engine->extbufs;
	struct extbuf *buf;

	if (wqe->extbuf == 0) {
		buf = take(qp, qp->tx.next);
		if (buf == NULL)
			return NULL;
		wqe->extbuf = (uint16_t)(buf - all->at + 1);
	}
	buf = &all->at[wqe->extbuf - 1];
	if (rte_mbuf_ext_refcnt_read(&buf->shinfo) >= REFERENCES_MAX || !keep_region(buf, mr))
		return NULL;
	return buf;
}

/* Chain a segment behind others. */
static void
chain(struct rte_mbuf *m, struct rte_mbuf *last, struct rte_mbuf *segment, uint32_t len)
{
	segment->data_len = (uint16_t)len;
	segment->pkt_len = len;
	last->next = segment;
	m->nb_segs++;
}

/*
 * A frame that was built as one segment becomes three. Its length stays; pad bytes are zero wherever they lie.
 */
static void
split(struct rte_mbuf *m, struct rte_mbuf *payload, struct rte_mbuf *end, uint32_t head,
		uint32_t len)
{
	uint32_t rest = m->pkt_len - head - len;

	m->data_len = (uint16_t)head;
	memset(rte_pktmbuf_mtod(end, uint8_t *), 0, rest);
	chain(m, m, payload, len);
	chain(m, payload, end, rest);
}

/* @return true: the payload is a segment of its own; false: it has to be copied. */
static bool
refer(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t head,
		const struct roce_sge *part)
{
	struct roce_engine *e = qp->engine;
	const struct roce_extbuf_config *config = &e->domain->config.extbuf;
	void *addr = (void *)(uintptr_t)part->addr;
	struct roce_mr *mr = roce_keys_entry(&e->domain->keys, part->lkey);
	struct rte_mbuf *payload, *end;
	struct extbuf *buf;
	rte_iova_t iova;

	if (!(mr->access & ROCE_MR_EXTBUF))
		return false;
	iova = config->iova(config->arg, addr, part->length);
	if (iova == RTE_BAD_IOVA)
		return false;
	payload = roce_engine_frame(e);
	if (payload == NULL)
		return false;
	end = roce_engine_frame(e);
	buf = end != NULL ? references_of(qp, wqe, mr) : NULL;
	if (buf == NULL) {
		if (end != NULL)
			roce_engine_unframe(e, end);
		roce_engine_unframe(e, payload);
		return false;
	}
	rte_mbuf_ext_refcnt_update(&buf->shinfo, 1);
	rte_pktmbuf_attach_extbuf(payload, addr, iova, (uint16_t)part->length, &buf->shinfo);
	split(m, payload, end, head, part->length);
	return true;
}

int
roce_extbuf_finish(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint8_t *to,
		uint32_t len)
{
	const struct roce_keys *keys = &qp->engine->domain->keys;
	uint32_t head = (uint32_t)(to - rte_pktmbuf_mtod(m, uint8_t *));
	struct roce_sge part;
	int rc;

	if (len < qp->engine->domain->config.extbuf.least) {
		rc = roce_sge_copy_out(keys, qp->pd, wqe->sge, qp->tx.offset, to, len);
	} else if (!find_part(wqe, qp->tx.offset, len, &part)) {
		qp->engine->stats.tx_zero_copy_missed++;
		rc = roce_sge_copy_out(keys, qp->pd, wqe->sge, qp->tx.offset, to, len);
	} else {
		rc = roce_keys_check(keys, qp->pd, &part, 0);
		if (unlikely(rc != 0))
			return rc;
		if (likely(refer(qp, wqe, m, head, &part))) {
			qp->engine->stats.tx_zero_copy++;
			roce_icrc_put_chain(m, &qp->cold.template);
			return 0;
		}
		qp->engine->stats.tx_zero_copy_missed++;
		memcpy(to, (const void *)(uintptr_t)part.addr, len);
	}
	if (likely(rc == 0))
		roce_icrc_put(m, &qp->cold.template);
	return rc;
}

/* The request holds its memory no longer. @return true: nor does anybody else. */
static bool
let_go(struct roce_engine *e, struct extbuf *buf)
{
	struct roce_extbufs *all = e->extbufs;

	/* Not DPDK's update, which orders nothing when the frames are gone: they were read elsewhere before. */
	if (__atomic_sub_fetch(&buf->shinfo.refcnt, 1, __ATOMIC_ACQ_REL) != 0) {
		all->waiting++;
		return false;
	}
	come_home(e, buf);
	leave(all);
	return true;
}

/* Was a frame ever made of the request at @p i, so that it may have references? */
static bool
has_references(const struct roce_qp *qp, uint32_t i)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);

	return (int32_t)(i - qp->tx.begun) < 0 && !roce_wqe_is_bind(wqe) && wqe->extbuf != 0;
}

void
roce_extbuf_complete(struct roce_qp *qp, enum ibv_wc_status status)
{
	struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.tail);
	struct roce_engine *e = qp->engine;

	wqe->status = (uint8_t)status;
	if (has_references(qp, qp->tx.tail)) {
		if (let_go(e, &e->extbufs->at[wqe->extbuf - 1]))
			wqe->extbuf = 0;
		else
			e->stats.tx_release_waits++;
	} else if (!roce_wqe_is_bind(wqe)) {
		wqe->extbuf = 0;
	}
	__atomic_store_n(&qp->tx.tail, qp->tx.tail + 1, __ATOMIC_RELEASE);
	tell_ended(qp);
}

void
roce_extbuf_drop(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine;

	for (uint32_t i = qp->tx.tail; i != roce_qp_posted(qp); i++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);

		wqe->status = DROPPED;
		if (roce_wqe_is_bind(wqe))
			continue;
		if (!has_references(qp, i) || let_go(e, &e->extbufs->at[wqe->extbuf - 1]))
			wqe->extbuf = 0;
	}
	__atomic_store_n(&qp->tx.tail, roce_qp_posted(qp), __ATOMIC_RELEASE);
	tell_ended(qp);
}

void
roce_extbuf_forget(struct roce_qp *qp)
{
	struct roce_extbufs *all = qp->engine->extbufs;

	for (uint32_t i = qp->done; i != qp->tx.tail; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);

		if (!roce_wqe_is_bind(wqe) && wqe->extbuf != 0)
			all->at[wqe->extbuf - 1].qp = NULL;
	}
}
