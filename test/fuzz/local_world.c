/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <sys/epoll.h>

#include "local_world.h"

#define FRAMES 1023u

struct local_world local_world;

static const uint32_t number_of[LOCAL_PEERS] = { 2, ROCE_PROCESS_UPLINK, 3 };

/* ---- a pool that tells when frames are fetched: between two looks at shared memory ---- */

static void *stack[FRAMES + 1];
static unsigned int stacked;

static int
pool_alloc(struct rte_mempool *mp)
{
	return 0;
}

static void
pool_free(struct rte_mempool *mp)
{
}

static int
pool_enqueue(struct rte_mempool *mp, void *const *objects, unsigned int n)
{
	memcpy(&stack[stacked], objects, n * sizeof(*objects));
	stacked += n;
	return 0;
}

static int
pool_dequeue(struct rte_mempool *mp, void **objects, unsigned int n)
{
	if (local_world.meanwhile != NULL)
		local_write(local_world.meanwhile);
	if (local_world.dry || stacked < n)
		return -ENOBUFS;
	stacked -= n;
	memcpy(objects, &stack[stacked], n * sizeof(*objects));
	return 0;
}

static unsigned int
pool_count(const struct rte_mempool *mp)
{
	return stacked;
}

static const struct rte_mempool_ops pool_ops = {
	.name = "fuzz_local",
	.alloc = pool_alloc,
	.free = pool_free,
	.enqueue = pool_enqueue,
	.dequeue = pool_dequeue,
	.get_count = pool_count,
};
RTE_MEMPOOL_REGISTER_OPS(pool_ops);

unsigned int
local_frames(void)
{
	return FRAMES - stacked;
}

/* ---- the world ---- */

static void *
make_block(size_t size)
{
	void *block;

	if (posix_memalign(&block, LOCAL_LINE, size) != 0)
		abort();
	return block;
}

/* Once for all runs. */
static void
make_everything(void)
{
	struct roce_local *local;

	base_start();
	local_world.pool = rte_pktmbuf_pool_create_by_ops("fuzz_local", FRAMES, 0, 0,
			RTE_PKTMBUF_HEADROOM + ROCE_RING_FRAME_MAX + ROCE_RING_LINE, SOCKET_ID_ANY,
			"fuzz_local");
	local = make_block(sizeof(*local));
	memset(local, 0, sizeof(*local));
	local->bell = make_block(sizeof(*local->bell));
	local->inbox = rte_ring_create(
			"fuzz_local", ROCE_LOCAL_INBOX, SOCKET_ID_ANY, RING_F_SC_DEQ);
	local->passed = rte_ring_create(
			"fuzz_passed", ROCE_LOCAL_INBOX, SOCKET_ID_ANY, RING_F_SC_DEQ);
	local->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (local_world.pool == NULL || local->inbox == NULL || local->passed == NULL ||
			local->epoll < 0)
		abort();
	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		struct local_peer *peer = &local_world.peer[i];

		peer->number = number_of[i];
		peer->in = make_block(sizeof(*peer->in));
		peer->out = make_block(sizeof(*peer->out));
		peer->bell = make_block(sizeof(*peer->bell));
		peer->dirty_in = peer->dirty_out = LOCAL_BYTES;
	}
	local_world.local = local;
}

/* Zero, as memory of roced is. The whole ring would take most of the time of a run. */
static void
clear_ring(struct roce_ring *ring, uint32_t end)
{
	memset(ring, 0, offsetof(struct roce_ring, data));
	memset(ring->data, 0, RTE_MIN(end, LOCAL_BYTES));
}

/* As roce_channel_open() and roce_local_add() have it, without descriptors. */
void
local_open_channel(struct local_peer *peer)
{
	struct roce_local *local = local_world.local;
	struct roce_channel *channel = make_block(sizeof(*channel));

	clear_ring(peer->in, peer->dirty_in);
	clear_ring(peer->out, peer->dirty_out);
	peer->dirty_in = peer->dirty_out = 0;
	peer->tx = (struct roce_ring_tx){ .ring = peer->in };
	peer->rx = (struct roce_ring_rx){ .ring = peer->out };
	*channel = (struct roce_channel){
		.number = peer->number,
		.tx = { .ring = peer->out },
		.rx = { .ring = peer->in },
		.bell = peer->bell,
		.wake = -1,
	};
	peer->channel = channel;
	roce_local_add(local, channel);
}

