/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_lmr_create: regions of other regions, and of memory that several consumers share. */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define LOCAL_READ   DAT_MEM_PRIV_LOCAL_READ_FLAG
#define LOCAL_WRITE  DAT_MEM_PRIV_LOCAL_WRITE_FLAG
#define REMOTE_READ  DAT_MEM_PRIV_REMOTE_READ_FLAG
#define REMOTE_WRITE DAT_MEM_PRIV_REMOTE_WRITE_FLAG
#define ALL          DAT_MEM_PRIV_ALL_FLAG

#define SHM_LEN  ((size_t)65536)
#define HALF_LEN (SHM_LEN / 2)

static const char *self;

/** A region and what its creation told. */
struct region {
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_RMR_CONTEXT peer_key;
	DAT_VLEN length;
	DAT_VADDR address;
};

static DAT_RETURN
create_of(const struct end *end, DAT_HANDLE of, DAT_PZ_HANDLE pz, unsigned int priv,
		struct region *made)
{
	DAT_REGION_DESCRIPTION region = { .for_lmr_handle = of };

	/* The length is ignored, whatever it is. */
	return dat_lmr_create(end->ia, DAT_MEM_TYPE_LMR, region, 0, pz, (DAT_MEM_PRIV_FLAGS)priv,
			&made->lmr, &made->key, &made->peer_key, &made->length, &made->address);
}

static struct region
region_of(const struct end *end, DAT_LMR_HANDLE of, unsigned int priv)
{
	struct region made;

	memset(&made, POISON, sizeof(made));
	ok(create_of(end, of, end->pz, priv, &made));
	return made;
}

static DAT_RETURN
create_shared(const struct end *end, void *va, DAT_VLEN length, char (*name)[DAT_LMR_COOKIE_SIZE],
		struct region *made)
{
	DAT_REGION_DESCRIPTION region = {
		.for_shared_memory = { .virtual_address = va, .shared_memory_id = name },
	};

	return dat_lmr_create(end->ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, length, end->pz, ALL,
			&made->lmr, &made->key, &made->peer_key, &made->length, &made->address);
}

static void *
map_shared(int fd, size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE,
			fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* Memory without a name in any folder, of SHM_LEN bytes. */
static int
make_memory(unsigned int flags)
{
	int fd = memfd_create("contract", flags);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SHM_LEN), 0);
	return fd;
}

