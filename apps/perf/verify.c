/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define WORD          8u
#define ENDPOINT_BITS 16
#define NUMBER_BITS   (64 - ENDPOINT_BITS)
#define NUMBER_MASK   ((1ull << NUMBER_BITS) - 1)
/* A number farther away than this is a damaged one: no window is so wide. */
#define FAR        (1 << 24)
#define SEEN_WIDTH 64

static const char *const violation_name[PERF_VIOLATIONS] = {
	[PERF_LOST] = "lost",
	[PERF_DUPLICATED] = "duplicated",
	[PERF_REORDERED] = "reordered",
	[PERF_CORRUPTED] = "corrupted",
	[PERF_MISDELIVERED] = "misdelivered",
	[PERF_WRONG_LENGTH] = "of wrong length",
};

const char *
perf_violation_name(enum perf_violation kind)
{
	return violation_name[kind];
}

void
perf_verify_init(struct perf_verify *verify, uint32_t endpoint, uint64_t salt)
{
	/* No message before message 0 is missing. */
	*verify = (struct perf_verify){ .endpoint = endpoint, .salt = salt, .seen = UINT64_MAX };
}

static uint64_t
head_of(uint32_t endpoint, uint64_t number)
{
	return (uint64_t)endpoint << NUMBER_BITS | (number & NUMBER_MASK);
}

/* Word @p i of a message, i > 0. The key is different for every message, the step odd. */
static uint64_t
word(uint64_t key, size_t i)
{
	uint64_t x = key + i * 0x9e3779b97f4a7c15ull;

	return htole64(x ^ x >> 29);
}

static uint64_t
key_of(uint64_t salt, uint64_t head)
{
	uint64_t x = (salt ^ head) * 0xbf58476d1ce4e5b9ull;

	return (x ^ x >> 32) * 0x94d049bb133111ebull;
}

void
perf_verify_fill(uint64_t salt, uint32_t endpoint, uint64_t number, uint8_t *message, size_t size)
{
	uint64_t head = head_of(endpoint, number);
	uint64_t key = key_of(salt, head), w = htole64(head);
	size_t words = size / WORD, tail = size % WORD;

	for (size_t i = 0; i < words; i++) {
		memcpy(message + i * WORD, &w, WORD);
		w = word(key, i + 1);
	}
	if (tail > 0)
		memcpy(message + words * WORD, &w, tail);
}

/* First byte in which a message is not what perf_verify_fill() wrote; @p size: it is. */
static size_t
first_difference(uint64_t salt, uint64_t head, const uint8_t *message, size_t size)
{
	uint64_t key = key_of(salt, head), want = htole64(head), have;
	size_t at = 0, i = 0;

	for (; size - at >= WORD; at += WORD) {
		memcpy(&have, message + at, WORD);
		if (have != want)
			break;
		want = word(key, ++i);
	}
	for (; at < size; at++, want = htole64(le64toh(want) >> 8))
		if (message[at] != (uint8_t)le64toh(want))
			break;
	return at;
}

/* Distance from the expected number to the one that the message claims, from the bytes there are. */
static int64_t
distance(uint64_t next, uint64_t claimed, size_t size)
{
	unsigned int bits = size >= WORD ? NUMBER_BITS : (unsigned int)size * 8;

	if (bits > NUMBER_BITS)
		bits = NUMBER_BITS;
	return (int64_t)((claimed - next) << (64 - bits)) >> (64 - bits);
}

void
perf_violation_note(struct perf_violations *bad, enum perf_violation kind, uint32_t endpoint,
		uint64_t message, uint64_t byte)
{
	if (bad->kind[kind].count++ != 0)
		return;
	bad->kind[kind].endpoint = endpoint;
	bad->kind[kind].message = message;
	bad->kind[kind].byte = byte;
}

/* The expected message has come. */
static void
advance(struct perf_verify *v, uint64_t by)
{
	v->seen = by >= SEEN_WIDTH ? 1 : v->seen << by | 1;
	v->next += by;
}

