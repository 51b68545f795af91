/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_pause.h>

#include "queue/mw.h"
#include "queue/qp.h"

/** In access of a bind that was posted: the window is of type 2. No right has this bit. */
#define TYPE2 (1u << 14)

/* A place and the key of the first binding; 0: each bind makes another. Under keys.lock. */
static struct roce_mr *
take_place(struct roce_domain *domain, const struct roce_pd *pd, bool type2, uint32_t *key)
{
	struct roce_mr *entry = roce_keys_take(domain);

	*key = 0;
	if (entry == NULL)
		return NULL;
	if (type2)
		*key = roce_keys_name(&domain->keys, entry);
	entry->pd = NULL;
	entry->region = 0;
	entry->peer = type2 ? NULL : pd;
	entry->birth = entry->uses;
	return entry;
}

static int
create(struct roce_pd *pd, void *owner, bool type2, struct roce_mw **mw)
{
	struct roce_domain *domain = pd->domain;
	struct roce_mw *w = roce_alloc(domain, sizeof(*w));
	struct roce_mr *entry;
	uint32_t key;

	if (w == NULL)
		return -ENOMEM;
	rte_spinlock_lock(&domain->keys.lock);
	entry = take_place(domain, pd, type2, &key);
	rte_spinlock_unlock(&domain->keys.lock);
	if (entry == NULL) {
		roce_free(domain, w);
		return -ENOMEM;
	}
	__atomic_fetch_add(&pd->users, 1, __ATOMIC_RELAXED);
	*w = (struct roce_mw){
		.domain = domain, .entry = entry, .pd = pd, .owner = owner, .key = key
	};
	*mw = w;
	return 0;
}

int
roce_mw_create(struct roce_pd *pd, void *owner, struct roce_mw **mw)
{
	return create(pd, owner, false, mw);
}

int
roce_mw_create_type2(struct roce_pd *pd, void *owner, struct roce_mw **mw)
{
	return create(pd, owner, true, mw);
}

uint32_t
roce_mw_key(const struct roce_mw *mw)
{
	return mw->key;
}

/* The region that a window is bound to. */
static struct roce_mr *
region_of(const struct roce_keys *keys, const struct roce_mr *entry)
{
	return roce_keys_entry(keys, (uint32_t)entry->region << 8);
}

/* The window's binding ends: no access begins any more, and those begun are over. Under keys.lock. */
static void
unbind(const struct roce_keys *keys, struct roce_mr *entry)
{
	if (entry->region == 0)
		return;
	/* A thread that enters counts itself, then looks at the key: one of the two sees the other. */
	__atomic_store_n(&entry->key, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&entry->visitors, __ATOMIC_SEQ_CST) != 0)
		rte_pause();
	region_of(keys, entry)->windows--;
	entry->region = 0;
}

/* A window of type 2 is of the queue pair from now on, one of type 1 of the domain for ever. */
static void
rebind(struct roce_mr *entry, struct roce_mr *region, struct roce_qp *qp,
		const struct roce_wqe *wqe)
{
	const struct roce_wqe_bind *b = roce_wqe_bind(wqe);

	unbind(&qp->engine->domain->keys, entry);
	if (region == NULL)
		return;
	region->windows++;
	entry->region = region->place;
	if (wqe->access & TYPE2) {
		entry->peer = qp;
		qp->cold.binds_type2 = true;
	}
	entry->access = wqe->access & ~TYPE2;
	entry->start = b->addr + region->offset;
	entry->offset = region->offset;
	entry->length = b->length;
	__atomic_store_n(&entry->key, wqe->imm, __ATOMIC_RELEASE);
}

void
roce_mw_destroy(struct roce_mw *mw)
{
	struct roce_domain *domain = mw->domain;
	struct roce_mr *entry = mw->entry;
	struct roce_pd *pd = mw->pd;

	rte_spinlock_lock(&domain->keys.lock);
	unbind(&domain->keys, entry);
	/* Binds that are posted find another one. */
	entry->birth = __atomic_add_fetch(&entry->uses, 1, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&domain->keys.lock);
	roce_domain_grace(domain);
	rte_spinlock_lock(&domain->keys.lock);
	roce_keys_give(&domain->keys, entry);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_sub(&pd->users, 1, __ATOMIC_RELEASE);
	roce_free(domain, mw);
}

