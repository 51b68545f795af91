/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/memory.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_memory.h>

#include "observe/log.h"

/* Segments of a frame whose payload is not copied: headers, payload, pad and ICRC. */
#define SEGMENTS 3

/* A device is asked so often for frames that somebody waits for, when there is nothing else to do. */
#define CLEANUP_US 50

/* Drivers that read what they send inside the call, or hand it on as it is: they want no IOVA, and release by themselves. */
static bool
is_software(const char *driver)
{
	static const char *const drivers[] = { "net_ring", "net_memif", "net_af_packet",
		"net_tap" };

	for (size_t i = 0; i < RTE_DIM(drivers); i++) {
		if (strcmp(driver, drivers[i]) == 0)
			return true;
	}
	return false;
}

/* net_memif with shared memory takes every buffer for one of its own. */
static bool
sends_offsets(const struct roce_port *port, const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *made =
			info->device != NULL ? rte_dev_devargs(info->device) : NULL;

	return strcmp(port->driver, "net_memif") == 0 && made != NULL && made->args != NULL &&
			strstr(made->args, "zero-copy=yes") != NULL;
}

/* Buffers that belong to their mbufs for good are no place for a region, and do not come back as what they were. */
static bool
is_pinned(const struct roce_attach_config *attached, unsigned int engines)
{
	for (unsigned int q = 0; q < engines; q++) {
		if (attached->pool[q] != NULL &&
				(rte_pktmbuf_priv_flags(attached->pool[q]) &
						RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0)
			return true;
	}
	return false;
}

/* @return NULL: it can; else why not. */
static const char *
find_obstacle(const struct roce_port *port, uint64_t tx_offloads)
{
	struct rte_eth_dev_info info;
	bool software = is_software(port->driver);

	if (rte_eth_dev_info_get(port->id, &info) != 0)
		return "the device does not answer";
	if (sends_offsets(port, &info))
		return "its driver tells the peer where frames lie in its own memory (zero-copy=yes)";
	if ((tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0)
		return "it does not send frames of several segments";
	if ((tx_offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0)
		return "it was configured with MBUF_FAST_FREE";
	if (info.tx_desc_lim.nb_mtu_seg_max != 0 && info.tx_desc_lim.nb_mtu_seg_max < SEGMENTS)
		return "it sends too few segments a frame";
	/* It would keep the last frames until there are others, and completions with them. */
	if (!software && rte_eth_tx_done_cleanup(port->id, port->queue[0].tx_queue, 0) < 0)
		return "it gives back no frames when asked to";
	return NULL;
}

static void
decide(struct roce_port *port, const char *obstacle)
{
	port->zero_copy = obstacle == NULL ? port->args->zero_copy : 0;
	if (obstacle != NULL)
		ROCE_LOG(WARNING, "port %s: zero_copy= has no effect: %s", port->probe.name,
				obstacle);
}

void
roce_memory_plan(struct roce_port *port, uint64_t tx_offloads)
{
	const char *obstacle;

	if (port->args->zero_copy == 0)
		return;
	obstacle = find_obstacle(port, tx_offloads);
	port->any_memory = is_software(port->driver);
	for (unsigned int q = 0; obstacle == NULL && !port->any_memory && q < port->queues; q++) {
		if (port->queue[q].idle_every == 0)
			port->queue[q].idle_every = CLEANUP_US * roce_port_hz() / 1000000;
	}
	decide(port, obstacle);
}

/* The offloads that the program has configured a queue with. Drivers in software do not say, and always do what they can. */
static uint64_t
offloads_of(const struct roce_port *port, uint16_t queue)
{
	struct rte_eth_txq_info configured;
	struct rte_eth_dev_info info;

	if (rte_eth_tx_queue_info_get(port->id, queue, &configured) == 0)
		return configured.conf.offloads;
	if (!is_software(port->driver) || rte_eth_dev_info_get(port->id, &info) != 0)
		return 0;
	return info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
}

void
roce_memory_plan_attached(struct roce_port *port, const struct roce_attach_config *attached)
{
	uint64_t offloads = UINT64_MAX;

	if (port->args->zero_copy == 0)
		return;
	if (is_pinned(attached, port->queues)) {
		decide(port, "a pool has external buffers of its own");
		return;
	}
	if (attached->mode == ROCE_ATTACH_QUEUES) {
		for (unsigned int q = 0; q < port->queues; q++)
			offloads &= offloads_of(port, port->queue[q].tx_queue);
		roce_memory_plan(port, offloads);
		return;
	}
	port->any_memory = (attached->flags & ROCE_ATTACH_NO_IOVA) != 0;
	decide(port,
			(attached->flags & ROCE_ATTACH_MULTI_SEGS) != 0
					? NULL
					: "the program does not say ROCE_ATTACH_MULTI_SEGS");
}

/* ---- near and far ---- */

/* The socket of the memory at @p addr; -1: it is not there yet, or nobody may know. Touches nothing. */
static int
socket_of(uint64_t addr)
{
	void *page = (void *)(uintptr_t)(addr & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1));
	int status = -1;

	/* libc has no function for it without libnuma. */
	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0) != 0)
		return -1;
	return status;
}

