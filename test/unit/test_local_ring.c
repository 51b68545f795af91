/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a channel: local/ring.h. Sizes in here are of the layout that it describes, in numbers: lines of 64
 * bytes, a header word of four, 4194304 bytes of data. Two threads at once: test_local_threads.c, test/model.
 */

#include "local/ring.h"
#include "local_memory.h"

#define LINE  64u
#define BYTES 4194304u
#define PART  262144u
#define WRAP  0xffffffffu

static struct guarded memory;
static struct roce_ring *ring;
static struct roce_ring_tx tx;
static struct roce_ring_rx rx;
static bool broken;

/* Both ends at @p position, as if so much had gone through. */
static void
begin_at(uint32_t position)
{
	memset(ring, 0, sizeof(*ring));
	ring->head = position;
	tx = (struct roce_ring_tx){ .ring = ring, .tail = position, .head_seen = position };
	rx = (struct roce_ring_rx){ .ring = ring, .head = position };
	broken = false;
}

static void
make(enum guarded_side side)
{
	guarded_free(&memory);
	memory = guarded_make(sizeof(struct roce_ring), side);
	ring = memory.object;
	begin_at(0);
}

static int
setup(void **state)
{
	make(GUARDED_END);
	return 0;
}

static int
teardown(void **state)
{
	guarded_free(&memory);
	return 0;
}

static uint8_t
byte_of(uint32_t frame, uint32_t i)
{
	return (uint8_t)(frame * 31 + i * 7 + i / 251);
}

/* @return is there room? */
static bool
put(uint32_t frame, uint32_t len)
{
	uint8_t *to = roce_ring_put(&tx, len, &broken);

	assert_false(broken);
	if (to == NULL)
		return false;
	for (uint32_t i = 0; i < len; i++)
		to[i] = byte_of(frame, i);
	return true;
}

static void
put_all(uint32_t frames, uint32_t len)
{
	for (uint32_t i = 0; i < frames; i++)
		assert_true(put(i, len));
	(void)roce_ring_publish(&tx);
}

static void
take(uint32_t frame, uint32_t want)
{
	uint32_t len = 0;
	const uint8_t *from = roce_ring_next(&rx, &len, &broken);

	assert_false(broken);
	assert_non_null(from);
	assert_int_equal(len, want);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(from[i], byte_of(frame, i));
}

static void
take_none(void)
{
	uint32_t len;

	assert_false(roce_ring_is_ready(&rx));
	assert_null(roce_ring_next(&rx, &len, &broken));
	assert_false(broken);
}

/* The next entry is impossible: nothing is taken. */
static void
take_broken(void)
{
	uint32_t len;

	assert_null(roce_ring_next(&rx, &len, &broken));
	assert_true(broken);
}

static uint32_t
word_at(uint32_t at)
{
	uint32_t word;

	memcpy(&word, &ring->data[at % BYTES], sizeof(word));
	return word;
}

static void
set_word(uint32_t at, uint32_t word)
{
	memcpy(&ring->data[at % BYTES], &word, sizeof(word));
}

/* ---- frames ---- */

/* 4339 sizes of 2183 bytes in the mean: wraps at the ends of parts, each at another place. */
UNIT_RULE(frame__of_every_size_arrives_whole_and_in_order)
{
	for (unsigned int side = GUARDED_BEGIN; side <= GUARDED_END; side++) {
		make((enum guarded_side)side);
		for (uint32_t len = 14; len <= 4352; len++) {
			assert_true(put(len, len));
			(void)roce_ring_publish(&tx);
			take(len, len);
			take_none();
			roce_ring_release(&rx);
		}
	}
}

/* The receiver lags behind by up to a burst of 1 to 32, whose sizes differ. */
UNIT_RULE(frame__of_a_burst_arrives_whole_and_in_order)
{
	uint32_t sent = 0, taken = 0;

	for (uint32_t round = 0; round < 4000; round++) {
		for (uint32_t i = 0; i <= round % 32; i++, sent++)
			assert_true(put(sent, 14 + sent * 977 % 4339));
		(void)roce_ring_publish(&tx);
		for (; taken < sent; taken++)
			take(taken, 14 + taken * 977 % 4339);
		take_none();
		roce_ring_release(&rx);
	}
}

