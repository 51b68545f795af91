/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_RING_H
#define ROCE_LOCAL_RING_H

/**
 * @file
 * One direction of a channel: a ring of frames in memory that two processes share.
 *
 * One sender, one receiver. Each keeps its own position; the memory has only what the other must see. A frame is an
 * entry: a header word and behind it the bytes, from a multiple of the cache line on, in one piece. Before the sender
 * publishes an entry it clears the header word behind that entry. So the receiver, which polls the next header word,
 * finds zero there until the next entry is whole: an idle poll is one load, and a frame costs no line but its own.
 *
 * Neither end trusts the other. The receiver reads a header word once and checks it; it copies a frame before anything
 * is decided by its bytes. The sender checks how far the receiver says it is. A ring that fails a check is broken, and
 * its user closes it; nothing outside the ring is read or written for any content of the memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#define ROCE_RING_LINE 64u
#ifndef ROCE_RING_BYTES
/**
 * A power of two, many times what may be in flight: when the sender comes back to a line, the receiver's own cache has lost
 * it, and it is fetched from the shared one in less time. test/model has no time for so many.
 */
#define ROCE_RING_BYTES (4u * 1024u * 1024u)
#endif
/** At the end of such a part the sender begins anew if all was read: quiet channels touch little memory. */
#define ROCE_RING_PART      (ROCE_RING_BYTES / 16)
#define ROCE_RING_FRAME_MAX 4352u /**< largest frame: path MTU 4096 and its headers */
#define ROCE_RING_FRAME_MIN 14u   /**< an Ethernet header */

/**
 * The shared memory of one direction. Zero when it is new. The receiver writes its position with each burst and the mark
 * hardly ever; the sender reads the mark with each burst and the position hardly ever. So they lie apart, by two lines,
 * since processors fetch lines in pairs.
 */
struct roce_ring {
	uint32_t head; /**< bytes that the receiver has released, modulo 2^32; written by the receiver */
	uint8_t pad0[(size_t)2 * ROCE_RING_LINE - sizeof(uint32_t)];
	uint32_t armed; /**< 1: the receiver does not poll, and wants its bell rung; written by the receiver */
	uint8_t pad1[(size_t)2 * ROCE_RING_LINE - sizeof(uint32_t)];
	uint8_t data[ROCE_RING_BYTES];
};

/** The memory of a channel: side 0 sends by ring[0], side 1 by ring[1]. */
struct roce_channel_memory {
	struct roce_ring ring[2];
};

/** The sender's end. Private; one thread at a time. */
struct roce_ring_tx {
	struct roce_ring *ring;
	uint32_t tail;      /**< where the next entry begins */
	uint32_t head_seen; /**< the receiver's, when last read */
	uint32_t first_at;  /**< of the first entry that is not published */
	uint32_t first;     /**< its header word; 0: all is published */
};

/** The receiver's end. Private; one thread at a time. */
struct roce_ring_rx {
	struct roce_ring *ring;
	uint32_t head; /**< where the next entry begins */
};

/** The header word of the rest of the memory, however much that is: the next entry is at its beginning. */
#define ROCE_RING_WRAP UINT32_MAX

/** Lines behind an entry that the receiver prefetches: they are in the sender's cache. */
#define ROCE_RING_AHEAD 4u

/** Bytes by which the sender takes lines back from the receiver's cache before it writes them, and entries that do so. */
#define ROCE_RING_BACK  2048u
#define ROCE_RING_LARGE 1024u

/** Bytes of an entry with a frame of @p len bytes. */
static inline uint32_t
roce_ring_entry(uint32_t len)
{
	return ((uint32_t)sizeof(uint32_t) + len + ROCE_RING_LINE - 1) & ~(ROCE_RING_LINE - 1);
}

static inline uint32_t *
roce_ring_header(struct roce_ring *ring, uint32_t position)
{
	return (uint32_t *)(void *)&ring->data[position & (ROCE_RING_BYTES - 1)];
}

/**
 * Is there room for @p need bytes, and for the header word behind them?
 * @param broken set when the receiver's position is impossible.
 */
static inline bool
roce_ring_has_room(struct roce_ring_tx *tx, uint32_t need, bool *broken)
{
	if (likely(tx->tail - tx->head_seen + need + ROCE_RING_LINE <= ROCE_RING_BYTES))
		return true;
	tx->head_seen = __atomic_load_n(&tx->ring->head, __ATOMIC_ACQUIRE);
	if (unlikely(tx->tail - tx->head_seen > ROCE_RING_BYTES ||
			    tx->head_seen % ROCE_RING_LINE != 0)) {
		*broken = true;
		return false;
	}
	return tx->tail - tx->head_seen + need + ROCE_RING_LINE <= ROCE_RING_BYTES;
}

/* The header word behind the entry is cleared before the entry's own can be seen. */
static inline void
roce_ring_append(struct roce_ring_tx *tx, uint32_t header, uint32_t bytes)
{
	__atomic_store_n(roce_ring_header(tx->ring, tx->tail + bytes), 0, __ATOMIC_RELAXED);
	if (tx->first == 0) {
		tx->first_at = tx->tail;
		tx->first = header;
	} else {
		__atomic_store_n(roce_ring_header(tx->ring, tx->tail), header, __ATOMIC_RELAXED);
	}
	tx->tail += bytes;
}

