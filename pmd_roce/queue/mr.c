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

static bool
is_range(uint64_t addr, uint64_t len)
{
	return len != 0 && addr + len >= addr;
}

/* Rights of a region, with ROCE_MR_EXTBUF if frames may refer to its memory. */
static unsigned int
access_of(const struct roce_domain *domain, uint64_t addr, uint64_t len, unsigned int access)
{
	const struct roce_extbuf_config *extbuf = &domain->config.extbuf;

	access &= ~ROCE_MR_EXTBUF;
	if (extbuf->readable != NULL && extbuf->readable(extbuf->arg, addr, len))
		access |= ROCE_MR_EXTBUF;
	return access;
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
	struct roce_mr *entry;

	if (!is_range(addr, len) || !is_range(iova, len) || !is_aligned_alike(addr, iova))
		return -EINVAL;
	access = access_of(domain, addr, len, access);
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

/* When it returns true, no engine touches the memory any more. */
static bool
end_use(struct roce_domain *domain, struct roce_mr *mr)
{
	if (domain->config.extbuf.least != 0)
		return end_key_alone(domain, mr);
	if (!end_key(domain, mr))
		return false;
	roce_domain_grace(domain);
	return true;
}

static int
judge_mod(const struct roce_mr *mr, const struct roce_mr_mod *mod, uint32_t mask)
{
	const uint32_t known = ROCE_MR_MOD_TRANSLATION | ROCE_MR_MOD_PD | ROCE_MR_MOD_ACCESS;

	if (mask == 0 || (mask & ~known))
		return -EINVAL;
	if ((mask & ROCE_MR_MOD_TRANSLATION) && !is_range(mod->addr, mod->length))
		return -EINVAL;
	return !(mask & ROCE_MR_MOD_PD) || mod->pd->domain == mr->pd->domain ? 0 : -EINVAL;
}

/* The entry has no key. */
static void
set_entry(struct roce_mr *mr, const struct roce_mr_mod *mod, uint32_t mask)
{
	unsigned int access = mask & ROCE_MR_MOD_ACCESS ? mod->access : mr->access;

	if (mask & ROCE_MR_MOD_TRANSLATION) {
		mr->start = mod->addr;
		mr->length = mod->length;
		mr->offset = 0;
	}
	if (mask & ROCE_MR_MOD_PD) {
		__atomic_fetch_add(&mod->pd->users, 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&mr->pd->users, 1, __ATOMIC_RELEASE);
		mr->pd = mod->pd;
		mr->peer = mod->pd;
	}
	mr->access = access_of(mr->pd->domain, mr->start, mr->length, access);
}

int
roce_mr_modify(struct roce_mr *mr, const struct roce_mr_mod *mod, uint32_t mask)
{
	struct roce_domain *domain = mr->pd->domain;
	const uint32_t key = mr->key;
	int rc = judge_mod(mr, mod, mask);

	if (rc != 0)
		return rc;
	if (!end_use(domain, mr))
		return -EBUSY;
	set_entry(mr, mod, mask);
	rte_spinlock_lock(&domain->keys.lock);
	__atomic_store_n(&mr->key, key, __ATOMIC_RELEASE);
	/* A post that was validated meanwhile, and perhaps by what the entry was before, is validated again. */
	__atomic_store_n(&domain->keys.epoch, domain->keys.epoch + 1, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain->keys.lock);
	return 0;
}

int
roce_mr_destroy(struct roce_mr *mr)
{
	struct roce_pd *pd = mr->pd;
	struct roce_domain *domain = pd->domain;

	if (!end_use(domain, mr))
		return -EBUSY;
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