/* Positions are modulo 2^32. */
UNIT_RULE(frame__arrives_where_positions_begin_anew)
{
	begin_at(UINT32_MAX - BYTES + 1);
	for (uint32_t i = 0; i < 4 * BYTES / 128; i++) {
		assert_true(put(i, 100));
		(void)roce_ring_publish(&tx);
		/* Of the one before: the ring is never empty. */
		roce_ring_release(&rx);
		take(i, 100);
	}
	assert_int_equal(tx.tail, 3 * BYTES);
}

/* Four bytes behind the beginning of a line, each entry on lines of its own: 60 bytes are one line, 61 are two. */
UNIT_RULE(frame__lies_behind_its_header_on_lines_of_its_own)
{
	static const struct {
		uint32_t len;
		uint32_t lines;
	} entry[] = { { 14, 1 }, { 60, 1 }, { 61, 2 }, { 124, 2 }, { 125, 3 }, { 4352, 69 } };
	uint32_t at = 0;

	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		assert_ptr_equal(roce_ring_put(&tx, entry[i].len, &broken), &ring->data[at + 4]);
		(void)roce_ring_publish(&tx);
		assert_int_equal(word_at(at), entry[i].len);
		at += entry[i].lines * LINE;
		assert_int_equal(tx.tail, at);
	}
}

/* ---- the end of the memory ---- */

UNIT_RULE(put__fills_the_memory_to_its_last_line)
{
	begin_at(BYTES - 3 * LINE);
	put_all(1, 60);
	assert_ptr_equal(roce_ring_put(&tx, 124, &broken), &ring->data[BYTES - 2 * LINE + 4]);
	assert_ptr_equal(roce_ring_put(&tx, 14, &broken), &ring->data[4]);
}

UNIT_RULE(put__goes_to_the_beginning_where_the_rest_is_too_small)
{
	begin_at(BYTES - 2 * LINE);
	put_all(2, 125);
	assert_int_equal(word_at(BYTES - 2 * LINE), WRAP);
	assert_int_equal(word_at(0), 125);
	take(0, 125);
	take(1, 125);
	take_none();
}

/* ---- the end of a part ---- */

/* A channel with a frame now and then touches a sixteenth of the memory. */
UNIT_RULE(put__begins_anew_behind_a_part_when_all_was_read)
{
	for (uint32_t i = 0; i < 3 * PART / 128; i++) {
		assert_true(put(i, 100));
		(void)roce_ring_publish(&tx);
		take(i, 100);
		roce_ring_release(&rx);
		assert_true(tx.tail % BYTES < PART);
	}
	assert_true(tx.tail > 2 * BYTES);
}

UNIT_RULE(put__goes_on_behind_a_part_when_something_is_unread)
{
	put_all(PART / LINE - 1, 60);
	for (uint32_t i = 0; i < PART / LINE - 2; i++)
		take(i, 60);
	roce_ring_release(&rx);
	put_all(2, 124);
	assert_int_equal(tx.tail, PART + 3 * LINE);
}

/* ---- a full ring ---- */

/* One line stays free for the header word behind the last entry. */
UNIT_RULE(put__refuses_when_the_ring_is_full)
{
	put_all(BYTES / LINE - 1, 60);
	assert_false(put(0, 14));
	take(0, 60);
	roce_ring_release(&rx);
	assert_true(put(0, 60));
	assert_false(put(0, 14));
}

UNIT_RULE(put__that_is_refused_changes_nothing)
{
	static struct roce_ring before;
	static const uint32_t at[] = { 0, BYTES - LINE, BYTES - 32 * LINE };

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct roce_ring_tx was;

		begin_at(at[i]);
		put_all(BYTES / LINE - 65, 60);
		assert_true(put(0, 60)); /* not published */
		memcpy(&before, ring, sizeof(before));
		was = tx;
		assert_false(put(0, 4352));
		assert_memory_equal(ring, &before, sizeof(before));
		assert_fields(tx, (tail, was.tail), (first, was.first), (first_at, was.first_at));
		assert_true(put(0, 60));
	}
}

