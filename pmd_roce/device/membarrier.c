/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/membarrier.h"

#include <linux/membarrier.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_debug.h>

#include "engine/engine.h"

static bool
is_done(int command)
{
	return syscall(__NR_membarrier, command, 0, 0) == 0;
}

/* Once registered it cannot fail any more (membarrier(2)); and who goes on without it corrupts memory. */
static void
barrier(void)
{
	if (!is_done(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		rte_panic("membarrier() was refused after it had been granted\n");
}

void
roce_port_use_membarrier(void)
{
	/* A kernel before 4.14 has none, and a sandbox may forbid it. */
	if (is_done(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
		roce_engine_use_barrier(barrier);
}
