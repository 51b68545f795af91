/* SPDX-License-Identifier: BSD-3-Clause */

/* Regions over the program's own memory: its mempools, memory it registered with the EAL, any other; and zero_copy=. */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include "ethdev/memory.h"
#include "../limit.h"
#include "node.h"
#include "observe/log.h"

#define BYTES   8192u /* of a message */
#define FOREIGN 65536u

static char *said; /* by the log since hear() */
static size_t said_len;
static FILE *log_stream;

static void
hear(void)
{
	log_stream = open_memstream(&said, &said_len);
	assert_non_null(log_stream);
	rte_openlog_stream(log_stream);
	rte_log_set_global_level(RTE_LOG_WARNING);
	assert_int_equal(rte_log_set_level((uint32_t)roce_log_port, RTE_LOG_WARNING), 0);
}

static void
unhear(void)
{
	rte_openlog_stream(NULL);
	rte_log_set_level((uint32_t)roce_log_port, RTE_LOG_ERR);
	fclose(log_stream);
	free(said);
	said = NULL;
}

/* How often the log has said so since hear(). */
static unsigned int
times_said(const char *words)
{
	unsigned int n = 0;

	fflush(log_stream);
	for (const char *at = said; at != NULL && (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

static struct rte_mempool *pool;
static struct node a, b;

static void
open_pair(const char *more, uint32_t flags)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	char params[256];

	pool = embed_pool("frames", 1023, 2048);
	snprintf(params, sizeof(params), "%s %s", one.params, more);
	one.params = params;
	one.flags = flags;
	one.pool[0] = pool;
	two.pool[0] = pool;
	nodes_open(&a, &b, &one, &two);
}

static void
close_pair(void)
{
	nodes_close(&a, &b);
	embed_pool_end(pool);
}

/* Frames of one device reach the other as they are, and what is not his is dropped. @return frames. */
static uint16_t
carry(struct node *from, struct node *to)
{
	struct rte_mbuf *pkts[EMBED_BURST];
	uint16_t n = roce_device_tx(from->device, 0, pkts, EMBED_BURST);

	rte_pktmbuf_free_bulk(pkts, roce_device_rx(to->device, 0, pkts, n));
	return n;
}

static void
post(struct roce_mr *mr, const void *from, uint32_t len, uint64_t wr_id)
{
	const struct roce_sge in = { (uintptr_t)b.memory, BYTES, roce_mr_key(b.mr) };
	const struct roce_sge out = { (uintptr_t)from, len, roce_mr_key(mr) };
	const struct roce_recv_wr recv = { .wr_id = wr_id, .sg = &in, .num_sge = 1 };
	const struct roce_wr send = { .wr_id = wr_id,
		.sg = &out,
		.num_sge = 1,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED };

	memset(b.memory, 0, BYTES);
	assert_int_equal(roce_qp_post_recv(b.qp[0], &recv), 0);
	assert_int_equal(roce_qp_post_send(a.qp[0], &send), 0);
}

/* One message from memory of a region arrives. */
static void
send_one(struct roce_mr *mr, const void *from, uint32_t len)
{
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	struct roce_event event[2];

	post(mr, from, len, 1);
	for (unsigned int i = 0; i < 2;) {
		struct roce_cq *cq = i == 0 ? b.recv_cq : a.send_cq;

		assert_true(rte_get_tsc_cycles() < end);
		carry(&a, &b);
		carry(&b, &a);
		i += roce_cq_poll(cq, &event[i], 1);
	}
	assert_int_equal(event[0].status, ROCE_WC_SUCCESS);
	assert_int_equal(event[1].status, ROCE_WC_SUCCESS);
	assert_int_equal(event[0].byte_len, len);
	assert_memory_equal(b.memory, from, len);
}

/* So does one from a region of @p size bytes at @p at, which goes then; @p frames of it went without a copy. */
static void
send_from_region(uint8_t *at, size_t size, size_t offset, uint32_t len, uint64_t frames)
{
	struct roce_mr *mr;

	assert_int_equal(roce_mr_create(a.pd, (uintptr_t)at, size, 0, &mr), 0);
	send_one(mr, at + offset, len);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy"), frames);
	assert_int_equal(roce_mr_destroy(mr), 0);
}

static void
fill(uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = (uint8_t)(i * 31 + (i >> 8));
}

/* ---- mempools ---- */

static struct roce_mr *mr_of_chunk[8];

static void
register_chunk(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *chunk, unsigned int i)
{
	assert_true(i < RTE_DIM(mr_of_chunk));
	assert_int_equal(roce_mr_create(a.pd, (uintptr_t)chunk->addr, chunk->len,
					 IBV_ACCESS_LOCAL_WRITE, &mr_of_chunk[i]),
			0);
}

/*
 * A region for each chunk of a mempool (rte_mempool_mem_iter()) covers every object of it: what lies in an object or in
 * a frame is sent from there, without a copy.
 */
static void
mempool__is_a_region_a_chunk(void **state)
{
	struct rte_mempool *mine;
	struct rte_mbuf *m;
	uint8_t *at;

	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS);
	mine = embed_pool("mine", 255, BYTES);
	rte_mempool_mem_iter(mine, register_chunk, NULL);
	m = rte_pktmbuf_alloc(mine);
	assert_non_null(m);
	at = (uint8_t *)rte_pktmbuf_append(m, BYTES);
	assert_non_null(at);
	fill(at, BYTES);
	for (unsigned int i = 0; i < mine->nb_mem_chunks; i++) {
		if (roce_mr_covers(roce_device_domain(a.device), roce_mr_key(mr_of_chunk[i]),
				    (uintptr_t)at, BYTES))
			send_one(mr_of_chunk[i], at, BYTES);
	}
	assert_int_equal(embed_counter(a.device, "tx_zero_copy"), BYTES / 1024);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy_missed"), 0);
	for (unsigned int i = 0; i < mine->nb_mem_chunks; i++)
		assert_int_equal(roce_mr_destroy(mr_of_chunk[i]), 0);
	rte_pktmbuf_free(m);
	embed_pool_end(mine);
	close_pair();
}

/* Objects that are no frames, and memory of rte_malloc(). */
static void
heap__is_a_region(void **state)
{
	uint8_t *at = rte_malloc(NULL, BYTES, 0);

	assert_non_null(at);
	fill(at, BYTES);
	open_pair("zero_copy=1", ROCE_ATTACH_MULTI_SEGS);
	send_from_region(at, BYTES, 0, BYTES - 1, BYTES / 1024);
	close_pair();
	rte_free(at);
}

/* ---- external memory ---- */

/* Memory of the program's own making; @p iova: of its pages for the EAL, or NULL. */
static uint8_t *
map_foreign(void)
{
	uint8_t *at = mmap(
			NULL, FOREIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	fill(at, FOREIGN);
	return at;
}

static void
register_foreign(uint8_t *at, bool known)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int pages = (unsigned int)(FOREIGN / page);
	rte_iova_t iova[FOREIGN / 4096];

	/* A device that is there would be told by rte_dev_dma_map(), with the same numbers. */
	for (unsigned int i = 0; i < pages; i++)
		iova[i] = (uintptr_t)at + i * page;
	if (rte_extmem_register(at, FOREIGN, known ? iova : NULL, pages, page) != 0)
		fail_msg("rte_extmem_register: %s", rte_strerror(rte_errno));
}

static void
unregister_foreign(uint8_t *at)
{
	assert_int_equal(rte_extmem_unregister(at, FOREIGN), 0);
	munmap(at, FOREIGN);
}

/* Memory that the EAL does not know is a region like any other; a device that wants IOVAs just gets copies of it. */
static void
foreign__is_copied_and_told_once(void **state)
{
	uint8_t *at = map_foreign();
	struct roce_mr *mr[2];

	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS);
	/* That of the node is such memory, too. */
	a.port->unfit_logged = 0;
	hear();
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(roce_mr_create(a.pd, (uintptr_t)at, FOREIGN, 0, &mr[i]), 0);
		send_one(mr[i], at, BYTES);
	}
	assert_int_equal(times_said("rte_extmem_register()"), 1);
	unhear();
	assert_int_equal(embed_counter(a.device, "tx_zero_copy"), 0);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy_missed"), 2 * BYTES / 1024);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(roce_mr_destroy(mr[i]), 0);
	close_pair();
	munmap(at, FOREIGN);
}

