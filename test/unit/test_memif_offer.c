/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ethdev/memif_offer.h"
#include "rules.h"

#define REGION_SIZE 8192
#define LOG2_RING   4
#define RING_LEN    (ROCE_MEMIF_RING_HEADER + (1 << LOG2_RING) * ROCE_MEMIF_DESC)

/* A handshake that is good, of which each row of a rule has one thing wrong. */
struct talk {
	struct roce_memif_msg init;
	struct roce_memif_add_region region;
	uint64_t file_size;
	bool sealed;
	bool writable;
	bool cookies;
	bool blocking;
	struct roce_memif_add_ring ring[2];
};

static const struct talk good = {
	.init = { .type = ROCE_MEMIF_INIT, .init = { .version = ROCE_MEMIF_VERSION } },
	.region = { .index = 0, .size = REGION_SIZE },
	.file_size = REGION_SIZE,
	.sealed = true,
	.writable = true,
	.cookies = true,
	.ring = { { .flags = ROCE_MEMIF_RING_C2S, .log2_ring_size = LOG2_RING },
			{ .offset = RING_LEN, .log2_ring_size = LOG2_RING } },
};

static unsigned int
open_descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int
make_memory(const struct talk *talk)
{
	static const uint32_t cookie = ROCE_MEMIF_COOKIE;
	int fd = memfd_create("offer", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	char path[32];
	int again;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)talk->file_size), 0);
	for (off_t at = 0; talk->cookies && at <= RING_LEN; at += RING_LEN)
		assert_int_equal(pwrite(fd, &cookie, sizeof(cookie), at), sizeof(cookie));
	if (talk->sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	if (talk->writable)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return again;
}

static int
say(struct roce_memif_offer *offer, const struct roce_memif_msg *msg, int passed)
{
	const char *words;
	int rc = roce_memif_offer_take(offer, msg, passed, &words);

	/* A failure is always told, in words that fit the message for it. */
	assert_int_equal(rc < 0, words != NULL);
	if (words != NULL)
		assert_true(strlen(words) < ROCE_MEMIF_WORDS_LEN);
	return rc;
}

static int
say_ring(struct roce_memif_offer *offer, const struct roce_memif_add_ring *ring, bool blocking)
{
	struct roce_memif_msg msg = { .type = ROCE_MEMIF_ADD_RING, .add_ring = *ring };

	return say(offer, &msg, eventfd(0, blocking ? 0 : EFD_NONBLOCK));
}

/* Take all of it. @return what the whole is worth; -EPROTO also when a message was refused. */
static int
judge(const struct talk *talk, uint32_t queues)
{
	struct roce_memif_msg region = { .type = ROCE_MEMIF_ADD_REGION,
		.add_region = talk->region };
	struct roce_memif_msg connect = { .type = ROCE_MEMIF_CONNECT };
	struct roce_memif_offer offer;
	const char *words;
	int rc;

	roce_memif_offer_init(&offer);
	rc = say(&offer, &talk->init, -1);
	if (rc == 0)
		rc = say(&offer, &region, make_memory(talk));
	for (unsigned int i = 0; i < 2 && rc == 0; i++)
		rc = say_ring(&offer, &talk->ring[i], talk->blocking);
	if (rc == 0) {
		assert_int_equal(say(&offer, &connect, -1), 1);
		rc = roce_memif_offer_check(&offer, queues, &words);
		assert_int_equal(rc < 0, words != NULL);
	}
	roce_memif_offer_fini(&offer);
	return rc;
}

UNIT_RULE_IN(check__takes_what_net_memif_offers, NULL, NULL)
{
	assert_int_equal(judge(&good, 1), 0);
}