/* Has the receiver read all, so that the rest of the ring, behind @p offset, is not needed? */
static inline bool
roce_ring_is_quiet(const struct roce_ring_tx *tx, uint32_t offset, uint32_t need)
{
	return tx->tail == __atomic_load_n(&tx->ring->head, __ATOMIC_ACQUIRE) &&
			need + ROCE_RING_LINE <= offset;
}

/* Does an entry go to the beginning of the ring? It lies in one piece. */
static inline bool
roce_ring_wraps(const struct roce_ring_tx *tx, uint32_t need)
{
	uint32_t offset = tx->tail & (ROCE_RING_BYTES - 1);

	if (likely((offset ^ (offset + need)) < ROCE_RING_PART))
		return false;
	return offset + need > ROCE_RING_BYTES || roce_ring_is_quiet(tx, offset, need);
}

/* The compiler has PREFETCHW for the processors that it is told of alone; all of x86-64 take it, or ignore it. */
static inline void
roce_ring_fetch(const uint32_t *line)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/*
 * The lines that will be written after some more entries. Stores leave a processor in their order, so each that misses would
 * wait for the one before.
 */
static inline void
roce_ring_prefetch(const struct roce_ring_tx *tx, uint32_t bytes)
{
	uint32_t from = tx->tail + ROCE_RING_BACK;

	/* Beyond that there are entries that the receiver may be reading. */
	if (unlikely(from + bytes - tx->head_seen > ROCE_RING_BYTES))
		return;
	for (uint32_t at = 0; at < bytes; at += ROCE_RING_LINE)
		roce_ring_fetch(roce_ring_header(tx->ring, from + at));
}

/**
 * Reserve an entry. Its bytes are the caller's to write until roce_ring_publish(), which must follow.
 * @param len ROCE_RING_FRAME_MIN..ROCE_RING_FRAME_MAX.
 * @param broken set when the receiver's position is impossible.
 * @return where the frame goes; NULL: no room, or broken.
 */
static inline uint8_t *
roce_ring_put(struct roce_ring_tx *tx, uint32_t len, bool *broken)
{
	uint32_t need = roce_ring_entry(len);
	uint32_t rest = ROCE_RING_BYTES - (tx->tail & (ROCE_RING_BYTES - 1));
	uint8_t *frame;

	if (unlikely(roce_ring_wraps(tx, need))) {
		if (!roce_ring_has_room(tx, rest + need, broken))
			return NULL;
		roce_ring_append(tx, ROCE_RING_WRAP, rest);
	} else if (unlikely(!roce_ring_has_room(tx, need, broken))) {
		return NULL;
	}
	frame = (uint8_t *)(roce_ring_header(tx->ring, tx->tail) + 1);
	roce_ring_append(tx, len, need);
	if (need >= ROCE_RING_LARGE)
		roce_ring_prefetch(tx, need);
	return frame;
}

/** Let the receiver see all entries that were put. @return does the receiver want its bell rung? */
static inline bool
roce_ring_publish(struct roce_ring_tx *tx)
{
	if (tx->first == 0)
		return false;
	__atomic_store_n(roce_ring_header(tx->ring, tx->first_at), tx->first, __ATOMIC_RELEASE);
	tx->first = 0;
	/* Either the receiver, which arms and then looks, sees the entry, or the sender sees the mark. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&tx->ring->armed, __ATOMIC_RELAXED) != 0;
}

/** Is there an entry? What it says has not been checked. */
static inline bool
roce_ring_is_ready(const struct roce_ring_rx *rx)
{
	return __atomic_load_n(roce_ring_header(rx->ring, rx->head), __ATOMIC_RELAXED) != 0;
}

/**
 * The next entry, if there is one. It stays in place until roce_ring_release().
 * @param len   of the frame, valid.
 * @param broken set when the header word is impossible.
 * @return the frame, ROCE_RING_LINE-aligned plus four bytes, whose bytes may change at any time; NULL: none, or broken.
 */
static inline const uint8_t *
roce_ring_next(struct roce_ring_rx *rx, uint32_t *len, bool *broken)
{
	const uint32_t *header = roce_ring_header(rx->ring, rx->head);
	uint32_t word = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	uint32_t rest = ROCE_RING_BYTES - (rx->head & (ROCE_RING_BYTES - 1));

	if (word == 0)
		return NULL;
	if (unlikely(word == ROCE_RING_WRAP && rest != ROCE_RING_BYTES)) {
		rx->head += rest;
		rest = ROCE_RING_BYTES;
		header = roce_ring_header(rx->ring, rx->head);
		word = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	}
	if (unlikely(word < ROCE_RING_FRAME_MIN || word > ROCE_RING_FRAME_MAX ||
			    roce_ring_entry(word) > rest)) {
		*broken = true;
		return NULL;
	}
	rx->head += roce_ring_entry(word);
	*len = word;
	return (const uint8_t *)(header + 1);
}

/** Give the entries that were taken back to the sender. */
static inline void
roce_ring_release(struct roce_ring_rx *rx)
{
	__atomic_store_n(&rx->ring->head, rx->head, __ATOMIC_RELEASE);
}

/**
 * The receiver stops polling, or polls again. After arming it must look once more: an entry that is published before
 * the sender sees the mark rings no bell.
 */
static inline void
roce_ring_arm(struct roce_ring_rx *rx, bool armed)
{
	__atomic_store_n(&rx->ring->armed, armed, __ATOMIC_RELAXED);
	if (armed)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
