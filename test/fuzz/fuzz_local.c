/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels to peers that write what they like into all memory that they share, at any moment, also while a frame is looked
 * at; and between them everything that a process does: it polls, sends, sleeps, and channels come and go.
 */

#include "local_world.h"

#define FALL_QUIET 4200u /**< polls after which a quiet channel is armed */
#define SETTLE_MAX \
	10000u /**< polls within which frames of an honest peer come, whatever others do */

static struct local_peer *
honest(void)
{
	return &local_world.peer[LOCAL_HONEST];
}

static void
write_now(const uint8_t *r)
{
	local_write(r);
}

/* From the next frame that is fetched on, until another record says so. */
static void
write_meanwhile(const uint8_t *r)
{
	local_world.meanwhile = r[12] & 1 ? r : NULL;
}

static void
poll_some(const uint8_t *r)
{
	for (unsigned int i = 0; i <= r[1] % 8u; i++)
		(void)local_poll(1 + r[2] % LOCAL_BURST);
}

/* So often that channels fall quiet, and that all are looked at without a hint. */
static void
poll_long(const uint8_t *r)
{
	for (unsigned int i = r[1] % 16 == 0 ? FALL_QUIET : r[1] % 70u; i > 0; i--)
		(void)local_poll(LOCAL_BURST);
}

static void
dry(const uint8_t *r)
{
	local_world.dry = r[1] & 1;
}

/* The honest peer sends as it should. */
static void
send_honestly(const uint8_t *r)
{
	struct local_peer *peer = honest();
	bool broken = false;

	for (unsigned int i = 0; i <= r[1] % 8u; i++) {
		const uint32_t len = LOCAL_MARK_AT + 4 + base_u16(r + 2) % 4200;
		uint8_t *to = roce_ring_put(&peer->tx, len, &broken);

		if (to == NULL)
			break;
		memset(to, (int)(uint8_t)peer->sent, len);
		(void)local_headers(to, LOCAL_SELF << ROCE_QPN_SHIFT | LOCAL_PLACE, false);
		memcpy(to + LOCAL_MARK_AT, &peer->sent, sizeof(peer->sent));
		peer->sent++;
	}
	BASE_MUST(!broken, "the reader of the honest peer is where it can be");
	if (roce_ring_publish(&peer->tx))
		(void)roce_bell_ring(local_world.local->bell, peer->number);
}

/* @return a frame to a peer, to the process itself, to another host, or by way of roced. */
static struct rte_mbuf *
make_frame(const uint8_t *r, unsigned int i)
{
	static const uint32_t to[] = { 2, 3, 3, LOCAL_SELF, 0, 77, 1023 };
	const unsigned int which = (r[1] + i * r[2]) % RTE_DIM(to);
	const uint32_t len = LOCAL_MARK_AT + 4 + base_u16(r + 3) % 4290;
	struct rte_mbuf *m = rte_pktmbuf_alloc(base_pool());
	uint8_t *bytes;

	if (m == NULL)
		return NULL;
	bytes = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	memset(bytes, (int)(uint8_t)honest()->told, len);
	(void)local_headers(bytes, to[which] << ROCE_QPN_SHIFT | (r[5] & 3),
			r[6] & 1 && which != 1 && which != 2);
	if (to[which] == 3) {
		memcpy(bytes + LOCAL_MARK_AT, &honest()->told, 4);
		honest()->told++;
	} else if (r[6] & 2) {
		bytes[29] ^= r[7];
	}
	return m;
}

/* Frames that are not taken would wait; here they are dropped. */
static void
send_burst(const uint8_t *r)
{
	struct rte_mbuf *pkts[64];
	uint16_t n = 0, sent;

	for (unsigned int i = 0; i <= r[8] % RTE_DIM(pkts); i++) {
		pkts[n] = make_frame(r, i);
		n += pkts[n] != NULL;
	}
	sent = roce_local_tx(local_world.local, pkts, n);
	BASE_MUST(sent <= n, "no more is sent than there is");
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	if (r[9] & 1)
		local_hear();
}

static void
arm_or_not(const uint8_t *r)
{
	if (local_world.local->sleepers > 0 && r[1] & 1)
		(void)roce_local_disarm(local_world.local);
	else if (local_world.local->sleepers < 4)
		(void)roce_local_arm(local_world.local);
}

/* A hostile peer ends, or another one begins. */
static void
come_and_go(const uint8_t *r)
{
	struct local_peer *peer = &local_world.peer[r[1] & 1];

	if (peer->channel != NULL)
		local_close_channel(peer);
	else
		local_open_channel(peer);
}

/* A queue pair is connected to another process, or to none. */
static void
connect(const uint8_t *r)
{
	static const uint16_t number[] = { 2, 0, ROCE_LOCAL_NO_PEER, 77 };

	if (r[1] % 16 != LOCAL_PLACE)
		local_world.local->peer[r[1] % 16] = number[r[2] % RTE_DIM(number)];
}

static void
stall(const uint8_t *r)
{
	local_world.local->stall_ticks = r[1] & 1 ? 0 : UINT64_MAX / 2;
	/* The honest peer reads all the time. */
	local_hear();
}

static const base_step steps[BASE_STEPS] = { write_now, write_now, write_now, write_now, write_now,
	write_now, write_now, write_now, write_now, write_now, write_meanwhile, write_meanwhile,
	poll_some, poll_some, poll_some, poll_some, poll_some, poll_some, poll_some, poll_long, dry,
	send_honestly, send_honestly, send_honestly, send_burst, send_burst, send_burst, send_burst,
	arm_or_not, come_and_go, connect, stall };

static void
step(const uint8_t *r)
{
	local_hear();
	base_script_do(steps, r);
	local_hear();
	local_check();
}

/* The hostile peers leave all as it is, and the honest one has lost nothing. */
static void
finish(void)
{
	unsigned int polls = 0;

	local_world.meanwhile = NULL;
	local_world.dry = false;
	base_dry(false);
	while (honest()->channel->rx.head != honest()->tx.tail && polls++ < SETTLE_MAX)
		(void)local_poll(LOCAL_BURST);
	BASE_MUST(honest()->channel->rx.head == honest()->tx.tail,
			"frames of the honest peer come, whatever others do");
	BASE_MUST(honest()->received == honest()->sent || local_world.local->stats.rx_no_memory > 0,
			"no frame of the honest peer is lost");
	local_check();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_script script;

	if (!base_script_open(&script, data, size))
		return 0;
	local_open(base_script_record(&script, 0));
	for (uint32_t i = 1; i < script.records; i++)
		step(base_script_record(&script, i));
	finish();
	local_close();
	return 0;
}
