/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames between the wire and the processes, burst by burst. */

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "uplink.h"

/** How long frames wait for a device that does not take them: processes wait as long for a ring that is full. */
#define HOLD_MS 5u

static bool
is_suspended(const struct uplink *uplink)
{
	return roce_port_events_is_suspended(&uplink->port->events);
}

/* Questions about the addresses of the host are answered here, and answers go to all processes as well. */
static uint16_t
receive(struct uplink *uplink, uint64_t now)
{
	struct rte_mbuf *pkts[UPLINK_BURST];
	uint16_t n = rte_eth_rx_burst(uplink->port->id, 0, pkts, UPLINK_BURST);

	for (uint16_t i = 0; i < n; i++) {
		if (unlikely(roce_neigh_may_want(pkts[i])))
			(void)roce_neigh_rx(uplink->neigh, pkts[i], now);
	}
	if (n > 0)
		roce_uplink_tx(uplink->local, pkts, n);
	uplink->counters.from_wire += n;
	return n;
}

static void
drop_held(struct uplink *uplink)
{
	rte_pktmbuf_free_bulk(uplink->held + uplink->held_at, uplink->held_n);
	uplink->counters.refused += uplink->held_n;
	uplink->held_n = 0;
}

/* Give the device what it takes of the held frames. */
static uint16_t
send_held(struct uplink *uplink, uint64_t now)
{
	uint16_t sent = rte_eth_tx_burst(
			uplink->port->id, 0, uplink->held + uplink->held_at, uplink->held_n);

	uplink->held_at += sent;
	uplink->held_n -= sent;
	uplink->counters.to_wire += sent;
	if (unlikely(uplink->held_n > 0 && now >= uplink->held_until))
		drop_held(uplink);
	return sent;
}

static bool
may_ask(struct uplink *uplink, const struct rte_mbuf *m)
{
	if (likely(!roce_neigh_may_want(m)))
		return true;
	if (uplink_may_ask(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &uplink->port->mac,
			    uplink->args.ip.at, uplink->args.ip.n))
		return true;
	uplink->counters.false_words++;
	return false;
}

/* Of the processes, without what they may not say to neighbours. @return frames at @p pkts. */
static uint16_t
fetch_local(struct uplink *uplink, struct rte_mbuf **pkts, uint16_t max)
{
	uint16_t n = roce_uplink_rx(uplink->local, pkts, max);
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (may_ask(uplink, pkts[i]))
			pkts[kept++] = pkts[i];
		else
			rte_pktmbuf_free(pkts[i]);
	}
	return kept;
}

/* Messages that no process is there to answer. */
static void
take_returned(struct uplink *uplink, uint64_t now)
{
	struct rte_mbuf *pkts[UPLINK_BURST];
	uint16_t n = roce_uplink_returned(uplink->local, pkts, UPLINK_BURST);

	for (uint16_t i = 0; i < n; i++)
		uplink_answer(uplink, pkts[i], now);
	rte_pktmbuf_free_bulk(pkts, n);
}

static uint16_t
fetch_answers(struct uplink *uplink, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	if (likely(now < *uplink->gsi.at))
		return 0;
	return uplink->gsi.tx(uplink->gsi.arg, pkts, max, now);
}

/* Answers and questions of the uplink about neighbours. No thread here waits for one that has come. */
static uint16_t
fetch_neigh(struct uplink *uplink, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	if (likely(now < roce_neigh_deadline(uplink->neigh)))
		return 0;
	(void)roce_neigh_changed(uplink->neigh);
	return roce_neigh_tx(uplink->neigh, pkts, max, now);
}

static uint16_t
fetch_own(struct uplink *uplink, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t n = fetch_neigh(uplink, pkts, max, now);

	return n + fetch_answers(uplink, pkts + n, (uint16_t)(max - n), now);
}

/* While the device has frames to take, the processes' rings fill up, and they wait. */
static uint16_t
transmit(struct uplink *uplink, uint64_t now)
{
	uint16_t n;

	if (unlikely(uplink->held_n > 0))
		return send_held(uplink, now);
	n = fetch_own(uplink, uplink->held, UPLINK_BURST, now);
	n += fetch_local(uplink, uplink->held + n, UPLINK_BURST);
	if (n == 0) {
		if (unlikely(uplink->port->probe.idle_tx_ms != 0))
			rte_eth_tx_burst(uplink->port->id, 0, uplink->held, 0);
		return 0;
	}
	uplink->held_at = 0;
	uplink->held_n = n;
	uplink->held_until = now + rte_get_tsc_hz() / 1000 * HOLD_MS;
	return send_held(uplink, now);
}

/* The port has no peer, so there is no wire: what processes send is lost, and they do not wait. */
static unsigned int
poll_alone(struct uplink *uplink, uint64_t now)
{
	uint16_t n;

	drop_held(uplink);
	n = fetch_own(uplink, uplink->held, UPLINK_BURST, now);
	n += fetch_local(uplink, uplink->held + n, UPLINK_BURST);
	uplink->held_at = 0;
	uplink->held_n = n;
	drop_held(uplink);
	return n;
}

unsigned int
uplink_poll(struct uplink *uplink)
{
	uint64_t now = rte_rdtsc();

	uplink->polled_at = now;
	take_returned(uplink, now);
	if (unlikely(is_suspended(uplink)))
		return poll_alone(uplink, now);
	return receive(uplink, now) + transmit(uplink, now);
}

uint64_t
uplink_deadline(const struct uplink *uplink)
{
	if (uplink->held_n > 0)
		return 0;
	return RTE_MIN(roce_neigh_deadline(uplink->neigh), uplink->gsi.deadline(uplink->gsi.arg));
}
