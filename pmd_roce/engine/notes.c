/* SPDX-License-Identifier: BSD-3-Clause */

/* What a context is to be told of its objects, for whoever asks instead of being called. */

#include "engine/engine_pvt.h"

/* Moments in the life of a connection, which the connection manager hears of. */
#define NEVER_NOTED (1u << ROCE_NOTICE_QP_ESTABLISHED | 1u << ROCE_NOTICE_QP_DRAINED)

void
roce_notes_init(struct roce_notes *notes)
{
	rte_spinlock_init(&notes->lock);
	TAILQ_INIT(&notes->list);
	notes->count = 0;
}

/* On the list or off it. Under the lock. */
static void
set_count(struct roce_notes *notes, uint32_t count)
{
	__atomic_store_n(&notes->count, count, __ATOMIC_RELEASE);
}

static void
add(struct roce_notes *notes, struct roce_note *note, enum roce_notice_kind kind, int status)
{
	rte_spinlock_lock(&notes->lock);
	if (note->kinds == 0) {
		TAILQ_INSERT_TAIL(&notes->list, note, link);
		set_count(notes, notes->count + 1);
	}
	note->kinds |= 1u << kind;
	if (kind == ROCE_NOTICE_QP_BROKEN)
		note->status = status;
	rte_spinlock_unlock(&notes->lock);
}

void
roce_context_tell(const struct roce_context *context, struct roce_note *note,
		enum roce_notice_kind kind, void *owner, int status)
{
	if (context->notes != NULL && !(NEVER_NOTED & 1u << kind)) {
		note->owner = owner;
		add(context->notes, note, kind, status);
	}
	context->notify(context->arg, kind, owner, status);
}

void
roce_context_forget(const struct roce_context *context, struct roce_note *note)
{
	struct roce_notes *notes = context->notes;

	if (notes == NULL)
		return;
	rte_spinlock_lock(&notes->lock);
	if (note->kinds != 0) {
		TAILQ_REMOVE(&notes->list, note, link);
		set_count(notes, notes->count - 1);
	}
	note->kinds = 0;
	rte_spinlock_unlock(&notes->lock);
}

bool
roce_notes_take(struct roce_notes *notes, enum roce_notice_kind *kind, void **owner, int *status)
{
	struct roce_note *note;

	if (__atomic_load_n(&notes->count, __ATOMIC_ACQUIRE) == 0)
		return false;
	rte_spinlock_lock(&notes->lock);
	note = TAILQ_FIRST(&notes->list);
	if (note != NULL) {
		*kind = (enum roce_notice_kind)rte_bsf32(note->kinds);
		*owner = note->owner;
		*status = *kind == ROCE_NOTICE_QP_BROKEN ? note->status : 0;
		note->kinds &= note->kinds - 1;
		if (note->kinds == 0) {
			TAILQ_REMOVE(&notes->list, note, link);
			set_count(notes, notes->count - 1);
		}
	}
	rte_spinlock_unlock(&notes->lock);
	return note != NULL;
}
