/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

#define SEND_FRAMES 511u
#define RX_FRAMES   1023u
#define RED         128 /**< bytes behind the room of a frame to send that nobody may touch */

static struct rte_mempool *send_pool;
static struct rte_mempool *rx_pool; /* heads of received frames; their bytes lie elsewhere */
static struct rte_mbuf *scratch;
static struct rte_mbuf *dried[SEND_FRAMES];
static unsigned int dry_frames;

void
base_end(void)
{
	fputc('\n', stderr);
	abort();
}

static void
give_up(const char *what)
{
	fprintf(stderr, "fuzz: cannot %s: %s\n", what, rte_strerror(rte_errno));
	exit(EXIT_FAILURE);
}

static void
guard(struct rte_mempool *pool, void *arg, void *object, unsigned int index)
{
	RTE_SET_USED(pool);
	RTE_SET_USED(arg);
	RTE_SET_USED(index);
#ifdef ADDRESS_SANITIZER
	struct rte_mbuf *m = object;

	ASAN_POISON_MEMORY_REGION((uint8_t *)m->buf_addr + m->buf_len - RED, RED);
#else
	RTE_SET_USED(object);
#endif
}

static struct rte_mempool *
make_pool(const char *name, unsigned int frames, uint16_t room)
{
	/* No cache: a full pool must look full. */
	struct rte_mempool *pool =
			rte_pktmbuf_pool_create(name, frames, 0, 0, room, (int)rte_socket_id());

	if (pool == NULL)
		give_up("make a pool");
	return pool;
}

void
base_start(void)
{
	/* The EAL permutes the array and keeps its strings. */
	static char args[][24] = { "fuzz", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
		"-m", "64", "--log-level=error" };
	static char *argv[RTE_DIM(args) + 1];
	size_t i;

	if (send_pool != NULL)
		return;
	for (i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init((int)RTE_DIM(args), argv) < 0)
		give_up("start the EAL");
	send_pool = make_pool("fuzz_send", SEND_FRAMES, RTE_PKTMBUF_HEADROOM + BASE_ROOM + RED);
	rx_pool = make_pool("fuzz_rx", RX_FRAMES, 0);
	rte_mempool_obj_iter(send_pool, guard, NULL);
	scratch = rte_pktmbuf_alloc(send_pool);
}

struct rte_mbuf *
base_scratch(void)
{
	rte_pktmbuf_reset(scratch);
	return scratch;
}

struct rte_mempool *
base_pool(void)
{
	return send_pool;
}

void
base_dry(bool dry)
{
	if (!dry) {
		if (dry_frames > 0)
			rte_pktmbuf_free_bulk(dried, dry_frames);
		dry_frames = 0;
		return;
	}
	while (dry_frames < SEND_FRAMES &&
			(dried[dry_frames] = rte_pktmbuf_alloc(send_pool)) != NULL)
		dry_frames++;
}

unsigned int
base_frames(void)
{
	return rte_mempool_in_use_count(send_pool) - dry_frames - 1 +
			rte_mempool_in_use_count(rx_pool);
}

/* ---- received frames ---- */

/** The memory behind a segment: its bytes, and DPDK's record of who shares them. */
struct outside {
	struct rte_mbuf_ext_shared_info shared;
	void *bytes;
};

static void
free_outside(void *address, void *opaque)
{
	struct outside *outside = opaque;

	RTE_SET_USED(address);
	free(outside->bytes);
	free(outside);
}

static struct rte_mbuf *
segment(const uint8_t *bytes, uint32_t len, uint32_t offset)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rx_pool);
	struct outside *outside = malloc(sizeof(*outside));
	/* malloc(0) may return NULL, and a sanitizer guards one byte as well as none. */
	uint8_t *at = malloc(offset + len + (offset + len == 0));

	if (m == NULL || outside == NULL || at == NULL) {
		fputs("fuzz: out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	if (len > 0)
		memcpy(at + offset, bytes, len);
	*outside = (struct outside){ { .free_cb = free_outside, .fcb_opaque = outside }, at };
	rte_mbuf_ext_refcnt_set(&outside->shared, 1);
	rte_pktmbuf_attach_extbuf(m, at, RTE_BAD_IOVA, (uint16_t)(offset + len), &outside->shared);
	m->data_off = (uint16_t)offset;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return m;
}

struct rte_mbuf *
base_frame(const uint8_t *bytes, uint32_t len, const struct base_cut *cut)
{
	uint32_t first = cut->first == 0 || cut->first > len ? len : cut->first;
	struct rte_mbuf *head = segment(bytes, first, cut->offset);
	struct rte_mbuf *last = head;

	for (uint32_t at = first; at < len;) {
		uint32_t n = at == first && cut->second != 0 && cut->second < len - at ? cut->second
										       : len - at;

		last->next = segment(bytes + at, n, 0);
		last = last->next;
		head->nb_segs++;
		head->pkt_len += n;
		at += n;
	}
	return head;
}

/* ---- memory ---- */

static unsigned int live;
static unsigned int until_failure;

static void *
counted_alloc(void *arg, size_t size)
{
	/* Not rounded up: the address sanitizer shall see the first byte beyond. */
	void *p;

	RTE_SET_USED(arg);
	if (until_failure > 0 && --until_failure == 0)
		return NULL;
	if (posix_memalign(&p, RTE_CACHE_LINE_SIZE, size) != 0)
		give_up("allocate");
	memset(p, 0, size);
	live++;
	return p;
}

static void
counted_free(void *arg, void *p)
{
	RTE_SET_USED(arg);
	if (p != NULL)
		live--;
	free(p);
}

const struct roce_memory base_memory = { .alloc = counted_alloc, .free = counted_free };

unsigned int
base_live(void)
{
	return live;
}

void
base_fail(unsigned int nth)
{
	until_failure = nth;
}
