/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_SHIM_LOCAL_H
#define ROCE_MODEL_SHIM_LOCAL_H

/**
 * @file
 * As shim.h, for channels between processes: stores go through the buffer of their thread, frames come from the arena, and
 * a socket is a word that a sleeper waits for (scenario_channel.c).
 */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim.h"

#include "buffer.h"

#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_exchange_n
#define __atomic_load_n(p, order)     MODEL_VALUE(p, buffer_load(p, MODEL_ACCESS(p, order)))
#define __atomic_store_n(p, v, order) buffer_store(p, MODEL_BITS(v), MODEL_ACCESS(p, order))
#define __atomic_exchange_n(p, v, order) \
	MODEL_VALUE(p, buffer_exchange(p, MODEL_BITS(v), MODEL_ACCESS(p, order)))
#define __atomic_fetch_or(p, v, order) \
	MODEL_VALUE(p, buffer_or(p, MODEL_BITS(v), MODEL_ACCESS(p, order)))
#define __atomic_thread_fence(order) buffer_fence()

/** Frames of the scenario, which frees all of them at once. */
int model_mbufs(struct rte_mbuf **m, unsigned int n);
#define rte_pktmbuf_alloc_bulk(pool, m, n) model_mbufs(m, n)
#define rte_pktmbuf_free(m)                ((void)(m))
#define rte_pktmbuf_free_bulk(m, n)        ((void)(m))

/* The scenario has no frames of a process to itself. */
#define rte_ring_mp_enqueue(ring, m)                (-1)
#define rte_ring_count(ring)                        0u
#define rte_ring_sc_dequeue_burst(ring, m, n, rest) 0

/** A byte into the socket @p fd, and the sockets that have one. */
ssize_t model_send(int fd, const void *bytes, size_t n, int flags);
int model_epoll_wait(int epoll, struct epoll_event *events, int n, int timeout);
#define send       model_send
#define epoll_wait model_epoll_wait

/** Idle polls after which a channel is polled no more; of the scene. */
extern unsigned int model_idle_max;
#define IDLE_MAX model_idle_max

/** Lines of a ring: so few that it is full, and begins anew, within a scene. */
#define ROCE_RING_BYTES 256u

#endif