/* The rest of the memory that a wrap leaves unused counts as well. */
UNIT_RULE(put__refuses_when_a_wrap_has_no_room)
{
	begin_at(BYTES - 2 * LINE);
	put_all(2, 60);
	take(0, 60);
	roce_ring_release(&rx);
	put_all(BYTES / LINE - 67, 60);
	/* 65 lines are free from line BYTES / LINE - 67 on: 64 bytes of it belong to the next header word. */
	assert_int_equal(tx.tail % BYTES, BYTES - 67 * LINE);
	assert_false(put(0, 4352));
	assert_true(put(0, 14));
}

/* The ring is taken in pieces: what was released is room at once, and no more than that. */
UNIT_RULE(put__has_the_room_that_was_released)
{
	put_all(BYTES / 4416 - 1, 4352);
	for (uint32_t i = 0; i < 500; i++) {
		while (put(0, 4352))
			(void)roce_ring_publish(&tx);
		assert_true(tx.tail - ring->head <= BYTES - LINE);
		assert_true(tx.tail - ring->head + 2 * 4416 + LINE > BYTES);
		for (uint32_t len, n = 0; n <= i % 7; n++)
			assert_non_null(roce_ring_next(&rx, &len, &broken));
		roce_ring_release(&rx);
	}
}

/* ---- publishing ---- */

UNIT_RULE(burst__is_seen_whole_when_it_is_published_and_not_before)
{
	for (uint32_t n = 1; n <= 5; n++) {
		for (uint32_t i = 0; i < n; i++)
			assert_true(put(i, 100 + i));
		take_none();
		(void)roce_ring_publish(&tx);
		for (uint32_t i = 0; i < n; i++)
			take(i, 100 + i);
		take_none();
		roce_ring_release(&rx);
	}
}

/* Also when the first entry of the burst is the one that leads to the beginning. */
UNIT_RULE(burst__that_begins_with_a_wrap_is_not_seen_before)
{
	begin_at(BYTES - LINE);
	assert_true(put(0, 100));
	assert_true(put(1, 100));
	take_none();
	(void)roce_ring_publish(&tx);
	take(0, 100);
	take(1, 100);
	take_none();
}

/* Old frames lie there whose bytes look like header words. */
UNIT_RULE(header__behind_the_last_entry_is_zero)
{
	static const uint32_t len[] = { 14, 60, 61, 4352 };

	for (uint32_t begin = BYTES - 8 * LINE; begin <= BYTES; begin += LINE) {
		for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
			begin_at(begin);
			memset(ring->data, 0x20, sizeof(ring->data));
			set_word(begin, 0);
			assert_non_null(roce_ring_put(&tx, len[i], &broken));
			(void)roce_ring_publish(&tx);
			assert_int_equal(word_at(tx.tail), 0);
		}
	}
}

/* ---- the bell ---- */

UNIT_RULE(publish__asks_for_the_bell_of_a_receiver_that_has_armed)
{
	assert_true(put(0, 60));
	assert_false(roce_ring_publish(&tx));
	roce_ring_arm(&rx, true);
	assert_true(put(1, 60));
	assert_true(roce_ring_publish(&tx));
	roce_ring_arm(&rx, false);
	assert_true(put(2, 60));
	assert_false(roce_ring_publish(&tx));
}

UNIT_RULE(publish__of_nothing_asks_for_nothing)
{
	roce_ring_arm(&rx, true);
	assert_false(roce_ring_publish(&tx));
	put_all(1, 60);
	assert_false(roce_ring_publish(&tx));
}

/* A new ring is polled by nobody, and armed by nobody. */
UNIT_RULE(ring__of_zeros_is_empty)
{
	take_none();
	assert_int_equal(ring->armed, 0);
}

/* ---- a peer that lies ---- */