static void
foreign__is_sent_from_when_it_is_registered(void **state)
{
	uint8_t *at = map_foreign();

	register_foreign(at, true);
	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS);
	assert_int_equal(roce_memory_iova(a.port, at + 3585, 1024), (uintptr_t)at + 3585);
	/* Payloads that begin in one page and end in the next. */
	send_from_region(at, FOREIGN, 3585, BYTES, BYTES / 1024);
	close_pair();
	unregister_foreign(at);
}

/* Registered, but nobody has said what a device would call it. */
static void
foreign__without_iova_is_copied(void **state)
{
	uint8_t *at = map_foreign();

	register_foreign(at, false);
	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS);
	assert_int_equal(roce_memory_iova(a.port, at, 1024), RTE_BAD_IOVA);
	send_from_region(at, FOREIGN, 0, BYTES, 0);
	close_pair();
	unregister_foreign(at);
}

/* A region of which the EAL knows only the beginning. */
static void
foreign__has_to_be_known_to_its_end(void **state)
{
	uint8_t *at = map_foreign();

	register_foreign(at, true);
	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS);
	assert_true(roce_memory_readable(a.port, (uintptr_t)at, FOREIGN));
	assert_true(roce_memory_readable(a.port, (uintptr_t)at + 1, FOREIGN - 1));
	assert_false(roce_memory_readable(a.port, (uintptr_t)at + 1, FOREIGN));
	close_pair();
	unregister_foreign(at);
}