void
local_close_channel(struct local_peer *peer)
{
	BASE_MUST(roce_local_remove(local_world.local, peer->number) == peer->channel,
			"a channel that is removed is the one that was added");
	peer->dirty_in = RTE_MAX(peer->dirty_in, peer->tx.tail + LOCAL_LINE);
	peer->dirty_out = peer->channel->tx.tail + LOCAL_LINE;
	free(peer->channel);
	peer->channel = NULL;
}

void
local_open(const uint8_t *record)
{
	static struct roce_local before;
	struct roce_local *local;

	if (local_world.local == NULL)
		make_everything();
	local = local_world.local;
	before = *local;
	memset(local, 0, sizeof(*local));
	local->bell = before.bell;
	local->inbox = before.inbox;
	local->passed = before.passed;
	local->epoll = before.epoll;
	local->ends = local->inbox_wake = local->socket = -1;
	local->number = LOCAL_SELF;
	local->pool = local_world.pool;
	local->stall_ticks = record[1] & 1 ? 0 : UINT64_MAX / 2;
	pthread_mutex_init(&local->lock, NULL);
	memset(local->bell, 0, sizeof(*local->bell));
	memset(local->peer, 0xff, sizeof(local->peer));
	local->peer[7] = (uint16_t)number_of[LOCAL_HOSTILE];
	local->peer[LOCAL_PLACE] = (uint16_t)number_of[LOCAL_HONEST];
	local->peer[9] = (uint16_t)number_of[LOCAL_UPLINK];
	local_world.meanwhile = NULL;
	local_world.dry = false;
	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		struct local_peer *peer = &local_world.peer[i];

		peer->sent = peer->received = peer->told = peer->heard = 0;
		memset(peer->bell, 0, sizeof(*peer->bell));
		local_open_channel(peer);
	}
}

void
local_close(void)
{
	struct roce_local *local = local_world.local;
	void *m;

	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		if (local_world.peer[i].channel != NULL)
			local_close_channel(&local_world.peer[i]);
	}
	while (rte_ring_sc_dequeue(local->inbox, &m) == 0)
		rte_pktmbuf_free(m);
	if (local->spares > 0)
		rte_pktmbuf_free_bulk(local->spare, local->spares);
	pthread_mutex_destroy(&local->lock);
	BASE_MUST(local_frames() == 0, "each received frame is freed");
	BASE_MUST(base_frames() == 0, "each frame that was sent is freed");
}

/* ---- what peers write ---- */

uint32_t
local_headers(uint8_t *bytes, uint32_t qpn, bool v6)
{
	const uint32_t headers = v6 ? 74 : 54;

	memset(bytes, 0, headers);
	bytes[12] = v6 ? 0x86 : 0x08;
	bytes[13] = v6 ? 0xdd : 0x00;
	bytes[14] = v6 ? 0x60 : 0x45;
	bytes[v6 ? 20 : 23] = 17;
	bytes[headers - 12 + 5] = (uint8_t)(qpn >> 16);
	bytes[headers - 12 + 6] = (uint8_t)(qpn >> 8);
	bytes[headers - 12 + 7] = (uint8_t)qpn;
	return headers;
}

static struct local_peer *
writer_of(const uint8_t *r)
{
	return &local_world.peer[r[1] & 1];
}

/* Where a record writes into the ring to the process under test: near its head, or anywhere. A multiple of a line. */
static uint32_t
place_of(const struct local_peer *peer, const uint8_t *r)
{
	const uint32_t head = peer->channel != NULL ? peer->channel->rx.head : 0;

	if (r[1] & 2)
		return base_u16(r + 2) * LOCAL_LINE % LOCAL_BYTES;
	return (head + (uint32_t)(int8_t)r[2] * LOCAL_LINE) % LOCAL_BYTES;
}