/* A message is intact and says that it is @p ahead of the expected one; not 0. */
static void
out_of_place(struct perf_verify *v, int64_t ahead, struct perf_violations *bad)
{
	uint64_t back, bit;

	if (ahead > 0) {
		perf_violation_note(bad, PERF_LOST, v->endpoint, v->next, 0);
		bad->kind[PERF_LOST].count += (uint64_t)ahead - 1;
		advance(v, (uint64_t)ahead + 1);
		return;
	}
	back = (uint64_t)-ahead;
	bit = back <= SEEN_WIDTH ? 1ull << (back - 1) : 0;
	if (bit == 0 || (v->seen & bit) != 0) {
		perf_violation_note(bad, PERF_DUPLICATED, v->endpoint, v->next - back, 0);
		return;
	}
	/* It was taken for lost when a later one came. */
	v->seen |= bit;
	bad->kind[PERF_LOST].count--;
	perf_violation_note(bad, PERF_REORDERED, v->endpoint, v->next - back, 0);
}

/* Can a message that is not the expected one be another message of this endpoint? */
static bool
other_message(const struct perf_verify *v, uint64_t head, const uint8_t *message, size_t size)
{
	int64_t ahead = distance(v->next, head & NUMBER_MASK, size);

	if (size < WORD)
		return true;
	return head >> NUMBER_BITS == v->endpoint && ahead <= FAR && ahead >= -FAR &&
			first_difference(v->salt, head, message, size) == size;
}

void
perf_verify_check(struct perf_verify *verify, const uint8_t *message, size_t got, size_t size,
		struct perf_violations *bad)
{
	uint64_t head = 0;
	size_t at;

	if (got != size) {
		perf_violation_note(bad, PERF_WRONG_LENGTH, verify->endpoint, verify->next, got);
		advance(verify, 1);
		return;
	}
	at = first_difference(verify->salt, head_of(verify->endpoint, verify->next), message, size);
	if (at == size) {
		advance(verify, 1);
		return;
	}
	memcpy(&head, message, size < WORD ? size : WORD);
	head = le64toh(head);
	if (other_message(verify, head, message, size)) {
		out_of_place(verify, distance(verify->next, head & NUMBER_MASK, size), bad);
		return;
	}
	/* Beyond eight bytes the content vouches for the endpoint that it names. */
	if (size > WORD && head >> NUMBER_BITS != verify->endpoint &&
			first_difference(verify->salt, head, message, size) == size) {
		perf_violation_note(bad, PERF_MISDELIVERED, verify->endpoint, verify->next, 0);
		return;
	}
	perf_violation_note(bad, PERF_CORRUPTED, verify->endpoint, verify->next, at);
	advance(verify, 1);
}

void
perf_verify_place(const struct perf_verify *verify, uint64_t number, const uint8_t *message,
		size_t size, struct perf_violations *bad)
{
	size_t at = first_difference(
			verify->salt, head_of(verify->endpoint, number), message, size);
	enum perf_violation kind = PERF_CORRUPTED;
	uint64_t head = 0;

	if (at == size)
		return;
	memcpy(&head, message, size < WORD ? size : WORD);
	head = le64toh(head);
	if (size > WORD && first_difference(verify->salt, head, message, size) == size)
		kind = head >> NUMBER_BITS == verify->endpoint ? PERF_LOST : PERF_MISDELIVERED;
	perf_violation_note(bad, kind, verify->endpoint, number, kind == PERF_CORRUPTED ? at : 0);
}

void
perf_verify_end(struct perf_verify *verify, uint64_t sent, struct perf_violations *bad)
{
	if (verify->next == sent)
		return;
	if (verify->next > sent) {
		perf_violation_note(bad, PERF_DUPLICATED, verify->endpoint, sent, 0);
		return;
	}
	perf_violation_note(bad, PERF_LOST, verify->endpoint, verify->next, 0);
	bad->kind[PERF_LOST].count += sent - verify->next - 1;
}

uint64_t
perf_violations_total(const struct perf_violations *bad)
{
	uint64_t total = 0;

	for (int i = 0; i < PERF_VIOLATIONS; i++)
		total += bad->kind[i].count;
	return total;
}

void
perf_violations_add(struct perf_violations *bad, const struct perf_violations *more)
{
	for (int i = 0; i < PERF_VIOLATIONS; i++) {
		uint64_t count = bad->kind[i].count;

		if (count == 0)
			bad->kind[i] = more->kind[i];
		else
			bad->kind[i].count = count + more->kind[i].count;
	}
}
