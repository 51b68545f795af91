/* SPDX-License-Identifier: BSD-3-Clause */
/* Where memory lies: on which pages, of which NUMA node. The EAL knows its hugepages; the kernel knows the node. */

#include <sys/syscall.h>
#include <unistd.h>

#include <rte_memory.h>

#include "observe/telemetry_pvt.h"

/* A container refuses the call, or the kernel has none. @return the node of the page; -1: unknown. */
static int
ask_kernel(const void *address)
{
	const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	const void *page = (const char *)address - (uintptr_t)address % size;
	int node = -1;

	/* Without nodes to move to it only looks, and an address that is none is a negative node. */
	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) != 0 || node < 0)
		return -1;
	return node;
}

void
roce_telemetry_memory(struct rte_tel_data *dict, const void *address)
{
	const uint64_t ordinary = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct rte_memseg_list *list = rte_mem_virt2memseg_list(address);
	const bool huge = list != NULL && list->page_sz > ordinary;
	int node = ask_kernel(address);

	/* The EAL asked when it took them. */
	if (node < 0 && huge)
		node = list->socket_id;
	rte_tel_data_add_dict_uint(dict, "hugepages", huge);
	rte_tel_data_add_dict_uint(dict, "page_bytes", huge ? list->page_sz : ordinary);
	if (node >= 0)
		rte_tel_data_add_dict_uint(dict, "numa_node", (uint64_t)node);
	else
		rte_tel_data_add_dict_string(dict, "numa_node", "unknown");
}