UNIT_RULE_IN(check__one_thing_wrong_is_enough, NULL, NULL)
{
	struct talk bad[20];
	unsigned int n = 0;

	for (unsigned int i = 0; i < 20; i++)
		bad[i] = good;
	bad[n++].init.init.version = 0x100;
	bad[n++].init.init.mode = 1;
	bad[n++].init.type = ROCE_MEMIF_ADD_RING;
	bad[n++].init.type = ROCE_MEMIF_HELLO;
	bad[n++].region.index = 1;
	bad[n++].region.size = 0;
	bad[n++].region.size = REGION_SIZE + 1;
	bad[n++].region.size = UINT64_MAX;
	bad[n++].file_size = 0;
	bad[n++].sealed = false;
	bad[n++].writable = false;
	bad[n++].cookies = false;
	bad[n++].blocking = true;
	bad[n++].ring[1].flags = ROCE_MEMIF_RING_C2S; /* the same index twice */
	bad[n++].ring[1].index = 1;
	bad[n++].ring[1].region = 1;
	bad[n++].ring[1].offset = RING_LEN + 1;
	bad[n++].ring[1].offset = REGION_SIZE - RING_LEN + ROCE_MEMIF_DESC;
	bad[n++].ring[0].offset = UINT32_MAX - 15;
	bad[n++].ring[0].log2_ring_size = ROCE_MEMIF_LOG2_RING_MAX + 1;
	assert_int_equal(n, 20);
	for (unsigned int i = 0; i < n; i++) {
		if (judge(&bad[i], 1) >= 0)
			fail_msg("row %u is taken", i);
	}
}

/* As many rings as the port has queues: net_memif leaves a queue without one at the memory's begin. */
UNIT_RULE_IN(check__counts_rings, NULL, NULL)
{
	assert_true(judge(&good, 2) < 0);
	assert_true(judge(&good, ROCE_ENGINES_MAX) < 0);
}

/* A region ends where its file does, and a ring where its region does. */
UNIT_RULE_IN(check__knows_the_last_byte, NULL, NULL)
{
	struct talk fits = good;

	fits.region.size = UINT64_C(2) * RING_LEN;
	fits.file_size = UINT64_C(2) * RING_LEN;
	assert_int_equal(judge(&fits, 1), 0);
	fits.region.size--;
	assert_true(judge(&fits, 1) < 0);
}

/* Offers that net_memif takes without an end: it counts a ring each time, and reads beyond its queues. */
UNIT_RULE_IN(take__of_a_ring_again_is_refused, NULL, NULL)
{
	struct roce_memif_offer offer;

	roce_memif_offer_init(&offer);
	assert_int_equal(say(&offer, &good.init, -1), 0);
	assert_int_equal(say_ring(&offer, &good.ring[0], false), 0);
	assert_true(say_ring(&offer, &good.ring[0], false) < 0);
	assert_int_equal(say_ring(&offer, &good.ring[1], false), 0);
	roce_memif_offer_fini(&offer);
}

UNIT_RULE_IN(take__regions_have_an_end, NULL, NULL)
{
	struct roce_memif_msg msg = { .type = ROCE_MEMIF_ADD_REGION };
	struct roce_memif_offer offer;

	roce_memif_offer_init(&offer);
	assert_int_equal(say(&offer, &good.init, -1), 0);
	for (uint16_t i = 0; i < ROCE_MEMIF_REGIONS_MAX; i++) {
		msg.add_region.index = i;
		assert_int_equal(say(&offer, &msg, eventfd(0, 0)), 0);
	}
	msg.add_region.index = ROCE_MEMIF_REGIONS_MAX;
	assert_true(say(&offer, &msg, eventfd(0, 0)) < 0);
	roce_memif_offer_fini(&offer);
}

/* Any type, with a descriptor and without, at the begin and behind INIT: each descriptor is kept or closed. */
UNIT_RULE_IN(take__loses_no_descriptor, NULL, NULL)
{
	unsigned int before = open_descriptors();

	for (uint32_t type = 0; type < 20; type++) {
		for (unsigned int how = 0; how < 4; how++) {
			struct roce_memif_msg msg = { .type = (uint16_t)type };
			struct roce_memif_offer offer;

			roce_memif_offer_init(&offer);
			if ((how & 1) != 0)
				say(&offer, &good.init, -1);
			say(&offer, &msg, (how & 2) != 0 ? eventfd(0, 0) : -1);
			roce_memif_offer_fini(&offer);
		}
	}
	judge(&good, 1);
	judge(&good, 2);
	assert_int_equal(open_descriptors(), before);
}