UNIT_RULE(put__breaks_at_an_impossible_head)
{
	/* The sender is at 10 * BYTES, and has seen the receiver one ring behind. */
	static const uint32_t head[] = {
		10 * BYTES + LINE,     /* ahead of the sender */
		10 * BYTES + BYTES,    /* */
		9 * BYTES - LINE,      /* more than a ring behind */
		10 * BYTES - LINE + 1, /* no position of an entry */
		10 * BYTES - 1,        /* */
		0,                     /* */
		UINT32_MAX,
	};

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
		struct roce_ring_tx was;

		begin_at(10 * BYTES);
		tx.head_seen = 9 * BYTES;
		was = tx;
		ring->head = head[i];
		assert_null(roce_ring_put(&tx, 60, &broken));
		assert_true(broken);
		assert_fields(tx, (tail, was.tail), (first, 0));
	}
}

/* All that the receiver can say without a lie: the sender goes on. */
UNIT_RULE(put__believes_a_head_that_is_possible)
{
	for (uint32_t behind = 0; behind <= BYTES; behind += LINE) {
		begin_at(10 * BYTES);
		tx.head_seen = 9 * BYTES;
		ring->head = 10 * BYTES - behind;
		assert_int_equal(put(0, 60), behind <= BYTES - 2 * LINE);
		assert_false(broken);
	}
}

UNIT_RULE(next__breaks_at_an_impossible_header)
{
	static const struct {
		uint32_t at;
		uint32_t word;
		uint32_t beginning; /* the word there, when @c word leads to it */
	} entry[] = {
		{ 0, 1, 0 },
		{ 0, 13, 0 },
		{ 0, 4353, 0 },
		{ 0, 0x80000000, 0 },
		{ 0, 0xfffffffe, 0 },
		{ 0, WRAP, 0 }, /* there is no rest to leave out */
		{ BYTES - LINE, 61, 0 },
		{ BYTES - LINE, 4352, 0 },
		{ BYTES - 2 * LINE, 125, 0 },
		{ BYTES - 68 * LINE, 4352, 0 },
		{ BYTES - LINE, WRAP, 0 }, /* a wrap has a frame behind it */
		{ BYTES - LINE, WRAP, 13 },
		{ BYTES - LINE, WRAP, 4353 },
		{ BYTES - LINE, WRAP, WRAP },
		{ LINE, WRAP, 0 },
	};

	for (unsigned int side = GUARDED_BEGIN; side <= GUARDED_END; side++) {
		make((enum guarded_side)side);
		for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
			begin_at(5 * BYTES + entry[i].at);
			set_word(0, entry[i].beginning);
			set_word(entry[i].at, entry[i].word);
			assert_true(roce_ring_is_ready(&rx));
			take_broken();
		}
	}
}

/* The largest entries that end where the memory ends. */
UNIT_RULE(next__takes_what_reaches_to_the_end)
{
	static const uint32_t lines[] = { 1, 2, 69 };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint32_t len, want = lines[i] == 69 ? 4352 : lines[i] * LINE - 4;
		const uint8_t *frame;

		begin_at(BYTES - lines[i] * LINE);
		set_word(BYTES - lines[i] * LINE, want);
		frame = roce_ring_next(&rx, &len, &broken);
		assert_non_null(frame);
		assert_int_equal(len, want);
		assert_true(frame + len <= ring->data + BYTES);
		assert_int_equal(rx.head % BYTES, 0);
	}
}

/* A frame lies within the ring and has a possible length, for any words in the memory. */
UNIT_RULE(next__never_leaves_the_memory)
{
	uint64_t dice = 1;

	for (unsigned int round = 0; round < 200000; round++) {
		const uint8_t *frame;
		uint32_t len;

		dice = dice * 6364136223846793005u + 1442695040888963407u;
		if (round % 16 == 0)
			begin_at((uint32_t)(dice >> 32) & ~(LINE - 1));
		set_word(rx.head, (uint32_t)(dice >> 33) >> (dice >> 40) % 32);
		set_word(0, (uint32_t)(dice >> 35) % 5000);
		frame = roce_ring_next(&rx, &len, &broken);
		if (frame == NULL)
			continue;
		assert_in_range(len, 14, 4352);
		assert_true(frame >= ring->data && frame + len <= ring->data + BYTES);
		assert_int_equal((frame - ring->data) % LINE, 4);
	}
}
