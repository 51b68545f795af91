/* SPDX-License-Identifier: BSD-3-Clause */

/* Attaching a device of a program's own: checks of its configuration. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "device/device.h"
#include "ethdev/fault_args.h"
#include "ethdev/fork.h"
#include "ethdev/loop.h"
#include "observe/log.h"

static_assert(ROCE_ENGINES_LIMIT == ROCE_ENGINES_MAX, "the public limit is the engine's");

/* A name that dat.conf can say, and that means nothing else there. */
static int
check_name(const char *name, struct roce_errmsg *errmsg)
{
	if (name == NULL || *name == '\0')
		return roce_errmsg_set(errmsg, -EINVAL, "a device that is attached needs a name");
	if (strlen(name) >= sizeof(((struct roce_port_probe *)NULL)->name))
		return roce_errmsg_set(errmsg, -EINVAL, "the name %.32s... is too long", name);
	for (const char *c = name; *c != '\0'; c++) {
		if (!isgraph((unsigned char)*c) || *c == ',')
			return roce_errmsg_set(errmsg, -EINVAL,
					"the name '%s' must have no blank and no comma", name);
	}
	return 0;
}

static int
check_mode(const struct roce_attach_config *config, struct roce_errmsg *errmsg)
{
	struct rte_ether_addr mac;

	if (config->mode != ROCE_ATTACH_QUEUES && config->mode != ROCE_ATTACH_HANDOVER)
		return roce_errmsg_set(errmsg, -EINVAL, "mode %d is none: want queues or handover",
				(int)config->mode);
	if (config->engines > ROCE_ENGINES_LIMIT)
		return roce_errmsg_set(errmsg, -EINVAL, "%u engines are too many: want 1..%d",
				config->engines, ROCE_ENGINES_LIMIT);
	memcpy(mac.addr_bytes, config->mac, sizeof(mac.addr_bytes));
	if (config->mode == ROCE_ATTACH_HANDOVER && rte_is_zero_ether_addr(&mac))
		return roce_errmsg_set(errmsg, -EINVAL,
				"mac is needed: what we send has to come from somewhere");
	if (!rte_is_zero_ether_addr(&mac) && !rte_is_unicast_ether_addr(&mac))
		return roce_errmsg_set(errmsg, -EINVAL, "mac must be a unicast address");
	if (config->mode != ROCE_ATTACH_HANDOVER && config->flags != 0)
		return roce_errmsg_set(errmsg, -EINVAL,
				"flags are for handover: a port says itself what it can");
	if ((config->flags & ~(ROCE_ATTACH_MULTI_SEGS | ROCE_ATTACH_NO_IOVA)) != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "flags %#x are unknown", config->flags);
	if (config->mode == ROCE_ATTACH_HANDOVER && config->foreign != NULL)
		return roce_errmsg_set(errmsg, -EINVAL,
				"foreign is for queues: roce_device_rx() returns what is not ours");
	return 0;
}

static int
read_params(const struct roce_attach_config *config, struct roce_devargs *args,
		struct roce_errmsg *errmsg)
{
	static const char *const said[][2] = {
		{ "port", "the program has the port" },
		{ "queues", "the program says how many engines there are" },
		{ "lcores", "the program turns its device" },
	};
	/* Not UDAPL_ROCE_PARAMS: the program has said what it wants. */
	int rc = roce_devargs_read(
			config->params != NULL ? config->params : "", NULL, args, errmsg);

	if (rc != 0)
		return rc;
	for (size_t i = 0; i < RTE_DIM(said); i++) {
		if (roce_devargs_has(args, said[i][0]))
			return roce_errmsg_set(errmsg, -EINVAL, "%s= is not for attaching: %s",
					said[i][0], said[i][1]);
	}
	if (config->resolve != NULL && roce_devargs_has(args, "neigh"))
		return roce_errmsg_set(errmsg, -EINVAL,
				"neigh= is not for a program that resolves: there is no table");
	rc = roce_fault_args_add(secure_getenv("ROCE_FAULTS"), args, errmsg);
	if (rc != 0)
		return rc;
	args->queues = config->engines != 0 ? config->engines : 1;
	roce_devargs_set_port(args, config->name);
	return roce_devargs_complete(args, errmsg);
}

int
roce_device_attach(const struct roce_attach_config *config, struct roce_device **device,
		char *errmsg, size_t errmsg_len)
{
	struct roce_errmsg err = { .text = errmsg, .len = errmsg_len };
	struct roce_devargs args;
	uint16_t port;
	int rc;

	if (errmsg != NULL && errmsg_len > 0)
		errmsg[0] = '\0';
	rc = check_name(config->name, &err);
	if (rc == 0)
		rc = check_mode(config, &err);
	if (rc == 0)
		rc = read_params(config, &args, &err);
	if (rc == 0)
		rc = roce_log_check(&err);
	if (rc != 0)
		return rc;
	rc = roce_device_refuse_child(&err);
	if (rc != 0)
		return rc;
	if (rte_lcore_count() == 0)
		return roce_errmsg_set(&err, -ENODEV,
				"the EAL does not run: who attaches a device starts it first");
	if (roce_loop_is(config->name) || rte_eth_dev_get_port_by_name(config->name, &port) == 0)
		return roce_errmsg_set(&err, -EBUSY, "the name %s is that of a port", config->name);
	if (roce_fork_begin() != 0)
		return roce_errmsg_set(&err, -ENOMEM, "no memory to hear of forks");
	return roce_device_add_attached(&args, config, device, &err);
}
