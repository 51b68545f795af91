/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_owner.h"

#include <errno.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include "observe/capture.h"

/* Has the ports that are open. */
static struct rte_eth_dev_owner owner;

/* Has the ports that are left to their driver. */
static struct rte_eth_dev_owner keeper;

static bool
make(struct rte_eth_dev_owner *made, const char *name)
{
	if (made->id != RTE_ETH_DEV_NO_OWNER)
		return true;
	snprintf(made->name, sizeof(made->name), "%s", name);
	return rte_eth_dev_owner_new(&made->id) == 0;
}

static bool
has(const struct rte_eth_dev_owner *one, uint16_t port_id)
{
	struct rte_eth_dev_owner now;

	return one->id != RTE_ETH_DEV_NO_OWNER && rte_eth_dev_owner_get(port_id, &now) == 0 &&
			now.id == one->id;
}

int
roce_port_owner_begin(uint16_t port_id, const char *name, struct roce_errmsg *errmsg)
{
	if (roce_capture_is_on())
		return 0;
	if (!make(&owner, "udapl-roce"))
		return roce_errmsg_set(errmsg, -ENOMEM, "no owner id for ports");
	if (rte_eth_dev_owner_set(port_id, &owner) != 0)
		return roce_errmsg_set(errmsg, -EBUSY, "port %s belongs to somebody else", name);
	return 0;
}

void
roce_port_owner_end(uint16_t port_id)
{
	rte_eth_dev_owner_unset(port_id, owner.id);
}

bool
roce_port_owner_is_ours(uint16_t port_id)
{
	return has(&owner, port_id);
}

void
roce_port_owner_leave(uint16_t port_id)
{
	if (has(&owner, port_id))
		rte_eth_dev_owner_unset(port_id, owner.id);
	if (make(&keeper, "udapl-roce, left to its driver"))
		rte_eth_dev_owner_set(port_id, &keeper);
}

bool
roce_port_owner_has_left(uint16_t port_id)
{
	return has(&keeper, port_id);
}
