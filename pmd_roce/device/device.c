/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_string_fns.h>
#include <rte_version.h>

#include "device/device.h"
#include "device/membarrier.h"
#include "device/poll.h"
#include "device/port_neigh.h"
#include "device/shared_port.h"
#include "ethdev/attached_port.h"
#include "ethdev/eal.h"
#include "ethdev/eal_exec.h"
#include "ethdev/fault_args.h"
#include "ethdev/fork.h"
#include "ethdev/memory.h"
#include "ethdev/pool.h"
#include "ethdev/port_setup.h"
#include "ethdev/signals.h"
#include "ethdev/zcrx.h"
#include "local/file_limit.h"
#include "local/local.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "wire/icrc.h"

#define CONNECTIONS_MAX 32768 /**< of one device, living and waiting */

/* Polls at the end, to send what is ready: disconnect replies, last acknowledgements. */
#define LAST_POLLS 64

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct roce_device *devices;

static int
create_neigh(struct roce_device *device, struct roce_errmsg *errmsg)
{
	const struct roce_devargs *args = &device->args;
	struct roce_port *port = device->port;
	struct roce_neigh_config config = {
		.hz = roce_port_hz(),
		.mac = port->mac,
		.vlan_tci = port->vlan_tci,
		.addrs = args->ip.n,
		.gw = args->gw,
		.pool = port->tx_pool[0],
		.memory = roce_pool_memory,
	};
	int rc;

	/* A program that resolves addresses has no use for a table. */
	if (port->attached.resolve != NULL)
		return roce_subnet_gw_ok(args->ip.at, args->ip.n, &args->gw)
				? 0
				: roce_device_refuse_gw(errmsg);
	rc = roce_device_check_neighbours(args, errmsg);
	if (rc != 0)
		return rc;
	memcpy(config.addr, args->ip.at, sizeof(config.addr));
	rc = roce_neigh_create(&config, &port->neigh);
	if (rc == -EINVAL)
		return roce_device_refuse_gw(errmsg);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "no memory for neighbours");
	for (uint32_t i = 0; i < args->neigh.n; i++)
		roce_neigh_add(port->neigh, &args->neigh.at[i].ip, &args->neigh.at[i].mac);
	return 0;
}

static int
create_domain(struct roce_device *device, uint64_t seed, uint64_t fault_seed,
		struct roce_errmsg *errmsg)
{
	const struct roce_devargs *args = &device->args;
	struct roce_domain_config config = {
		.engines = args->queues,
		.hz = roce_port_hz(),
		.seed = seed,
		.first_qpn = args->qpn,
		.first_psn = args->psn,
		.addrs = args->ip.n,
		.vid = (uint16_t)args->vlan,
		.ip_cksum_offload = device->port->ip_cksum_offload,
		.ecn = args->ecn != 0,
		.line_rate = roce_port_line_rate(device->port),
		.extbuf = {
			.least = device->port->zero_copy,
			.readable = roce_memory_readable,
			.iova = roce_memory_iova,
			.arg = device->port,
		},
		.faults = roce_fault_config(args, fault_seed),
		.memory = roce_pool_memory,
		.notify_arg = device,
		.wake = roce_device_wake_users,
		.wake_poller = roce_device_wake_poller,
		.transmit = roce_port_is_programs(device->port) ? NULL : roce_device_transmit,
	};
	int rc;

	for (uint32_t i = 0; i < args->ip.n; i++)
		config.addr[i] = args->ip.at[i].addr;
	memcpy(config.pool, device->port->tx_pool, sizeof(config.pool));
	if (device->port->local != NULL) {
		config.process = (uint16_t)roce_local_number(device->port->local);
		config.peer_process = roce_local_peers(device->port->local);
	}
	roce_port_use_membarrier();
	roce_port_zcrx_describe(device->port, &config.zcrx);
	rc = roce_domain_create(&config, &device->domain);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "the engines cannot be made: %s", strerror(-rc));
	for (unsigned int q = 0; q < args->queues; q++)
		device->port->queue[q].engine = roce_domain_engine(device->domain, q);
	return 0;
}

