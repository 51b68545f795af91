/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FAKE_PCI_H
#define ROCE_TEST_FAKE_PCI_H

/**
 * @file
 * A network device on the PCI bus of a machine that has none.
 *
 * Functions of the EAL and of ethdev are put in the place of DPDK's own: behind the address stands a net_null that is
 * there from the moment at which the bus probes it, when the EAL starts or later, until it is removed from the bus. Its
 * driver offers interrupts for the link and for receive queues; asked for both, it never tells of the link again, like
 * net_e1000_em.
 */

#include <stdbool.h>
#include <sys/stat.h>

#define FAKE_PCI "0000:aa:1f.3"
/** How ethdev and the EAL call what stands behind it. */
#define FAKE_PCI_DEVICE "net_null_fake_pci"

struct fake_pci {
	bool no_pci; /**< the EAL was started without the bus */
	bool allows_all; /**< the EAL was started without a list of devices: it has probed what others use */
	unsigned int probes;   /**< when the EAL started, and later */
	unsigned int removals; /**< from the bus */
	bool there;
	bool down;          /**< its cable is out */
	struct stat output; /**< the standard output while the EAL started */
};

extern struct fake_pci fake_pci;

#endif
