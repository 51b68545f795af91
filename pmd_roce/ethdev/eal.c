/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pci.h>

#include "ethdev/eal_exec.h"
#include "ethdev/eal_init.h"
#include "ethdev/eal_probe.h"
#include "ethdev/eal_soon.h"
#include "ethdev/fork.h"
#include "ethdev/signals.h"
#include "ethdev/sockets.h"
#include "ethdev/vdev_check.h"
#include "local/file_limit.h"
#include "local/local.h"
#include "observe/capture.h"
#include "observe/log.h"

#define ARGS_MAX 64
#define TEXT_LEN 4096

/*
 * Address space (MiB) for frames when there are no hugepages: memory is used as it is touched. With ordinary pages
 * a pool gives each large frame two of them.
 */
#define PLAIN_MEMORY       512
#define PLAIN_MEMORY_QUEUE 64

/*
 * Hugepages (MiB) that the EAL takes while nobody else looks for some: what a device of one queue has at least. More are taken
 * as they are needed, and where they run short frames and queues have ordinary memory.
 */
#define HUGE_MEMORY 48

/*
 * A device that no machine has. An allow list of nothing else leaves all devices alone, which other processes may use,
 * and the bus there for what is opened later.
 */
#define NO_PCI_DEVICE "ffff:ff:1f.7"
#define PCI_DEVICES   "/sys/bus/pci/devices"

/* In this one no process can make a folder: the EAL goes on without. Its own choice may be a stranger's. */
#define NO_FOLDER "/proc"

/* The EAL keeps pointers into its arguments, so they live as long as the process. */
static struct {
	char *argv[ARGS_MAX + 1];
	int argc;
	char text[TEXT_LEN];
	size_t used;
} eal;

/* The devices that the EAL was told to probe, until they are taken. */
static struct rte_pci_addr probed;
static bool has_probed;

/* The address at the front of a port; false: it is none. */
static bool
read_pci(const char *port, struct rte_pci_addr *pci)
{
	char address[32];
	size_t len = roce_devargs_name_len(port);

	if (len >= sizeof(address))
		return false;
	memcpy(address, port, len);
	address[len] = '\0';
	return rte_pci_addr_parse(address, pci) == 0;
}

/* False: no room for it. */
static bool
add_arg(const char *format, ...)
{
	size_t room = sizeof(eal.text) - eal.used;
	va_list args;
	int len;

	if (eal.argc == ARGS_MAX)
		return false;
	va_start(args, format);
	len = vsnprintf(eal.text + eal.used, room, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= room)
		return false;
	eal.argv[eal.argc++] = eal.text + eal.used;
	eal.used += (size_t)len + 1;
	return true;
}

static int
add_user_args(const char *text, struct roce_errmsg *errmsg)
{
	while (*text != '\0') {
		size_t len = strcspn(text, " \t\n");

		if (len > 0 && !add_arg("%.*s", (int)len, text))
			return roce_errmsg_set(errmsg, -EINVAL, "UDAPL_ROCE_EAL is too long");
		text += len;
		text += strspn(text, " \t\n");
	}
	return 0;
}

static bool
lcore_is_asked(const struct roce_devargs *args, uint32_t lcore)
{
	for (uint32_t i = 0; i < args->lcores.n; i++) {
		if (args->lcores.at[i] == lcore)
			return true;
	}
	return false;
}

/* The caller is an lcore on the CPU it runs on; the lcores of `lcores=` are on the CPUs of their number. */
static bool
add_lcores(const struct roce_devargs *args)
{
	char list[512];
	uint32_t self = 0;
	int cpu = sched_getcpu();
	int len;

	while (lcore_is_asked(args, self))
		self++;
	len = snprintf(list, sizeof(list), "%" PRIu32 "@%d", self, cpu < 0 ? 0 : cpu);
	for (uint32_t i = 0; i < args->lcores.n; i++)
		len += snprintf(list + len, sizeof(list) - (size_t)len, ",%" PRIu32,
				args->lcores.at[i]);
	return add_arg("--lcores") && add_arg("%s", list) && add_arg("--main-lcore") &&
			add_arg("%" PRIu32, self);
}

static bool
add_pci(const struct roce_devargs *args)
{
	if (roce_eal_name_is_pci(args->port))
		return add_arg("-a") && add_arg("%s", args->port);
	if (access(PCI_DEVICES, R_OK) != 0)
		return add_arg("--no-pci");
	return add_arg("-a") && add_arg("%s", NO_PCI_DEVICE);
}

/*
 * Without a shared configuration nothing is left behind and any number of processes start side by side; they
 * share one directory, where the telemetry sockets tell them apart. EAL's own logs are kept to errors.
 */
