/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <malloc.h>
#include <sched.h>

#include "failing.h"

/* One lcore, on the CPU this runs on. */
#define NO_HUGEPAGES \
	"--no-huge -m 512 --no-pci --no-shconf --log-level=*:error --file-prefix=roce --lcores 0@%d"

/* What allocations of this thread are to do. */
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

/* Alignment makes a piece a little larger or smaller each time; one lost in every round would be far more. */
void
want_balance(size_t before)
{
	assert_in_range(bytes_in_use(), 0, before + (size_t)16 * ROUNDS);
}

int
failing_sweep(void **state)
{
	allocator.counting = false;
	return ends_sweep(state);
}

void
use_no_hugepages(void)
{
	char eal[128];

	snprintf(eal, sizeof(eal), NO_HUGEPAGES, sched_getcpu());
	setenv("UDAPL_ROCE_EAL", eal, 1);
}