bool
roce_memory_log_far(struct roce_port *port, enum roce_far what, int port_socket, int socket)
{
	uint8_t bit = (uint8_t)(1u << what);

	if (port_socket < 0 || socket < 0 || port_socket == socket ||
			(__atomic_fetch_or(&port->far_logged, bit, __ATOMIC_RELAXED) & bit) != 0)
		return false;
	ROCE_LOG(WARNING, "port %s is on socket %d, but %s on %d: everything has to go across",
			port->probe.name, port_socket,
			what == ROCE_FAR_REGION ? "a region of memory" : "an lcore that turns it",
			socket);
	return true;
}

/* -1: it has none, or all there is has the same. */
static int
socket_of_port(const struct roce_port *port)
{
	if (rte_socket_count() < 2 || port->id == RTE_MAX_ETHPORTS)
		return -1;
	return rte_eth_dev_socket_id(port->id);
}

void
roce_memory_log_lcore(struct roce_port *port, unsigned int lcore)
{
	roce_memory_log_far(port, ROCE_FAR_LCORE, socket_of_port(port),
			(int)rte_lcore_to_socket_id(lcore));
}

/* ---- regions ---- */

/* Does the EAL know all of it, and a device's address for each page? */
static bool
has_iova(uint64_t addr, uint64_t len)
{
	uint64_t end = addr + len;

	while (addr < end) {
		const struct rte_memseg *ms = rte_mem_virt2memseg((void *)(uintptr_t)addr, NULL);

		if (ms == NULL || ms->iova == RTE_BAD_IOVA)
			return false;
		addr = ms->addr_64 + ms->len;
	}
	return true;
}

bool
roce_memory_readable(void *arg, uint64_t addr, uint64_t len)
{
	struct roce_port *port = arg;
	int socket = socket_of_port(port);

	if (socket >= 0)
		roce_memory_log_far(port, ROCE_FAR_REGION, socket, socket_of(addr));
	if (port->zero_copy == 0)
		return false;
	if (port->any_memory || has_iova(addr, len))
		return true;
	if (__atomic_exchange_n(&port->unfit_logged, 1, __ATOMIC_RELAXED) == 0)
		ROCE_LOG(WARNING,
				"port %s: a region is copied though zero_copy= is given: the EAL has no IOVA "
				"for its memory, see rte_extmem_register()",
				port->probe.name);
	return false;
}

rte_iova_t
roce_memory_iova(void *arg, const void *addr, uint32_t len)
{
	const struct roce_port *port = arg;
	const struct rte_memseg *ms, *next;
	uint64_t at = (uintptr_t)addr;
	uint64_t left;

	if (port->any_memory)
		return at;
	ms = rte_mem_virt2memseg(addr, NULL);
	if (ms == NULL || ms->iova == RTE_BAD_IOVA)
		return RTE_BAD_IOVA;
	left = ms->addr_64 + ms->len - at;
	if (left < len) {
		next = rte_mem_virt2memseg((const void *)(uintptr_t)(at + left), NULL);
		if (next == NULL || next->iova != ms->iova + ms->len || next->len < len - left)
			return RTE_BAD_IOVA;
	}
	return ms->iova + (at - ms->addr_64);
}
