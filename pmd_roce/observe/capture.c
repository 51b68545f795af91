/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/capture.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_pdump.h>

#include "observe/log.h"

static bool on;

static int
ignore(const struct rte_mp_msg *msg, const void *peer)
{
	return 0;
}

/* The one public sign that other processes can talk to this one. */
static bool
others_can_talk(void)
{
	static const char name[] = "roce_probe";

	if (rte_eal_process_type() != RTE_PROC_PRIMARY || !rte_eal_has_hugepages() ||
			rte_mp_action_register(name, ignore) != 0)
		return false;
	rte_mp_action_unregister(name);
	return true;
}

void
roce_capture_setup(void)
{
	/* Where nobody can come, rte_pdump_init() would still take memory for his counters. */
	if (!others_can_talk())
		return;
	on = rte_pdump_init() == 0;
	if (!on)
		ROCE_LOG(WARNING, "no captures: %s", rte_strerror(rte_errno));
}

bool
roce_capture_is_on(void)
{
	return on;
}
