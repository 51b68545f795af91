/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <malloc.h>

#include "failing.h"

/* The allocations of this thread, and the one that is to fail. */
static __thread struct {
	bool counting;
	unsigned int calls;
	unsigned int fail; /**< the number of the one that fails, from 0 on */
} allocator = { .fail = NEVER };

/* In place of libc's. posix_memalign() is of the same family, also when a sanitizer has replaced it. */
void *
aligned_alloc(size_t alignment, size_t size)
{
	void *p = NULL;
	int rc;

	if (allocator.counting && allocator.calls++ == allocator.fail) {
		errno = ENOMEM;
		return NULL;
	}
	rc = posix_memalign(&p, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
	if (rc != 0) {
		errno = rc;
		return NULL;
	}
	return p;
}

void
begin_failing(unsigned int fail)
{
	allocator.calls = 0;
	allocator.fail = fail;
	allocator.counting = true;
}

bool
end_failing(void)
{
	allocator.counting = false;
	return allocator.calls > allocator.fail;
}

unsigned int
allocations(void)
{
	return allocator.calls;
}

size_t
bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

void
want_balance(size_t before, size_t slack)
{
	assert_in_range(bytes_in_use(), 0, before + slack * ROUNDS);
}

unsigned int
want_no_leak(fails_fn fails, const void *of, size_t slack)
{
	unsigned int fail;

	for (fail = 0; fails(of, fail); fail++) {
		size_t before = 0;

		/* The first half fills the graveyard, the second finds it in balance. */
		for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
			if (round == ROUNDS)
				before = bytes_in_use();
			assert_true(fails(of, fail));
		}
		want_balance(before, slack);
	}
	return fail;
}
