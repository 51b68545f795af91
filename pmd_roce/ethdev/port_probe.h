/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_PROBE_H
#define ROCE_ETHDEV_PORT_PROBE_H

/**
 * @file
 * From `port=` to a DPDK port: found, probed or looped, with what is known of
 * its driver and not said by ethdev.
 *
 * The MTU that ethdev reports is not what passes for every driver: net_memif
 * refuses an MTU above 1500 and carries what its buffers hold, net_af_packet
 * and net_pcap carry what the kernel's interface lets through.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ethdev/devargs.h"
#include "observe/errmsg.h"

struct roce_memif;

/** A port that is ours until detached. */
struct roce_port_probe {
	char port[ROCE_DEVARGS_PORT_LEN]; /**< `port=` as given */
	char name[64];                    /**< for people: the part before the comma */
	uint16_t port_id;
	uint8_t origin;      /**< how it came to be: the .c file's own */
	bool soft;           /**< no hardware below: a virtual device */
	bool may_raise_mtu;  /**< nobody else on the wire has to agree */
	bool waits_for_peer; /**< it starts only when somebody else is there already */
	bool forgets_frames; /**< what the driver keeps does not come home when it is closed */
	uint32_t mtu; /**< bytes above the Ethernet header that pass whatever ethdev says; 0: ask ethdev */
	uint32_t rx_room; /**< bytes a receive buffer must hold for the driver's sake */
	uint32_t idle_tx_ms; /**< how often its transmit side is called with nothing to send; 0: it need not be */
	struct roce_memif *
			memif; /**< between net_memif and its peers; NULL: another driver, or it is not our device */
	uint32_t rx_frames; /**< receive buffers that the driver keeps for itself, of each queue */
};

/**
 * Find or make the port.
 *
 * A name that exists already is used as it is; else a PCI address or virtual device is probed. Arguments that
 * jumbo frames need are added where the user gave none: net_memif bsize=8192, net_af_packet framesz and
 * blocksz by the MTU of its interface, qpairs by `queues=`; net_af_xdp queue_count likewise.
 *
 * @return 0; -ENODEV no such port; -EINVAL; -EBUSY somebody else owns or uses it; -ENOMEM.
 */
int roce_port_probe_open(const struct roce_devargs *args, struct roce_port_probe *probe,
		struct roce_errmsg *errmsg);

/**
 * Record what is known of a port that a program attaches. The port is left as it is, and there is nothing to close.
 *
 * @param name    what the program calls it, shorter than the field.
 * @param port_id of ethdev, or RTE_MAX_ETHPORTS: there is none.
 * @return 0; -EBUSY one of our own devices has the port.
 */
int roce_port_probe_attached(struct roce_port_probe *probe, const char *name, uint16_t port_id,
		struct roce_errmsg *errmsg);

/** Give it back: what was probed here is removed. The port is stopped and closed unless it was found. */
void roce_port_probe_close(struct roce_port_probe *probe);

/** Leave a port that was probed here to its driver when it is given back. This process cannot open it again. */
void roce_port_probe_leave(struct roce_port_probe *probe);

/** True when the port existed before, or is left so: it is stopped but not closed by us. */
bool roce_port_probe_is_found(const struct roce_port_probe *probe);

#endif
