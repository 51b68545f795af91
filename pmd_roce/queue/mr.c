/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains and memory regions: their making and their end. */

#include <errno.h>

#include "queue/domain.h"
#include "queue/extbuf.h"

int
roce_pd_create(struct roce_context *context, struct roce_pd **pd)
{
	struct roce_pd *p = roce_alloc(context->domain, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	p->domain = context->domain;
	p->context = context;
	__atomic_fetch_add(&context->users, 1, __ATOMIC_RELAXED);
	*pd = p;
	return 0;
}

int
roce_pd_destroy(struct roce_pd *pd)
{
	if (__atomic_load_n(&pd->users, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	__atomic_fetch_sub(&pd->context->users, 1, __ATOMIC_RELEASE);
	roce_free(pd->domain, pd);
	return 0;
}

/* Atomics: a word that the peer names by an aligned address lies at an aligned one. */
static bool
is_aligned_alike(uint64_t addr, uint64_t iova)
{
	return ((addr ^ iova) & (sizeof(uint64_t) - 1)) == 0;
}

int
roce_mr_create_iova(struct roce_pd *pd, uint64_t addr, uint64_t len, uint64_t iova,
		unsigned int access, struct roce_mr **mr)
{
	struct roce_domain *domain = pd->domain;
	const struct roce_extbuf_config *extbuf = &domain->config.extbuf;
	struct roce_mr *entry;

	if (len == 0 || addr + len < addr || iova + len < iova || !is_aligned_alike(addr, iova))
		return -EINVAL;
	access &= ~ROCE_MR_EXTBUF;
	if (extbuf->readable != NULL && extbuf->readable(extbuf->arg, addr, len))
		access |= ROCE_MR_EXTBUF;
	rte_spinlock_lock(&domain->keys.lock);
	entry = roce_keys_take(domain);
	if (entry == NULL) {
		rte_spinlock_unlock(&domain->keys.lock);
		return -ENOMEM;
	}
	entry->access = access;
	entry->start = addr;
	entry->length = len;
	entry->offset = addr - iova;
	entry->pd = pd;
	entry->peer = pd;
	entry->windows = 0;
	__atomic_store_n(&entry->key, roce_keys_name(&domain->keys, entry), __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_add(&pd->users, 1, __ATOMIC_RELAXED);
	*mr = entry;
	return 0;
}

int
roce_mr_create(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access,
		struct roce_mr **mr)
{
	return roce_mr_create_iova(pd, addr, len, addr, access, mr);
}

uint32_t
roce_mr_key(const struct roce_mr *mr)
{
	return mr->key;
}

/* @return false: something hangs on the region, and nothing changed. */
static bool
end_key(struct roce_domain *domain, struct roce_mr *mr)
{
	bool busy;

	/* A window that is being bound either finds the key, and then we find the window, or it does not. */
	rte_spinlock_lock(&domain->keys.lock);
	busy = mr->windows != 0 || __atomic_load_n(&mr->visitors, __ATOMIC_ACQUIRE) != 0;
	if (!busy) {
		__atomic_store_n(&mr->key, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&domain->keys.epoch, domain->keys.epoch + 1, __ATOMIC_RELEASE);
	}
	rte_spinlock_unlock(&domain->keys.lock);
	return !busy;
}

/* The same where frames may refer to the region: nobody makes one meanwhile, and those that came home are counted. */
static bool
end_key_alone(struct roce_domain *domain, struct roce_mr *mr)
{
	bool ended;

	roce_domain_lock(domain);
	for (unsigned int i = 0; i < domain->config.engines; i++)
		roce_extbufs_collect(domain->engine[i]);
	ended = end_key(domain, mr);
	roce_domain_unlock(domain);
	return ended;
}

int
roce_mr_destroy(struct roce_mr *mr)
{
	struct roce_pd *pd = mr->pd;
	struct roce_domain *domain = pd->domain;

	if (domain->config.extbuf.least != 0) {
		if (!end_key_alone(domain, mr))
			return -EBUSY;
	} else {
		if (!end_key(domain, mr))
			return -EBUSY;
		roce_domain_grace(domain);
	}
	rte_spinlock_lock(&domain->keys.lock);
	roce_keys_give(&domain->keys, mr);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_sub(&pd->users, 1, __ATOMIC_RELEASE);
	return 0;
}

bool
roce_mr_covers(struct roce_domain *domain, uint32_t key, uint64_t addr, uint64_t len)
{
	const struct roce_mr *mr = roce_keys_find(&domain->keys, key);

	return mr != NULL && mr->pd != NULL && roce_mr_holds(mr, addr + mr->offset, len);
}