/* Software reads anything. */
static void
foreign__is_sent_from_by_software(void **state)
{
	uint8_t *at = map_foreign();

	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS | ROCE_ATTACH_NO_IOVA);
	send_from_region(at, FOREIGN, 0, BYTES, BYTES / 1024);
	close_pair();
	munmap(at, FOREIGN);
}

/* ---- zero_copy= ---- */

/* Without zero_copy= payload is copied, whatever the flags are. Where it has no effect, the log says so. */
static void
zero_copy__is_asked_for_and_possible(void **state)
{
	open_pair("", ROCE_ATTACH_MULTI_SEGS | ROCE_ATTACH_NO_IOVA);
	send_one(a.mr, a.memory, BYTES);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy"), 0);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy_missed"), 0);
	close_pair();
	hear();
	open_pair("zero_copy=256", ROCE_ATTACH_NO_IOVA);
	send_one(a.mr, a.memory, BYTES);
	assert_int_equal(embed_counter(a.device, "tx_zero_copy"), 0);
	assert_int_equal(times_said("zero_copy= has no effect"), 1);
	unhear();
	close_pair();
}

/* Unknown flags are refused, and so are flags of handover for a port. */
static void
flags__are_for_handover(void **state)
{
	struct roce_attach_config config = embed_handover(1);

	config.flags = 0x80;
	embed_refused(&config, -EINVAL, "flags");
	config.mode = ROCE_ATTACH_QUEUES;
	config.flags = ROCE_ATTACH_MULTI_SEGS;
	embed_refused(&config, -EINVAL, "flags");
}