bool
roce_mw_query(const struct roce_mw *mw, struct roce_mw_binding *binding)
{
	struct roce_domain *domain = mw->domain;
	const struct roce_mr *entry = mw->entry;
	bool bound;

	rte_spinlock_lock(&domain->keys.lock);
	bound = entry->region != 0;
	if (bound)
		*binding = (struct roce_mw_binding){
			.key = entry->key,
			.mr_key = region_of(&domain->keys, entry)->key,
			.access = entry->access,
			.addr = entry->start - entry->offset,
			.length = entry->length,
		};
	rte_spinlock_unlock(&domain->keys.lock);
	return bound;
}

/* The rights that the region below must grant for a window to grant @p access. */
static uint32_t
needed_below(uint32_t access)
{
	uint32_t needed = access & (IBV_ACCESS_LOCAL_WRITE | ROCE_ACCESS_LOCAL_READ);

	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
		needed |= IBV_ACCESS_LOCAL_WRITE;
	if (access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))
		needed |= ROCE_ACCESS_LOCAL_READ;
	return needed;
}

/* A part of a region with some access: -ENOENT, -ERANGE, -EACCES, -EPERM, in this order. */
static int
judge_region(const struct roce_mr *region, const struct roce_pd *pd, uint64_t addr, uint64_t length,
		uint32_t access)
{
	uint32_t needed = needed_below(access);

	if (region == NULL || region->pd == NULL)
		return -ENOENT;
	if (!roce_mr_holds(region, addr + region->offset, length))
		return -ERANGE;
	if ((region->access & needed) != needed)
		return -EACCES;
	return region->pd == pd ? 0 : -EPERM;
}

int
roce_mw_judge_bind(const struct roce_keys *keys, const struct roce_pd *qp_pd,
		const struct roce_mw_bind *bind)
{
	const struct roce_mw *mw = bind->mw;
	const struct roce_pd *pd = mw->pd;
	int rc = 0;

	if (mw->key != 0 && (bind->length == 0 || ((bind->key ^ mw->key) & ~ROCE_MW_KEY_CHOICE)))
		return -EINVAL;
	if (bind->length != 0)
		rc = judge_region(roce_keys_find(keys, bind->mr_key), pd, bind->addr, bind->length,
				bind->access);
	if (rc == 0 && pd != qp_pd)
		rc = -EPERM;
	return rc;
}

static void
fill(struct roce_wqe *wqe, uint32_t key, uint32_t access)
{
	wqe->imm = key;
	wqe->length = 0;
	wqe->num_sge = 0;
	wqe->verb = ROCE_VERB_NONE;
	wqe->suffix = ROCE_SUFFIX_NONE;
	wqe->access = (uint16_t)access;
}

void
roce_mw_fill_invalidate(uint32_t key, struct roce_wqe *wqe)
{
	fill(wqe, key, 0);
	*roce_wqe_bind(wqe) = (struct roce_wqe_bind){ .addr = 0 };
}

void
roce_mw_fill(struct roce_mw_bind *bind, struct roce_wqe *wqe)
{
	struct roce_mw *mw = bind->mw;

	if (mw->key == 0)
		bind->key = roce_keys_name(&mw->domain->keys, mw->entry);
	fill(wqe, bind->key, (bind->access & ~TYPE2) | (mw->key != 0 ? TYPE2 : 0));
	*roce_wqe_bind(wqe) = (struct roce_wqe_bind){
		.addr = bind->addr,
		.length = bind->length,
		.owner = mw->owner,
		.mr_key = bind->mr_key,
		.birth = mw->entry->birth,
	};
}

/* The window of a bind; NULL: it ended after the post, and perhaps another has its place. Under keys.lock. */
static struct roce_mr *
window_of(const struct roce_keys *keys, const struct roce_wqe *wqe)
{
	struct roce_mr *entry = roce_keys_entry(keys, wqe->imm);
	uint32_t birth = roce_wqe_bind(wqe)->birth;

	return entry->pd == NULL && entry->birth == birth ? entry : NULL;
}