/* EUI-64 of a MAC address: the universal bit turned over, ff:fe in the middle (RFC 4291 appendix A). */
static uint64_t
eui64(const struct rte_ether_addr *mac)
{
	const uint8_t b[8] = { mac->addr_bytes[0] ^ 2, mac->addr_bytes[1], mac->addr_bytes[2], 0xff,
		0xfe, mac->addr_bytes[3], mac->addr_bytes[4], mac->addr_bytes[5] };
	uint64_t guid = 0;

	for (size_t i = 0; i < sizeof(b); i++)
		guid = guid << 8 | b[i];
	return guid;
}

static int
create_cm(struct roce_device *device, uint64_t seed, struct roce_errmsg *errmsg)
{
	struct roce_cm_config config = {
		.hz = roce_port_hz(),
		/* The dice of the domain and of the connection manager differ. */
		.seed = ~seed,
		.ca_guid = eui64(&device->port->mac),
		.extensions = true,
		.pool = device->port->tx_pool[0],
		.memory = roce_pool_memory,
		.connections_max = CONNECTIONS_MAX,
		.ip_cksum_offload = device->port->ip_cksum_offload,
		.resolve = roce_port_resolve_from,
		.resolve_arg = device->port,
		.notify = roce_device_tell_cm_event,
	};
	struct roce_gsi gsi;
	int rc;

	if (device->port->local != NULL)
		config.process = (uint16_t)roce_local_number(device->port->local);
	rc = roce_cm_create(&config, &device->cm);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "the connection manager cannot be made: %s",
				strerror(-rc));
	roce_cm_gsi(device->cm, &gsi);
	roce_domain_set_gsi(device->domain, &gsi);
	device->port->cm = device->cm;
	return 0;
}

static void
log_start(const struct roce_device *device)
{
	const struct roce_port *port = device->port;
	const struct roce_subnet *first = &device->args.ip.at[0];
	char ip[INET6_ADDRSTRLEN] = "?";
	bool v4 = roce_ip_is_v4(&first->addr);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? first->addr.b + 12 : first->addr.b, ip, sizeof(ip));
	if (device->args.fault_seeded)
		ROCE_LOG(NOTICE,
				"port %s: faults are injected, as ROCE_FAULTS wants, with seed %" PRIu64,
				port->probe.name, device->args.fault_seed);
	ROCE_LOG(INFO,
			"port %s (%s) " RTE_ETHER_ADDR_PRT_FMT
			", %s/%u, path MTU %u, %u engine%s, ICRC by %s, hugepages %s, %s",
			port->probe.name, port->driver, RTE_ETHER_ADDR_BYTES(&port->mac), ip,
			first->prefix, roce_mtu_bytes(port->mtu_code), port->queues,
			port->queues == 1 ? "" : "s", roce_icrc_path(),
			rte_eal_has_hugepages() ? "yes" : "no", rte_version());
}

/* The last one is out, or it never came to life. */
static void
destroy(struct roce_device *device)
{
	struct roce_port *port = device->port;

	roce_address_release(&device->claim);
	if (port != NULL) {
		roce_shared_port_stop(device);
		roce_port_unserve(port);
		for (unsigned int i = 0; i < LAST_POLLS && device->cm != NULL; i++) {
			if (roce_device_poll(device) == 0)
				break;
		}
		roce_port_events_end(device->port);
		if (device->cm != NULL)
			roce_cm_destroy(device->cm);
		if (device->domain != NULL)
			roce_domain_destroy(device->domain);
		roce_neigh_destroy(port->neigh);
		roce_port_close(port);
	}
	roce_pool_drop_cache();
	free(device);
}

/* A driver's memory for frames is a file, too. */
static int
open_own_port(struct roce_device *device, const struct roce_port_config *config,
		struct roce_errmsg *errmsg)
{
	struct roce_file_limit limit;
	int rc;

	roce_file_limit_begin(&limit);
	roce_eal_exec_begin_port();
	rc = roce_port_open(config, &device->port, errmsg);
	roce_eal_exec_end_port();
	roce_file_limit_end(&limit);
	return rc;
}

static int
open_port(struct roce_device *device, const struct roce_port_config *config,
		const struct roce_attach_config *attached, struct roce_errmsg *errmsg)
{
	if (attached != NULL)
		return roce_port_attach(config, attached, &device->port, errmsg);
	if (roce_local_is(device->args.port))
		return roce_shared_port_open(config, &device->args, &device->port, errmsg);
	return open_own_port(device, config, errmsg);
}