/* The program keeps what it has to send: no completion, until it lets go of the last frame. */
static void
completion__waits_for_the_program(void **state)
{
	struct rte_mbuf *kept[EMBED_BURST] = { NULL };
	struct roce_event event;
	unsigned int n = 0;

	open_pair("zero_copy=256", ROCE_ATTACH_MULTI_SEGS | ROCE_ATTACH_NO_IOVA);
	post(a.mr, a.memory, BYTES, 7);
	/* Until b has all of it: each frame goes as a copy, and stays with the program. */
	while (roce_cq_count(b.recv_cq) == 0) {
		struct rte_mbuf *pkts[EMBED_BURST];
		uint16_t got = roce_device_tx(a.device, 0, pkts, EMBED_BURST);

		for (uint16_t i = 0; i < got; i++) {
			struct rte_mbuf *copy = rte_pktmbuf_copy(pkts[i], pool, 0, UINT32_MAX);

			assert_non_null(copy);
			rte_pktmbuf_free_bulk(&copy, roce_device_rx(b.device, 0, &copy, 1));
			if (pkts[i]->nb_segs == 1) {
				rte_pktmbuf_free(pkts[i]);
				continue;
			}
			assert_true(n < EMBED_BURST);
			kept[n++] = pkts[i];
		}
	}
	while (carry(&b, &a) > 0)
		;
	assert_int_equal(roce_cq_count(a.send_cq), 0);
	while (n > 1) {
		rte_pktmbuf_free(kept[--n]);
		roce_device_tx(a.device, 0, NULL, 0);
		assert_int_equal(roce_cq_count(a.send_cq), 0);
	}
	rte_pktmbuf_free(kept[0]);
	assert_int_equal(roce_device_deadline(a.device), 0);
	roce_device_tx(a.device, 0, NULL, 0);
	assert_int_equal(roce_cq_poll(a.send_cq, &event, 1), 1);
	assert_int_equal(event.wr_id, 7);
	assert_int_equal(event.status, ROCE_WC_SUCCESS);
	assert_int_equal(roce_cq_poll(b.recv_cq, &event, 1), 1);
	close_pair();
}

/* ---- sockets ---- */

/* Memory on another socket, and a poller there, is told once for each port. */
static void
far__is_told_once(void **state)
{
	struct roce_port port = { .probe = { .name = "far0" } };

	hear();
	assert_false(roce_memory_log_far(&port, ROCE_FAR_REGION, 0, 0));
	assert_false(roce_memory_log_far(&port, ROCE_FAR_REGION, 0, -1));
	assert_false(roce_memory_log_far(&port, ROCE_FAR_REGION, -1, 1));
	assert_int_equal(times_said("far0"), 0);
	assert_true(roce_memory_log_far(&port, ROCE_FAR_REGION, 0, 1));
	assert_int_equal(times_said("port far0 is on socket 0, but a region of memory on 1"), 1);
	assert_false(roce_memory_log_far(&port, ROCE_FAR_REGION, 0, 1));
	assert_true(roce_memory_log_far(&port, ROCE_FAR_LCORE, 1, 0));
	assert_int_equal(times_said("an lcore that turns it on 0"), 1);
	assert_false(roce_memory_log_far(&port, ROCE_FAR_LCORE, 1, 0));
	assert_int_equal(times_said("far0"), 2);
	unhear();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mempool__is_a_region_a_chunk),
		cmocka_unit_test(heap__is_a_region),
		cmocka_unit_test(foreign__is_copied_and_told_once),
		cmocka_unit_test(foreign__is_sent_from_when_it_is_registered),
		cmocka_unit_test(foreign__without_iova_is_copied),
		cmocka_unit_test(foreign__has_to_be_known_to_its_end),
		cmocka_unit_test(foreign__is_sent_from_by_software),
		cmocka_unit_test(zero_copy__is_asked_for_and_possible),
		cmocka_unit_test(flags__are_for_handover),
		cmocka_unit_test(completion__waits_for_the_program),
		cmocka_unit_test(far__is_told_once),
	};

	return cmocka_run_group_tests(tests, embed_start, NULL);
}
