/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread polls the engine, one polls and takes, one reads the messages and frees them: nobody waits for anybody. */

#include <pthread.h>
#include <sched.h>

#include <rte_ring.h>

#include "zcrx_scene.h"

#define MESSAGES 2000u

static struct rte_ring *to_reader;
static bool closing;    /* atomic */
static uint32_t takes;  /* atomic */
static uint32_t wrongs; /* atomic */

/* Does the message have all the bytes that fx_request() gave it? */
static bool
is_whole(const struct rte_mbuf *m, uint32_t number)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	for (uint32_t i = 0; i < m->data_len; i++) {
		if (at[i] != (uint8_t)(number + i))
			return false;
	}
	return m->data_len == BYTES;
}

/* Reads, writes all over it, and frees. */
static void *
reader(void *arg)
{
	uint32_t number = FX_RQ_PSN;
	struct rte_mbuf *m;
	bool last;

	do {
		last = __atomic_load_n(&closing, __ATOMIC_ACQUIRE);
		while (rte_ring_dequeue(to_reader, (void **)&m) == 0) {
			if (!is_whole(m, number++))
				__atomic_fetch_add(&wrongs, 1, __ATOMIC_RELAXED);
			memset(rte_pktmbuf_mtod(m, void *), 0xff, m->data_len);
			rte_pktmbuf_free(m);
		}
		sched_yield();
	} while (!last);
	return NULL;
}

/* Polls, takes, posts again. */
static void *
poller(void *arg)
{
	uint32_t done = 0;

	while (done < MESSAGES) {
		struct roce_event event;

		if (roce_cq_poll(end.recv_cq, &event, 1) == 0) {
			sched_yield();
			continue;
		}
		while (rte_ring_enqueue(to_reader, roce_qp_take_mbuf(qp, &event)) != 0)
			sched_yield();
		if (event.wr_id != done++ || !(event.flags & ROCE_EVENT_ZCRX) ||
				try_post(event.wr_id + DEPTH) != 0)
			__atomic_fetch_add(&wrongs, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&takes, done, __ATOMIC_RELAXED);
	}
	return NULL;
}

UNIT_RULE(talk__is_freed_anywhere)
{
	pthread_t polling, reading;

	to_reader = rte_ring_create("reader", 16, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(to_reader);
	post(0, DEPTH);
	assert_int_equal(pthread_create(&reading, NULL, reader, NULL), 0);
	assert_int_equal(pthread_create(&polling, NULL, poller, NULL), 0);
	while (fx_stats(&end)->rx_lent < MESSAGES) {
		uint64_t before = fx_stats(&end)->rx_lent;

		/* A message that the engine does not take now comes again. */
		hear();
		if (fx_stats(&end)->rx_lent == before) {
			psn--;
			sched_yield();
		}
		fx_tx_drop(&end);
		end.now += 100000;
	}
	assert_int_equal(pthread_join(polling, NULL), 0);
	/* The queue pair may go while other threads read frames that it gave. */
	roce_qp_destroy(qp);
	__atomic_store_n(&closing, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(reading, NULL), 0);
	assert_int_equal(takes, MESSAGES);
	assert_int_equal(wrongs, 0);
	rte_ring_free(to_reader);
}
