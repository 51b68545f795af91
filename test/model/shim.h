/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_SHIM_H
#define ROCE_MODEL_SHIM_H

/**
 * @file
 * Included by force in front of the real sources of the engine: every lock and every atomic builtin becomes a call
 * of the scheduler.
 *
 * DPDK's headers come first, so that their inline functions keep the builtins. The sources are also compiled with
 * -fsanitize=thread, but not linked with its library: the calls that the compiler puts beside every other memory
 * access end in hooks.c. An atomic builtin that is missing here becomes such a call, too, for which there is no
 * function: the program does not link. So nothing can be forgotten.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_spinlock.h>
#include <rte_udp.h>

#include "scheduler.h"

#define MODEL_ACCESS(p, order) \
	(&(const struct model_access){ (uint32_t)sizeof(__typeof__(*(p))), order, #p, __func__ })
#define MODEL_BITS(v) ((uint64_t)(uintptr_t)(v))

#define rte_spinlock_lock(l)    model_lock(l, #l, __func__)
#define rte_spinlock_trylock(l) model_trylock(l, #l, __func__)
#define rte_spinlock_unlock(l)  model_unlock(l, #l, __func__)

/* A statement expression may go unused without a warning. */
#define MODEL_VALUE(p, bits) __extension__({ (__typeof__(*(p)))(bits); })

#define __atomic_load_n(p, order)     MODEL_VALUE(p, model_load(p, MODEL_ACCESS(p, order)))
#define __atomic_store_n(p, v, order) model_store(p, MODEL_BITS(v), MODEL_ACCESS(p, order))
#define __atomic_exchange_n(p, v, order) \
	MODEL_VALUE(p, model_exchange(p, MODEL_BITS(v), MODEL_ACCESS(p, order)))
#define __atomic_compare_exchange_n(p, expected, v, weak, order, failed) \
	model_compare_exchange(p, expected, MODEL_BITS(v), MODEL_ACCESS(p, order))
#define __atomic_fetch_add(p, v, order) \
	MODEL_VALUE(p, model_add(p, MODEL_BITS(v), MODEL_ACCESS(p, order)))
#define __atomic_fetch_sub(p, v, order) \
	MODEL_VALUE(p, model_add(p, -MODEL_BITS(v), MODEL_ACCESS(p, order)))
#define __atomic_add_fetch(p, v, order) (__atomic_fetch_add(p, v, order) + (v))
#define __atomic_sub_fetch(p, v, order) (__atomic_fetch_sub(p, v, order) - (v))

/* All threads of the model are one. */
#define roce_bias_self() (((uintptr_t)model_self() + 2) * 2)

/* A thread that waits for the owner to leave does not look again before the owner has left. */
#define roce_bias_pause(slot) model_await(slot, "inside", __func__)

#define memcpy(to, from, n) model_memcpy(to, from, n)

#endif
