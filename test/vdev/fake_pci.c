/* SPDX-License-Identifier: BSD-3-Clause */

#include "fake_pci.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_common.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

struct fake_pci fake_pci;

static bool both_interrupts;

/* DPDK's own. */
#define NEXT(next, name) (*(void **)&(next) = dlsym(RTLD_NEXT, name))

static int
plug(void)
{
	fake_pci.probes++;
	fake_pci.there = rte_eal_hotplug_add("vdev", FAKE_PCI_DEVICE, "no-rx=1") == 0;
	return fake_pci.there ? 0 : -ENODEV;
}

static bool
is_fake(uint16_t port_id)
{
	uint16_t own;

	return fake_pci.there && rte_eth_dev_get_port_by_name(FAKE_PCI_DEVICE, &own) == 0 &&
			own == port_id;
}

int
rte_eal_init(int argc, char **argv)
{
	int (*next)(int, char **) = NULL;
	bool listed = false;
	int rc;

	fake_pci.allows_all = true;
	fstat(STDOUT_FILENO, &fake_pci.output);
	for (int i = 1; i < argc; i++) {
		fake_pci.no_pci |= strcmp(argv[i], "--no-pci") == 0;
		if (strcmp(argv[i], "-a") != 0)
			continue;
		fake_pci.allows_all = false;
		listed |= strcmp(argv[i + 1], FAKE_PCI) == 0;
	}
	NEXT(next, "rte_eal_init");
	rc = next(argc, argv);
	if (rc >= 0 && listed)
		plug();
	return rc;
}

int
rte_dev_probe(const char *devargs)
{
	int (*next)(const char *) = NULL;

	if (strcmp(devargs, FAKE_PCI) == 0)
		return fake_pci.no_pci ? -ENODEV : plug();
	NEXT(next, "rte_dev_probe");
	return next(devargs);
}

int
rte_eal_hotplug_remove(const char *busname, const char *devname)
{
	int (*next)(const char *, const char *) = NULL;

	NEXT(next, "rte_eal_hotplug_remove");
	if (strcmp(busname, "pci") != 0)
		return next(busname, devname);
	if (!fake_pci.there || strcmp(devname, FAKE_PCI) != 0)
		return -ENOENT;
	fake_pci.there = false;
	fake_pci.removals++;
	return next("vdev", FAKE_PCI_DEVICE);
}

int
rte_eth_dev_get_port_by_name(const char *name, uint16_t *port_id)
{
	int (*next)(const char *, uint16_t *) = NULL;

	NEXT(next, "rte_eth_dev_get_port_by_name");
	return next(strcmp(name, FAKE_PCI) == 0 ? FAKE_PCI_DEVICE : name, port_id);
}

const char *
rte_bus_name(const struct rte_bus *bus)
{
	const char *(*next)(const struct rte_bus *) = NULL;
	const char *name;

	NEXT(next, "rte_bus_name");
	name = next(bus);
	/* Of all devices here only this one is asked for. */
	return fake_pci.there && strcmp(name, "vdev") == 0 ? "pci" : name;
}

int
rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int (*next)(uint16_t, struct rte_eth_dev_info *) = NULL;
	static uint32_t flags;
	int rc;

	NEXT(next, "rte_eth_dev_info_get");
	rc = next(port_id, info);
	if (rc != 0 || !is_fake(port_id))
		return rc;
	flags = *info->dev_flags | RTE_ETH_DEV_INTR_LSC;
	info->dev_flags = &flags;
	return 0;
}

int
rte_eth_dev_configure(uint16_t port_id, uint16_t nb_rx_queue, uint16_t nb_tx_queue,
		const struct rte_eth_conf *eth_conf)
{
	int (*next)(uint16_t, uint16_t, uint16_t, const struct rte_eth_conf *) = NULL;
	struct rte_eth_conf conf = *eth_conf;

	NEXT(next, "rte_eth_dev_configure");
	if (is_fake(port_id)) {
		both_interrupts = conf.intr_conf.lsc && conf.intr_conf.rxq;
		/* A call that net_null has none of. */
		conf.intr_conf.lsc = 0;
		conf.intr_conf.rxq = 0;
	}
	return next(port_id, nb_rx_queue, nb_tx_queue, &conf);
}

int
rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link)
{
	int (*next)(uint16_t, struct rte_eth_link *) = NULL;
	int rc;

	NEXT(next, "rte_eth_link_get_nowait");
	rc = next(port_id, link);
	if (rc == 0 && is_fake(port_id) && fake_pci.down && !both_interrupts)
		link->link_status = RTE_ETH_LINK_DOWN;
	return rc;
}