/* Under keys.lock. The post has judged that window and queue pair are of one domain. */
static int
execute_bind(struct roce_keys *keys, struct roce_qp *qp, const struct roce_wqe *wqe)
{
	const struct roce_wqe_bind *b = roce_wqe_bind(wqe);
	struct roce_mr *region = NULL;
	struct roce_mr *entry = window_of(keys, wqe);
	int rc = 0;

	if (entry == NULL)
		return -ENOENT;
	if ((wqe->access & TYPE2) && entry->region != 0)
		return -EBUSY;
	if (b->length != 0) {
		region = roce_keys_find(keys, b->mr_key);
		rc = judge_region(region, qp->pd, b->addr, b->length, wqe->access);
	}
	if (rc == 0)
		rebind(entry, region, qp, wqe);
	return rc;
}

/* Under keys.lock. Only a window of type 2 that is bound is of a queue pair. */
static int
execute_invalidate(const struct roce_keys *keys, const struct roce_qp *qp, uint32_t key)
{
	struct roce_mr *entry = roce_keys_find(keys, key);

	if (entry == NULL || entry->pd != NULL || entry->peer != qp)
		return -EACCES;
	unbind(keys, entry);
	return 0;
}

int
roce_mw_execute(struct roce_qp *qp, const struct roce_wqe *wqe)
{
	struct roce_keys *keys = &qp->engine->domain->keys;
	int rc;

	rte_spinlock_lock(&keys->lock);
	if (wqe->opcode == IBV_WR_LOCAL_INV)
		rc = execute_invalidate(keys, qp, wqe->imm);
	else
		rc = execute_bind(keys, qp, wqe);
	rte_spinlock_unlock(&keys->lock);
	return rc;
}

void
roce_mw_revoke(struct roce_domain *domain, const struct roce_wqe *wqe)
{
	struct roce_mr *entry;

	rte_spinlock_lock(&domain->keys.lock);
	entry = window_of(&domain->keys, wqe);
	/* Another key: it was not executed, or bound again since. */
	if (entry != NULL && entry->key == wqe->imm)
		unbind(&domain->keys, entry);
	rte_spinlock_unlock(&domain->keys.lock);
}

int
roce_mw_invalidate(const struct roce_qp *qp, uint32_t key)
{
	struct roce_keys *keys = &qp->engine->domain->keys;
	struct roce_mr *entry;
	int rc = -EACCES;

	rte_spinlock_lock(&keys->lock);
	entry = roce_keys_find(keys, key);
	if (entry != NULL && entry->pd == NULL && (entry->peer == qp->pd || entry->peer == qp)) {
		unbind(keys, entry);
		rc = 0;
	}
	rte_spinlock_unlock(&keys->lock);
	return rc;
}

void
roce_mw_release(const struct roce_qp *qp)
{
	struct roce_keys *keys = &qp->engine->domain->keys;

	if (!qp->cold.binds_type2)
		return;
	rte_spinlock_lock(&keys->lock);
	for (uint32_t place = 1; place <= keys->made; place++) {
		struct roce_mr *entry = roce_keys_entry(keys, place << 8);

		/* A free entry may have been such a window: its key is 0. */
		if (entry->pd == NULL && entry->key != 0 && entry->peer == qp)
			unbind(keys, entry);
	}
	rte_spinlock_unlock(&keys->lock);
}

int
roce_mw_enter(struct roce_mr *mw, const struct roce_pd *pd, const struct roce_qp *qp,
		struct roce_sge *sge, unsigned int access)
{
	int rc = -EACCES;

	__atomic_fetch_add(&mw->visitors, 1, __ATOMIC_SEQ_CST);
	/* Now the binding of this key stays, or it has ended already. */
	if (__atomic_load_n(&mw->key, __ATOMIC_SEQ_CST) == sge->lkey)
		rc = roce_mr_judge_peer(mw, pd, qp, sge, access);
	if (rc != 0)
		roce_keys_leave(mw);
	return rc;
}
