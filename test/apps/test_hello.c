/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hello.h"
#include "options.h"

static const struct perf_hello sample = {
	.index = 3,
	.session = 2,
	.test = PERF_SEND_LAT,
	.both = true,
	.verify = false,
	.size = 1 << 20,
	.endpoints = 64,
	.seconds = 10,
	.iterations = 1ull << 40,
	.warmup = 77,
	.rmr_context = 0x01020304,
	.address = 0x05060708090a0b0cull,
};

static void
decode__gives_back_what_was_encoded(void **state)
{
	uint8_t bytes[PERF_HELLO_LEN + 8] = { 0 };
	struct perf_hello hello;
	char sentence[256];

	perf_hello_encode(&sample, bytes);
	/* The transport may pad. */
	assert_true(perf_hello_decode(bytes, sizeof(bytes), &hello));
	assert_int_equal(hello.index, sample.index);
	assert_int_equal(hello.rmr_context, sample.rmr_context);
	assert_true(hello.address == sample.address);
	assert_true(perf_hello_agrees(&sample, &hello, sentence, sizeof(sentence)));
}

static void
decode__refuses_unknown_peers(void **state)
{
	uint8_t bytes[PERF_HELLO_LEN];
	struct perf_hello hello;

	perf_hello_encode(&sample, bytes);
	assert_false(perf_hello_decode(NULL, PERF_HELLO_LEN, &hello));
	assert_false(perf_hello_decode(bytes, PERF_HELLO_LEN - 1, &hello));
	bytes[4]++; /* version */
	assert_false(perf_hello_decode(bytes, PERF_HELLO_LEN, &hello));
	bytes[4]--;
	bytes[5] = PERF_TESTS;
	assert_false(perf_hello_decode(bytes, PERF_HELLO_LEN, &hello));
	bytes[5] = 0;
	bytes[0]++; /* magic */
	assert_false(perf_hello_decode(bytes, PERF_HELLO_LEN, &hello));
}

/* Every end has its memory elsewhere: that is told, and nothing to agree about. */
static void
agrees__wherever_the_memory_is(void **state)
{
	struct perf_hello theirs = sample;
	char sentence[256];

	theirs.rmr_context++;
	theirs.address += 4096;
	assert_true(perf_hello_agrees(&sample, &theirs, sentence, sizeof(sentence)));
}

/* Each thing that may differ is named by its option. */
static void
agrees__names_what_differs(void **state)
{
	struct {
		struct perf_hello theirs;
		const char *word;
	} rule[] = {
		{ sample, "in the test" },
		{ sample, "--size" },
		{ sample, "--qp" },
		{ sample, "--duration" },
		{ sample, "--iters" },
		{ sample, "--bidirectional" },
		{ sample, "--verify" },
		{ sample, "--warmup" },
		{ sample, "place" },
	};
	char sentence[256];

	rule[0].theirs.test = PERF_SEND_BW;
	rule[1].theirs.size++;
	rule[2].theirs.endpoints++;
	rule[3].theirs.seconds++;
	rule[4].theirs.iterations++;
	rule[5].theirs.both = false;
	rule[6].theirs.verify = true;
	rule[7].theirs.warmup++;
	rule[8].theirs.session++;
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		assert_false(perf_hello_agrees(
				&sample, &rule[i].theirs, sentence, sizeof(sentence)));
		assert_non_null(strstr(sentence, rule[i].word));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__gives_back_what_was_encoded),
		cmocka_unit_test(decode__refuses_unknown_peers),
		cmocka_unit_test(agrees__wherever_the_memory_is),
		cmocka_unit_test(agrees__names_what_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