/* a sends 64 bytes from the start of its buffer, by that key. */
static DAT_RETURN
send_from(DAT_LMR_CONTEXT key, uint64_t value)
{
	DAT_LMR_TRIPLET iov = segment_of(a, key, 0, 64);

	return dat_ep_post_send(a->ep, 1, &iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

/* a receives there, by that key. */
static DAT_RETURN
receive_at(DAT_LMR_CONTEXT key)
{
	DAT_LMR_TRIPLET iov = segment_of(a, key, 0, 64);

	return dat_ep_post_recv(a->ep, 1, &iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
}

/* 64 bytes at @p p of a's region are what b receives. */
static void
want_sent_from(const struct region *r, const uint8_t *p)
{
	DAT_LMR_TRIPLET iov = {
		.lmr_context = r->key, .virtual_address = (uintptr_t)p, .segment_length = 64
	};

	ok(post_recv(b, 0, 64, 2));
	ok(dat_ep_post_send(a->ep, 1, &iov, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(b, b->recv, 2, DAT_DTO_SUCCESS, 64);
	assert_memory_equal(b->buffer, p, 64);
}

/* a writes 64 bytes, of that seed, to an address of the peer. */
static void
write_to(DAT_RMR_CONTEXT key, const void *to, uint32_t seed, DAT_DTO_COMPLETION_STATUS status)
{
	const DAT_LMR_TRIPLET iov = segment(a, 0, 64);
	const DAT_RMR_TRIPLET there = {
		.rmr_context = key, .target_address = (uintptr_t)to, .segment_length = 64
	};

	fill_bytes(a->buffer, 64, seed);
	ok(post_write(&iov, there, seed));
	want_dto(a, a->request, seed, status, 64);
}

/* Both types are announced beside VIRTUAL, which has no bit. */
static void
lmr_types__announced(void **state)
{
	assert_int_equal(provider_attr(a, DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED)
					 .lmr_mem_types_supported,
			DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
}

/* In the order of the arguments; nothing is made, and nothing written. */
static void
lmr_of_lmr__arguments_in_their_order(void **state)
{
	const unsigned int bad_priv = 0x100;
	struct region made, poisoned;
	DAT_LMR_HANDLE dead;

	memset(&made, POISON, sizeof(made));
	poisoned = made;
	dead = region_of(a, a->lmr, ALL).lmr;
	ok(dat_lmr_free(dead));
	{
		const DAT_HANDLE bad[] = { DAT_HANDLE_NULL, a->pz, a->ep, dead, b->lmr };

		for (unsigned int i = 0; i < COUNT_OF(bad); i++)
			want_bad_handle(create_of(a, bad[i], DAT_HANDLE_NULL, bad_priv, &made),
					LMR);
	}
	want_bad_handle(create_of(a, a->lmr, DAT_HANDLE_NULL, bad_priv, &made), PZ);
	want_bad_handle(create_of(a, a->lmr, b->pz, bad_priv, &made), PZ);
	want_bad_arg(create_of(a, a->lmr, a->pz, bad_priv, &made), 6);
	assert_memory_equal(&made, &poisoned, sizeof(made));
}

/* It has the memory of the other, and zone, privileges and contexts of its own. */
static void
lmr_of_lmr__tells_what_it_is(void **state)
{
	struct region plain, open, second;
	DAT_LMR_PARAM param;
	DAT_PZ_HANDLE pz = make_pz(a);

	plain = region_of(a, a->lmr, LOCAL_READ);
	assert_int_equal(plain.peer_key, 0);
	assert_int_equal(plain.length, BUFFER_LEN);
	assert_int_equal(plain.address, (uintptr_t)a->buffer);
	assert_int_not_equal(plain.key, a->key);
	ok(create_of(a, plain.lmr, pz, ALL, &open));
	assert_int_not_equal(open.peer_key, 0);
	assert_int_not_equal(open.key, plain.key);
	param = lmr_param(open.lmr);
	assert_int_equal(param.mem_type, DAT_MEM_TYPE_LMR);
	assert_ptr_equal(param.region_desc.for_lmr_handle, plain.lmr);
	assert_ptr_equal(param.ia_handle, a->ia);
	assert_ptr_equal(param.pz_handle, pz);
	assert_int_equal(param.mem_priv, ALL);
	assert_int_equal(param.length, BUFFER_LEN);
	assert_int_equal(param.registered_size, BUFFER_LEN);
	assert_int_equal(param.registered_address, (uintptr_t)a->buffer);
	assert_int_equal(param.lmr_context, open.key);
	assert_int_equal(param.rmr_context, open.peer_key);
	/* The one below is still what it was. */
	param = lmr_param(plain.lmr);
	assert_int_equal(param.mem_priv, LOCAL_READ);
	assert_ptr_equal(param.pz_handle, a->pz);
	assert_ptr_equal(param.region_desc.for_lmr_handle, a->lmr);
	/* Any number of them. */
	second = region_of(a, a->lmr, ALL);
	assert_int_not_equal(second.key, open.key);
}

/* Rights and zone are those it was made with, be they more or fewer than those of the other. */
static void
lmr_of_lmr__has_rights_and_zone_of_its_own(void **state)
{
	struct region readable, writable, foreign;
	DAT_PZ_HANDLE pz = make_pz(a);

	readable = region_of(a, a->lmr, LOCAL_READ);
	ok(create_of(a, a->lmr, pz, ALL, &foreign));
	want_type(send_from(foreign.key, 1), DAT_PROTECTION_VIOLATION);
	want_type(receive_at(readable.key), DAT_PRIVILEGES_VIOLATION);
	writable = region_of(a, readable.lmr, LOCAL_WRITE);
	ok(receive_at(writable.key));
	/* A zone is busy as long as one of them is there. */
	want_bad_state(dat_pz_free(pz), PZ_IN_USE);
	ok(dat_lmr_free(foreign.lmr));
	ok(dat_pz_free(pz));
	/* b lets a peer write through a region of a region of a region. */
	readable = region_of(b, b->lmr, LOCAL_READ);
	writable = region_of(b, readable.lmr, LOCAL_WRITE | REMOTE_WRITE);
	write_to(writable.peer_key, b->buffer + 128, 1, DAT_DTO_SUCCESS);
	assert_memory_equal(b->buffer + 128, a->buffer, 64);
	write_to(readable.key, b->buffer + 256, 3, DAT_DTO_ERR_REMOTE_ACCESS);
	assert_int_equal(b->buffer[256], 0);
}

/* Each lives until it is freed itself. */
static void
lmr_of_lmr__outlives_the_other(void **state)
{
	struct region first = region_of(a, a->lmr, ALL);
	struct region second = region_of(a, first.lmr, ALL);

	ok(dat_lmr_free(a->lmr));
	ok(dat_lmr_free(first.lmr));
	for (uint64_t i = 0; i < 2; i++)
		ok(post_recv(b, 128, 64, i));
	fill_bytes(a->buffer, 64, 2);
	want_type(send_from(a->key, 7), DAT_PRIVILEGES_VIOLATION);
	want_type(send_from(first.key, 7), DAT_PRIVILEGES_VIOLATION);
	ok(send_from(second.key, 0));
	want_passed(0, 0, 64);
	assert_memory_equal(b->buffer + 128, a->buffer, 64);
	/* Of what it was made is still told; the handle itself is dead. */
	assert_ptr_equal(lmr_param(second.lmr).region_desc.for_lmr_handle, first.lmr);
	want_bad_handle(create_of(a, first.lmr, a->pz, ALL, &first), LMR);
	/* And the other way round. */
	first = region_of(a, second.lmr, ALL);
	ok(dat_lmr_free(first.lmr));
	ok(send_from(second.key, 1));
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, 64);
}

/* A window is bound to one of them, and keeps that one alone. */
static void
lmr_of_lmr__a_window_keeps_its_own(void **state)
{
	DAT_RMR_CONTEXT context;
	struct region derived = region_of(b, b->lmr, LOCAL_WRITE);
	DAT_RMR_HANDLE rmr = make_rmr(b);

	context = bind_rmr(b, rmr, segment_of(b, derived.key, 0, 64), REMOTE_WRITE);
	ok(dat_lmr_free(b->lmr));
	want_bad_state(dat_lmr_free(derived.lmr), LMR_IN_USE);
	write_to(context, b->buffer, 2, DAT_DTO_SUCCESS);
	assert_memory_equal(b->buffer, a->buffer, 64);
	ok(dat_rmr_free(rmr));
	ok(dat_lmr_free(derived.lmr));
}

static void
lmr_shared__arguments_in_their_order(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "arguments";
	uint8_t *p = map_shared(-1, SHM_LEN);
	struct region made, poisoned;
	DAT_REGION_DESCRIPTION region = {
		.for_shared_memory = { .virtual_address = p, .shared_memory_id = &name },
	};

	memset(&made, POISON, sizeof(made));
	poisoned = made;
	want_bad_arg(create_shared(a, p, 64, NULL, &made), 3);
	want_bad_arg(create_shared(a, NULL, 64, &name, &made), 3);
	want_error(create_shared(a, NULL, 0, NULL, &made), DAT_LENGTH_ERROR, 0);
	want_error(create_shared(a, p, 0, &name, &made), DAT_LENGTH_ERROR, 0);
	want_bad_arg(create_shared(a, p, UINT64_MAX, &name, &made), 4);
	want_bad_handle(dat_lmr_create(a->ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 2 * SHM_LEN,
					a->ia, 0, &made.lmr, &made.key, NULL, NULL, NULL),
			PZ);
	want_bad_arg(dat_lmr_create(a->ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 2 * SHM_LEN, a->pz,
				     (DAT_MEM_PRIV_FLAGS)0x100, &made.lmr, &made.key, NULL, NULL,
				     NULL),
			6);
	assert_memory_equal(&made, &poisoned, sizeof(made));
	end_close(a);
	munmap(p, SHM_LEN);
}

/* Every page must have been made shared by the platform: else the buffer is in the wrong state. */
static void
lmr_shared__wants_shared_memory(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "wants shared memory";
	uint8_t *p = map_shared(-1, SHM_LEN);
	struct region made;

	want_error(create_shared(a, a->buffer, 64, &name, &made), DAT_INVALID_STATE, 0);
	ok(create_shared(a, p, SHM_LEN, &name, &made));
	ok(dat_lmr_free(made.lmr));
	/* Half of it becomes private, then is not there at all. */
	assert_ptr_not_equal(mmap(p + HALF_LEN, HALF_LEN, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			MAP_FAILED);
	want_error(create_shared(a, p, SHM_LEN, &name, &made), DAT_INVALID_STATE, 0);
	want_error(create_shared(a, p, HALF_LEN + 1, &name, &made), DAT_INVALID_STATE, 0);
	munmap(p + HALF_LEN, HALF_LEN);
	want_error(create_shared(a, p, SHM_LEN, &name, &made), DAT_INVALID_STATE, 0);
	munmap(p, 4096);
	want_error(create_shared(a, p, HALF_LEN, &name, &made), DAT_INVALID_STATE, 0);
	/* The rest of the memory is good. No refused call has taken the name. */
	ok(create_shared(a, p + 4096, HALF_LEN - 4096, &name, &made));
	end_close(a);
	munmap(p + 4096, HALF_LEN - 4096);
}

/* All forty bytes are the name, and one name is one piece of memory, wherever it is mapped, while it is registered. */
static void
lmr_shared__one_name_one_memory(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "one name", other[DAT_LMR_COOKIE_SIZE] = "one name";
	struct region first, second, third;
	int fd = make_memory(MFD_CLOEXEC);
	DAT_LMR_PARAM param;
	uint8_t *p = map_shared(fd, SHM_LEN), *again = map_shared(fd, SHM_LEN);
	uint8_t *different = map_shared(-1, SHM_LEN);

	pair_open(&pair, NULL, NULL);
	ok(create_shared(a, p, SHM_LEN, &name, &first));
	ok(create_shared(b, again, SHM_LEN, &name, &second));
	want_bad_arg(create_shared(b, different, SHM_LEN, &name, &third), 3);
	want_bad_arg(create_shared(a, p, HALF_LEN, &name, &third), 3);
	want_bad_arg(create_shared(a, p + 4096, SHM_LEN - 4096, &name, &third), 3);
	/* The last byte makes another name; a zero in front of it ends nothing. */
	other[DAT_LMR_COOKIE_SIZE - 1] = 'x';
	ok(create_shared(b, different, SHM_LEN, &other, &third));
	/* The name was copied, and is told. */
	memset(other, 0, sizeof(other));
	param = lmr_param(third.lmr);
	assert_int_equal(param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
	assert_ptr_equal(param.region_desc.for_shared_memory.virtual_address, different);
	assert_int_equal(
			(*param.region_desc.for_shared_memory
							.shared_memory_id)[DAT_LMR_COOKIE_SIZE - 1],
			'x');
	assert_memory_equal(*param.region_desc.for_shared_memory.shared_memory_id, "one name", 9);
	assert_int_equal(param.length, SHM_LEN);
	assert_int_equal(param.registered_address, (uintptr_t)different);
	/* With the last region of it the name is free again; closing an adapter frees, too. */
	ok(dat_lmr_free(first.lmr));
	want_bad_arg(create_shared(a, different, SHM_LEN, &name, &first), 3);
	end_close(b);
	ok(create_shared(a, different, SHM_LEN, &name, &first));
	end_close(a);
	munmap(p, SHM_LEN);
	munmap(again, SHM_LEN);
	munmap(different, SHM_LEN);
	close(fd);
}

/* As much of the same memory, but another piece of it, is other memory; the same piece may be anywhere in a mapping. */
static void
lmr_shared__which_piece_it_is(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "which piece";
	int fd = make_memory(MFD_CLOEXEC);
	struct region first, second;
	uint8_t *p, *second_half;

	p = map_shared(fd, SHM_LEN);
	second_half = mmap(NULL, HALF_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, HALF_LEN);
	assert_ptr_not_equal(second_half, MAP_FAILED);
	pair_open(&pair, NULL, NULL);
	ok(create_shared(a, p, HALF_LEN, &name, &first));
	want_bad_arg(create_shared(b, p + HALF_LEN, HALF_LEN, &name, &second), 3);
	want_bad_arg(create_shared(b, second_half, HALF_LEN, &name, &second), 3);
	ok(dat_lmr_free(first.lmr));
	ok(create_shared(a, p + HALF_LEN, HALF_LEN, &name, &first));
	ok(create_shared(b, second_half, HALF_LEN, &name, &second));
	pair_close(&pair);
	munmap(p, SHM_LEN);
	munmap(second_half, HALF_LEN);
	close(fd);
}

/* Two adapters of a process share a region: what a peer writes through one, the other sends. */
static void
lmr_shared__two_adapters(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "two adapters";
	int fd = make_memory(MFD_CLOEXEC);
	struct region at_a, at_b;
	uint8_t *p = map_shared(fd, SHM_LEN), *q = map_shared(fd, SHM_LEN);

	pair_up(&pair);
	ok(create_shared(a, p, SHM_LEN, &name, &at_a));
	ok(create_shared(b, q, SHM_LEN, &name, &at_b));
	write_to(at_b.peer_key, q + 4096, 1, DAT_DTO_SUCCESS);
	assert_memory_equal(p + 4096, a->buffer, 64);
	want_sent_from(&at_a, p + 4096);
	assert_memory_equal(b->buffer, a->buffer, 64);
	pair_close(&pair);
	munmap(p, SHM_LEN);
	munmap(q, SHM_LEN);
	close(fd);
}

/* The other process: its peer writes to the region that it has under the same name. */
static void
lmr_shared__the_other_process(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "two processes";
	int fd = *(int *)*state;
	struct region there;
	uint8_t *p = map_shared(fd, SHM_LEN);

	ok(create_shared(b, p, SHM_LEN, &name, &there));
	write_to(there.peer_key, p + 128, 5, DAT_DTO_SUCCESS);
}

/* Two processes, each with adapters of its own, register the same memory under the same name. */
static void
lmr_shared__two_processes(void **state)
{
	char name[DAT_LMR_COOKIE_SIZE] = "two processes", number[16];
	int fd = make_memory(0), status;
	uint8_t expected[64], *p;
	struct region here;
	pid_t child;

	p = map_shared(fd, SHM_LEN);
	pair_up(&pair);
	ok(create_shared(a, p, SHM_LEN, &name, &here));
	snprintf(number, sizeof(number), "%d", fd);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		execl(self, self, number, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	want_sent_from(&here, p + 128);
	fill_bytes(expected, sizeof(expected), 5);
	assert_memory_equal(b->buffer, expected, 64);
	pair_close(&pair);
	munmap(p, SHM_LEN);
	close(fd);
}

const struct CMUnitTest tests[] = {
	end_test(lmr_types__announced),
	pair_test(lmr_of_lmr__arguments_in_their_order),
	end_test(lmr_of_lmr__tells_what_it_is),
	up_test(lmr_of_lmr__has_rights_and_zone_of_its_own),
	up_test(lmr_of_lmr__outlives_the_other),
	up_test(lmr_of_lmr__a_window_keeps_its_own),
	end_test(lmr_shared__arguments_in_their_order),
	end_test(lmr_shared__wants_shared_memory),
	rig_test(lmr_shared__one_name_one_memory),
	rig_test(lmr_shared__which_piece_it_is),
	rig_test(lmr_shared__two_adapters),
	rig_test(lmr_shared__two_processes),
	tests_end,
};

int
main(int argc, char **argv)
{
	static int inherited;
	const struct CMUnitTest child[] = {
		cmocka_unit_test_prestate_setup_teardown(
				lmr_shared__the_other_process, rig_begin_up, rig_sweep, &inherited),
	};

	self = argv[0];
	if (argc > 1) {
		inherited = (int)strtol(argv[1], NULL, 10);
		return cmocka_run_group_tests(child, NULL, NULL);
	}
	return rig_run();
}