static uint32_t
word_of(const uint8_t *r)
{
	static const uint32_t special[] = { 0, UINT32_MAX, 13, 14, 54, 60, 61, 4351, 4352, 4353 };

	return r[0] & 1 ? local_u32(r + 1) >> (r[5] & 31) : special[r[1] % RTE_DIM(special)];
}

/* So many bytes from there on are written. @return where. */
static uint8_t *
data_at(struct local_peer *peer, uint32_t at, uint32_t len)
{
	peer->dirty_in = RTE_MAX(peer->dirty_in, at + len);
	return &peer->in->data[at];
}

static void
write_word(const uint8_t *r)
{
	struct local_peer *peer = writer_of(r);
	const uint32_t word = word_of(r + 5);

	memcpy(data_at(peer, place_of(peer, r), sizeof(word)), &word, sizeof(word));
}

static void
write_bytes(const uint8_t *r)
{
	struct local_peer *peer = writer_of(r);
	const uint32_t at = base_u24(r + 2) % LOCAL_BYTES;
	const uint32_t len = RTE_MIN(base_u16(r + 5) % 5000, LOCAL_BYTES - at);

	memset(data_at(peer, at, len), r[7], len);
}

/* A run of entries from the head on, each a good frame but for a byte; behind the last one there is what was there. */
static void
write_frames(const uint8_t *r)
{
	static const uint32_t place[] = { 7, LOCAL_PLACE, 9, 1 };
	struct local_peer *peer = writer_of(r);
	uint32_t at = place_of(peer, r);
	const uint32_t upper = r[4] & 1 ? base_u16(r + 5) % 1024 : LOCAL_SELF;
	const uint32_t qpn = upper << ROCE_QPN_SHIFT | place[r[4] >> 1 & 3];
	const uint32_t len = r[4] & 8 ? 74 + base_u16(r + 7) % 4279 : 100;

	for (unsigned int n = 1 + r[9] % 80; n > 0; n--) {
		uint8_t *entry = data_at(peer, at, 4);

		if (at + 4 + len > LOCAL_BYTES) {
			memset(entry, 0xff, 4);
			at = 0;
			continue;
		}
		(void)data_at(peer, at, 4 + len);
		(void)local_headers(entry + 4, qpn, r[4] & 16);
		entry[4 + r[10] % 54] ^= r[11];
		memcpy(entry, &len, sizeof(len));
		at = (at + 4 + len + LOCAL_LINE - 1) / LOCAL_LINE * LOCAL_LINE % LOCAL_BYTES;
	}
}

/* Where the reader of the ring from the process under test says that it is. */
static void
write_head(const uint8_t *r)
{
	struct local_peer *peer = writer_of(r);
	const uint32_t tail = peer->channel != NULL ? peer->channel->tx.tail : 0;

	peer->out->head = r[1] & 2 ? local_u32(r + 2) : tail - base_u16(r + 2) * LOCAL_LINE;
}

static void
write_armed(const uint8_t *r)
{
	struct local_peer *peer = writer_of(r);

	if (r[1] & 2)
		peer->in->armed = local_u32(r + 2);
	else
		peer->out->armed = local_u32(r + 2);
	if (r[1] & 4)
		peer->in->head = local_u32(r + 6);
}

static void
write_bell(const uint8_t *r)
{
	struct roce_bell *bell = r[1] & 2 ? local_world.local->bell : writer_of(r)->bell;
	const uint64_t bits = (uint64_t)local_u32(r + 2) << 32 | local_u32(r + 6);

	bell->bits[r[10] % ROCE_BELL_WORDS] = bits;
	bell->summary = r[11] & 1 ? bits : UINT64_C(1) << r[10] % 64;
	bell->sleeping = r[12];
	if (r[11] & 2)
		memset(bell, r[11] & 4 ? 0xff : 0, sizeof(*bell));
}

void
local_write(const uint8_t *record)
{
	static void (*const what[])(const uint8_t *r) = { write_word, write_word, write_bytes,
		write_frames, write_frames, write_head, write_armed, write_bell };

	what[record[13] % RTE_DIM(what)](record);
}