static bool
add_defaults(const struct roce_devargs *args, const struct roce_eal_means *means)
{
	uint32_t plain = PLAIN_MEMORY + PLAIN_MEMORY_QUEUE * args->queues;
	bool ok = add_arg("--no-shconf") && add_arg("--file-prefix=roce") &&
			add_arg("--log-level=*:error") && add_arg("--log-level=roce.*:notice") &&
			add_pci(args);

	/* 22.11 refuses --no-huge together with --in-memory. */
	ok = ok && add_arg(means->hugepages ? "--in-memory" : "--no-huge") && add_arg("-m") &&
			add_arg("%" PRIu32, means->hugepages ? HUGE_MEMORY : plain);
	/* vhost-user passes eight files at most, and each huge page would be one. */
	if (means->hugepages && roce_vdev_is_virtio_user(args->port))
		ok = ok && add_arg("--single-file-segments");
	if (!means->telemetry)
		ok = ok && add_arg("--no-telemetry");
	return ok && add_lcores(args);
}

static int
start_by_default(const struct roce_devargs *args, struct roce_eal_means *means,
		struct roce_errmsg *errmsg)
{
	int rc = roce_eal_probe_lcores(args, errmsg);

	if (rc != 0)
		return rc;
	roce_eal_probe_hugepages(args->queues, means);
	if (!add_defaults(args, means))
		rc = roce_errmsg_set(errmsg, -EINVAL, "the EAL's arguments are too long");
	/* These arguments are never refused with a page of usage, so the standard output stays where it is. */
	else if (roce_eal_init_soon(eal.argc, eal.argv,
				 means->telemetry ? means->folder : NO_FOLDER,
				 !roce_local_is(args->port), rte_eal_init) >= 0)
		has_probed = read_pci(args->port, &probed);
	else
		rc = roce_errmsg_set(errmsg, -ENODEV, "DPDK's EAL did not start: %s",
				rte_strerror(rte_errno));
	roce_eal_end_turn(means);
	return rc;
}

static int
start_by_user(const char *text, const struct roce_eal_means *means, struct roce_errmsg *errmsg)
{
	int rc = add_user_args(text, errmsg);

	if (rc != 0 ||
			roce_eal_init_soon(eal.argc, eal.argv, means->folder, true,
					roce_eal_init_quietly) >= 0)
		return rc;
	if (rte_errno == EINVAL)
		return roce_errmsg_set(errmsg, -EINVAL,
				"UDAPL_ROCE_EAL=%.150s: must be arguments of DPDK's EAL, which "
				"says above what it refuses",
				text);
	return roce_errmsg_set(errmsg, -ENODEV,
			"DPDK's EAL did not start with UDAPL_ROCE_EAL: %s%s",
			rte_strerror(rte_errno),
			means->telemetry ? "" : "; no folder for its sockets: want --no-telemetry");
}

/* Refusals are told when the EAL runs, as UDAPL_ROCE_LOG wants it. */
static void
log_means(const struct roce_eal_means *means)
{
	char words[3 * ROCE_EAL_REASON_LEN];

	roce_log_setup();
	if (*roce_eal_means_words(means, words, sizeof(words)) != '\0')
		ROCE_LOG(NOTICE, "the EAL runs %s", words);
}

static int
start(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	const char *user = secure_getenv("UDAPL_ROCE_EAL");
	struct roce_eal_means means = { 0 };
	int rc = roce_eal_probe_needs(args->lcores.n, errmsg);

	if (rc != 0)
		return rc;
	eal.argc = 0;
	eal.used = 0;
	if (!add_arg("roce"))
		return -EINVAL;
	roce_eal_probe_folder(&means);
	rc = user != NULL && *user != '\0' ? start_by_user(user, &means, errmsg)
					   : start_by_default(args, &means, errmsg);
	if (rc == 0)
		log_means(&means);
	return rc;
}

int
roce_eal_start(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	pthread_t self = pthread_self();
	struct roce_file_limit limit;
	sigset_t signals;
	cpu_set_t cpus;
	bool known;
	int rc;

	if (roce_fork_begin() != 0)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory to hear of forks");
	/* The one public sign of a running EAL: nobody has lcores before. */
	if (rte_lcore_count() != 0) {
		if (!roce_local_is(args->port))
			roce_eal_load_drivers();
		return 0;
	}
	known = pthread_getaffinity_np(self, sizeof(cpus), &cpus) == 0;
	roce_sockets_before_eal();
	roce_file_limit_begin(&limit);
	/* The EAL's threads live on with what is blocked now. */
	roce_signals_block(&signals);
	roce_eal_exec_begin();
	rc = start(args, errmsg);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	roce_file_limit_end(&limit);
	if (known)
		pthread_setaffinity_np(self, sizeof(cpus), &cpus);
	if (rc == 0) {
		roce_signals_started(&signals);
		roce_sockets_after_eal();
		roce_capture_setup();
	} else if (rte_lcore_count() == 0) {
		roce_fork_cancel();
	}
	return rc;
}

bool
roce_eal_name_is_pci(const char *name)
{
	struct rte_pci_addr pci;

	return read_pci(name, &pci);
}

bool
roce_eal_take_probed(const char *name)
{
	struct rte_pci_addr pci;

	if (!has_probed || !read_pci(name, &pci) || rte_pci_addr_cmp(&pci, &probed) != 0)
		return false;
	has_probed = false;
	return true;
}
