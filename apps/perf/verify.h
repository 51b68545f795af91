/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_VERIFY_H
#define PERF_VERIFY_H

/**
 * @file
 * Checks of --verify: every message once, in order, intact, on its own endpoint.
 *
 * The first eight bytes of a message say which one it is: its number on the endpoint, and the
 * endpoint. The rest follows from these and a salt, so sender and receiver agree on every byte
 * without talking. Below eight bytes only the low bytes of the number fit: loss and order are still
 * seen, a flipped bit looks like one of them. A message of no bytes can only be counted.
 */

#include <stddef.h>
#include <stdint.h>

/** Ways to break the promise. */
enum perf_violation {
	PERF_LOST,
	PERF_DUPLICATED,
	PERF_REORDERED,
	PERF_CORRUPTED,
	PERF_MISDELIVERED,
	PERF_WRONG_LENGTH,
	PERF_VIOLATIONS,
};

/** Count of each kind, and where it was seen first. */
struct perf_violations {
	struct {
		uint64_t count;
		uint32_t endpoint;
		uint64_t message;
		uint64_t byte; /**< of PERF_CORRUPTED and PERF_WRONG_LENGTH */
	} kind[PERF_VIOLATIONS];
};

/** The messages that one endpoint has received. */
struct perf_verify {
	uint32_t endpoint;
	uint64_t salt; /**< the same at sender and receiver; not the same in both directions */
	uint64_t next; /**< number of the message to come */
	uint64_t seen; /**< bit i: message next - 1 - i has come */
};

/** Expect message 0 on @p endpoint. */
void perf_verify_init(struct perf_verify *verify, uint32_t endpoint, uint64_t salt);

/** Write the content of message @p number of an endpoint into @p message. */
void
perf_verify_fill(uint64_t salt, uint32_t endpoint, uint64_t number, uint8_t *message, size_t size);

/**
 * Check one received message; what is wrong goes into @p bad.
 * @param got   bytes that arrived.
 * @param size  bytes that were sent.
 */
void perf_verify_check(struct perf_verify *verify, const uint8_t *message, size_t got, size_t size,
		struct perf_violations *bad);

/**
 * Check memory that must hold message @p number of an endpoint and no other: another message of the
 * endpoint there means that this one is lost.
 */
void perf_verify_place(const struct perf_verify *verify, uint64_t number, const uint8_t *message,
		size_t size, struct perf_violations *bad);

/** All has arrived that will: of @p sent messages, those not seen at the end are lost. */
void perf_verify_end(struct perf_verify *verify, uint64_t sent, struct perf_violations *bad);

/** Count one violation. */
void perf_violation_note(struct perf_violations *bad, enum perf_violation kind, uint32_t endpoint,
		uint64_t message, uint64_t byte);

/** @return the number of violations of all kinds. */
uint64_t perf_violations_total(const struct perf_violations *bad);

/** Add the violations of @p more to @p bad. */
void perf_violations_add(struct perf_violations *bad, const struct perf_violations *more);

/** @return a word for a kind, such as "lost". */
const char *perf_violation_name(enum perf_violation kind);

#endif /* PERF_VERIFY_H */
