/* SPDX-License-Identifier: BSD-3-Clause */
/* A device on a thread of its own reads the memory of requests and releases it, while the engine makes more frames. */

#include <pthread.h>
#include <sched.h>

#include <rte_ring.h>

#include "extbuf_scene.h"

#define MESSAGES 600u
#define PLACES   8u
#define LATE     500u /* times that the device lets others go first before it sends what it has */

static struct rte_ring *to_device;
static bool closing; /* atomic */
static uint32_t sent_bad; /* atomic: frames whose bytes were not those of their ICRC when the device read them */

/* Sends what it gets, late: whoever writes to the memory of a frame before that spoils its ICRC. */
static void *
device(void *arg)
{
	struct rte_mbuf *m;
	bool last;

	do {
		last = __atomic_load_n(&closing, __ATOMIC_ACQUIRE);
		for (unsigned int i = 0; i < LATE; i++)
			sched_yield();
		while (rte_ring_dequeue(to_device, (void **)&m) == 0) {
			struct roce_pkt pkt;

			if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK || !roce_icrc_ok(&pkt))
				__atomic_fetch_add(&sent_bad, 1, __ATOMIC_RELAXED);
			rte_pktmbuf_free(m);
		}
	} while (!last);
	return NULL;
}

/* Frames of a reach b at once, as copies, and the device when it likes. */
static void
transmit(void)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(&a, pkts, 32);

	for (uint16_t i = 0; i < n; i++) {
		fx_rx(&b, rte_pktmbuf_copy(pkts[i], unit_pool(), 0, UINT32_MAX));
		while (rte_ring_enqueue(to_device, pkts[i]) != 0)
			sched_yield();
	}
}

UNIT_RULE(talk__memory_is_read_before_it_is_free)
{
	uint32_t posted = 0, completed = 0;
	pthread_t thread;

	to_device = rte_ring_create("device", 256, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(to_device);
	__atomic_store_n(&closing, false, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, device, NULL), 0);
	while (completed < MESSAGES) {
		struct roce_event event;

		while (roce_cq_poll(a.send_cq, &event, 1) == 1) {
			assert_fields(event, (status, IBV_WC_SUCCESS), (wr_id, completed));
			memset(a.memory + completed % PLACES * ROOM, (int)completed, ROOM);
			completed++;
		}
		for (; posted < MESSAGES && posted - completed < PLACES; posted++) {
			receive(1);
			assert_int_equal(fx_send(&a, qa, posted, posted % PLACES * ROOM, SEND,
							 ROCE_WR_SIGNALED),
					0);
		}
		transmit();
		while (roce_cq_poll(b.recv_cq, &event, 1) == 1)
			assert_int_equal(event.status, IBV_WC_SUCCESS);
		answer();
		a.now += 1000;
		b.now += 1000;
		sched_yield();
	}
	__atomic_store_n(&closing, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sent_bad, 0);
	assert_true(fx_stats(&a)->tx_zero_copy >= MESSAGES);
	rte_ring_free(to_device);
}