/* Build a device from the bottom up. @p attached: what a program attaches; NULL: the port is our own. */
static int
create(const struct roce_devargs *args, const struct roce_attach_config *attached,
		struct roce_device **out, struct roce_errmsg *errmsg)
{
	struct roce_device *device = calloc(1, sizeof(*device));
	struct roce_port_config config;
	uint64_t seed = args->seed;
	int rc;

	if (device == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a device");
	memcpy(&device->args, args, sizeof(*args));
	config.args = &device->args;
	device->refs = 1;
	device->first = device;
	if (!roce_devargs_has(args, "seed") && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = roce_port_now();
	config.seed = args->fault_seeded ? args->fault_seed : seed;
	rc = open_port(device, &config, attached, errmsg);
	if (rc == 0)
		rc = create_neigh(device, errmsg);
	if (rc == 0)
		rc = create_domain(device, seed, config.seed, errmsg);
	if (rc == 0)
		rc = create_cm(device, seed, errmsg);
	if (rc == 0 && roce_device_events_begin(device) != 0)
		rc = roce_errmsg_set(errmsg, -ENOMEM, "no memory to listen to port %s",
				device->port->probe.name);
	if (rc == 0 && device->port->local != NULL)
		rc = roce_shared_port_start(device, errmsg);
	if (rc == 0 && args->lcores.n > 0)
		rc = roce_port_serve(device->port, args->lcores.at, args->lcores.n, errmsg);
	if (rc != 0) {
		destroy(device);
		return rc;
	}
	roce_address_claim(&device->claim, args->port, args->ip.at, args->ip.n);
	log_start(device);
	roce_trace_open(device->port->probe.name, device->port->driver,
			roce_mtu_bytes(device->port->mtu_code), device->port->queues);
	*out = device;
	return 0;
}

/* An open device on the same port; the text behind the port's name does not matter. */
static struct roce_device *
find_device(const struct roce_devargs *args)
{
	size_t len = roce_devargs_name_len(args->port);

	for (struct roce_device *d = devices; d != NULL; d = d->next) {
		if (roce_devargs_name_len(d->args.port) == len &&
				strncmp(d->args.port, args->port, len) == 0)
			return d;
	}
	return NULL;
}

/* The EAL runs. */
static int
add_device(const struct roce_devargs *args, const struct roce_attach_config *attached,
		struct roce_device **out, struct roce_errmsg *errmsg)
{
	struct roce_device **link = &devices;
	int rc;

	/* After the EAL, whose own arguments say something about logs too. */
	roce_log_setup();
	roce_telemetry_setup(&roce_device_telemetry);
	rc = create(args, attached, out, errmsg);
	if (rc != 0)
		return rc;
	while (*link != NULL)
		link = &(*link)->next;
	*link = *out;
	return 0;
}

int
roce_device_refuse_child(struct roce_errmsg *errmsg)
{
	if (!roce_fork_is_child())
		return 0;
	return roce_errmsg_set(errmsg, -ENODEV,
			"this process was forked from one that has opened an adapter, and DPDK does not "
			"start twice: fork before the first open, or exec");
}

static int
open_locked(const struct roce_devargs *args, struct roce_device **out, struct roce_errmsg *errmsg)
{
	struct roce_device *device = find_device(args);
	int rc;

	if (device != NULL) {
		rc = roce_device_check_joiner(device, args, errmsg);
		if (rc != 0)
			return rc;
		if (roce_port_events_is_gone(&device->port->events))
			return roce_errmsg_set(errmsg, -ENODEV,
					"port %s is gone: what used it must close it first",
					device->port->probe.name);
		if (!roce_device_is_share(device, args)) {
			device->refs++;
			*out = device;
			return 0;
		}
		return roce_device_add_share(device, args, out, errmsg);
	}
	rc = roce_local_is(args->port) ? roce_shared_port_check(args, errmsg)
				       : roce_devargs_complete(args, errmsg);
	/* Before the EAL has threads: the kernel has nobody to wait for then, else some milliseconds. */
	roce_port_use_membarrier();
	if (rc == 0)
		rc = roce_eal_start(args, errmsg);
	return rc != 0 ? rc : add_device(args, NULL, out, errmsg);
}

int
roce_device_add_attached(const struct roce_devargs *args, const struct roce_attach_config *attached,
		struct roce_device **out, struct roce_errmsg *errmsg)
{
	int rc = 0;

	pthread_mutex_lock(&devices_lock);
	if (find_device(args) != NULL)
		rc = roce_errmsg_set(errmsg, -EBUSY, "the name %s is in use", args->port);
	else if (attached->mode == ROCE_ATTACH_QUEUES)
		rc = roce_device_check_queues(devices, attached, errmsg);
	if (rc == 0)
		rc = add_device(args, attached, out, errmsg);
	roce_signals_hold(devices != NULL);
	pthread_mutex_unlock(&devices_lock);
	return rc;
}

int
roce_device_open(const char *params, struct roce_device **device, char *errmsg, size_t errmsg_len)
{
	struct roce_errmsg err = { .text = errmsg, .len = errmsg_len };
	struct roce_devargs args;
	int rc;

	if (errmsg != NULL && errmsg_len > 0)
		errmsg[0] = '\0';
	rc = roce_devargs_read(params, secure_getenv("UDAPL_ROCE_PARAMS"), &args, &err);
	if (rc == 0)
		rc = roce_fault_args_add(secure_getenv("ROCE_FAULTS"), &args, &err);
	if (rc == 0)
		rc = roce_log_check(&err);
	if (rc != 0)
		return rc;
	/* Before the lock, which a thread of the parent may have held. */
	rc = roce_device_refuse_child(&err);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&devices_lock);
	rc = open_locked(&args, device, &err);
	roce_signals_hold(devices != NULL);
	pthread_mutex_unlock(&devices_lock);
	return rc;
}

void
roce_device_close(struct roce_device *device)
{
	struct roce_device **link = &devices, *share = device;
	unsigned int lost;

	/* The parent's: it goes on there. */
	if (roce_fork_is_child())
		return;
	pthread_mutex_lock(&devices_lock);
	device = share->first;
	if (share != device)
		roce_device_drop_share(share);
	if (--device->refs == 0) {
		while (*link != device)
			link = &(*link)->next;
		*link = device->next;
		roce_trace_close(device->port->probe.name);
		destroy(device);
		/* While the other end of a loop is open it may hold frames of ours. */
		lost = roce_pool_sweep();
		if (devices == NULL)
			roce_trace_save();
		if (devices == NULL && lost > 0)
			ROCE_LOG(WARNING, "%u frames did not come home", lost);
	}
	roce_signals_hold(devices != NULL);
	pthread_mutex_unlock(&devices_lock);
}

void
roce_device_each(void (*fn)(const struct roce_device *device, void *arg), void *arg)
{
	pthread_mutex_lock(&devices_lock);
	for (const struct roce_device *d = devices; d != NULL; d = d->next)
		fn(d, arg);
	pthread_mutex_unlock(&devices_lock);
}

void
roce_device_query(const struct roce_device *device, struct roce_device_attr *attr)
{
	const struct roce_port *port = device->port;
	const struct roce_devargs *args = &device->args;

	*attr = (struct roce_device_attr){
		.mtu = roce_mtu_bytes(port->mtu_code),
		.engines = port->queues,
		.serviced = port->serviced || roce_port_is_programs(port),
		.retry = (uint8_t)args->retry,
		.rnr_retry = (uint8_t)args->rnr_retry,
		.rnr_timer = (uint8_t)args->rnr_timer,
		.ack_timeout = (uint8_t)args->timeout,
		.icrc_path = roce_icrc_path(),
		.dpdk = rte_version(),
	};
	rte_strlcpy(attr->port, port->probe.name, sizeof(attr->port));
	rte_strlcpy(attr->driver, port->driver, sizeof(attr->driver));
	memcpy(attr->mac, port->mac.addr_bytes, sizeof(attr->mac));
	memcpy(attr->ip, args->ip.at[0].addr.b, sizeof(attr->ip));
}

uint64_t
roce_device_now(const struct roce_device *device)
{
	return roce_port_now();
}

uint64_t
roce_device_hz(const struct roce_device *device)
{
	return roce_port_hz();
}

struct roce_domain *
roce_device_domain(struct roce_device *device)
{
	return device->domain;
}

struct roce_cm *
roce_device_cm(struct roce_device *device)
{
	return device->cm;
}
