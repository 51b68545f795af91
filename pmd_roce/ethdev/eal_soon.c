/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal_soon.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_telemetry.h>

#include "ethdev/eal_divert.h"
#include "ethdev/eal_exec.h"
#include "ethdev/tsc.h"
#include "local/file_limit.h"
#include "observe/log.h"

/** The sleep of the measurement, and what it becomes. */
#define MEASURE_NS 100000000L
#define SHORT_NS   5000000L

/** NUMA nodes that are looked for; a node beyond them is asked for as ever. */
#define NODES 64u
#define NODE  "/sys/devices/system/node/node"

/** Variable of the run-time folder's base. */
#define FOLDER "RUNTIME_DIRECTORY"

/** Name of the file that ordinary memory is. */
#define ORDINARY_MEMORY "nohuge"

/** Devices of the PCI bus, and a vendor of some. */
#define PCI_DEVICES "/sys/bus/pci/devices"
#define MELLANOX    0x15b3u

/** Looks for a process to listen at a name that it has. */
#define LISTEN_NAPS   2u
#define LISTEN_NAP_NS 200000L

/** The driver of pools, which every process needs; its name goes on as that of DPDK's library does. */
#define POOL_DRIVER RTE_EAL_PMD_PATH "/librte_mempool_ring"

/** While the EAL starts. Not of the thread: tools that look for leaks fail over such memory of a library. */
static struct {
	bool starts;
	pthread_t by;
	const char *folder; /**< empty: the EAL's own choice */
	bool knows_nodes;
	uint64_t nodes; /**< bit per node that is there */
} self;

/* Drivers were left out. */
static bool left_out;

/* Is it the thread that starts the EAL? */
static bool
is_start(void)
{
	return __atomic_load_n(&self.starts, __ATOMIC_ACQUIRE) &&
			pthread_equal(self.by, pthread_self()) != 0;
}

static int
sleep_less(const struct timespec *wanted, struct timespec *left)
{
	const struct timespec less = { .tv_nsec = SHORT_NS };
	bool is_measurement = is_start() && wanted->tv_sec == 0 && wanted->tv_nsec == MEASURE_NS;

	return nanosleep(is_measurement ? &less : wanted, left);
}

static void
find_nodes(void)
{
	char path[sizeof(NODE) + 16];

	self.knows_nodes = true;
	self.nodes = 0;
	for (unsigned int node = 0; node < NODES; node++) {
		snprintf(path, sizeof(path), NODE "%u", node);
		if (access(path, F_OK) == 0)
			self.nodes |= UINT64_C(1) << node;
	}
}

/* Is it the file of a processor of a node? */
static bool
names_node(const char *path, unsigned long *node)
{
	const char *number = path + strlen(NODE);
	const char *cpu;
	char *end;

	if (strncmp(path, NODE, strlen(NODE)) != 0)
		return false;
	*node = strtoul(number, &end, 10);
	if (end == number || strncmp(end, "/cpu", 4) != 0)
		return false;
	cpu = end + 4;
	(void)strtoul(cpu, &end, 10);
	return end != cpu && *end == '\0';
}

/* A file of a node that is not there is not there. */
static int
look_less(const char *path, int mode)
{
	unsigned long node;

	if (!is_start() || mode != F_OK || !names_node(path, &node) || node >= NODES)
		return access(path, mode);
	if (!self.knows_nodes)
		find_nodes();
	if ((self.nodes >> node & 1) != 0)
		return access(path, mode);
	errno = ENOENT;
	return -1;
}

/*
 * The EAL's ordinary memory is a file. Where that may not be as large it says so in two lines, and takes anonymous memory. It
 * takes that in silence where it is given no file.
 */
static int
make_no_file(const char *name, unsigned int flags)
{
	if (!is_start() || strcmp(name, ORDINARY_MEMORY) != 0 ||
			!roce_file_limit_is_below(UINT64_MAX))
		return memfd_create(name, flags | MFD_CLOEXEC);
	errno = EFBIG;
	return -1;
}

/*
 * The EAL has its run-time folder from the environment, which is not changed for it: other threads may be reading that. A
 * program with more rights than its user does not believe it.
 */
static char *
find_folder(const char *name)
{
	if (!is_start())
		return getenv(name);
	if (self.folder[0] != '\0' && strcmp(name, FOLDER) == 0)
		return (char *)(uintptr_t)self.folder;
	return secure_getenv(name);
}

/* The EAL loads no drivers where the folder of drivers is not there. */
static int
find_no_drivers(const char *path, struct stat *st)
{
	if (!is_start() || strcmp(path, RTE_EAL_PMD_PATH) != 0)
		return stat(path, st);
	left_out = true;
	errno = ENOENT;
	return -1;
}

/*
 * The name of a socket of telemetry may be taken. A connection tells whether by a process that lives: then the next name is
 * tried, and else this one is taken away. A process that is stopped, or has no time, would keep this one waiting; but it
 * lives. One that has the name since just now may not listen yet.
 */
static int
connect_less(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct timespec nap = { .tv_nsec = LISTEN_NAP_NS };
	int flags = fcntl(fd, F_GETFL);
	int rc, error;

	if (!is_start() || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return connect(fd, address, len);
	rc = connect(fd, address, len);
	for (unsigned int i = 0; rc != 0 && errno == ECONNREFUSED && i < LISTEN_NAPS; i++) {
		nanosleep(&nap, NULL);
		rc = connect(fd, address, len);
	}
	error = rc != 0 ? errno : 0;
	(void)fcntl(fd, F_SETFL, flags);
	errno = error;
	return error == EAGAIN ? 0 : rc;
}

static bool
is_of_vendor(const char *device, unsigned int vendor)
{
	char path[PATH_MAX], line[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/vendor", device);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	fclose(f);
	return strtoul(line, NULL, 16) == vendor;
}

static bool
has_device_of(unsigned int vendor)
{
	DIR *folder = opendir(PCI_DEVICES);
	const struct dirent *entry;
	bool found = false;

	while (folder != NULL && !found && (entry = readdir(folder)) != NULL)
		found = entry->d_name[0] != '.' && is_of_vendor(entry->d_name, vendor);
	if (folder != NULL)
		closedir(folder);
	return found;
}

/*
 * Drivers of Mellanox change the environment of the process when they are loaded, while other threads may be reading it, and
 * all that it executes inherits that. They are for machines that have such a device.
 */
static bool
is_wanted(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash != NULL ? slash : path, "_mlx") == NULL || has_device_of(MELLANOX);
}

/* The EAL looks whether it has a handle, and at nothing else of it. */
static void *
load_wanted(const char *path, int mode)
{
	return dlopen(!is_start() || path == NULL || is_wanted(path) ? path : NULL, mode);
}

static bool
load(const char *path)
{
	return dlopen(path, RTLD_NOW) != NULL;
}

static bool
load_pool_driver(void)
{
	char path[PATH_MAX];
	const char *end;
	Dl_info eal;

	if (dladdr((void *)(uintptr_t)rte_eal_init, &eal) == 0)
		return false;
	end = strstr(eal.dli_fname, ".so");
	if (end == NULL)
		return false;
	snprintf(path, sizeof(path), POOL_DRIVER "%s", end);
	return load(path);
}

/* The start lasts long enough to judge what the EAL measured meanwhile. */
static int
init_and_judge(int argc, char **argv, int (*init)(int argc, char **argv))
{
	struct roce_tsc_reading from, to;
	uint64_t hz;
	int rc;

	roce_tsc_read(&from);
	rc = init(argc, argv);
	if (rc < 0)
		return rc;
	roce_tsc_read(&to);
	hz = roce_tsc_judge(&from, &to, rte_get_tsc_hz());
	roce_tsc_set_hz(hz);
	if (hz != rte_get_tsc_hz())
		ROCE_LOG(INFO, "the EAL says that the counter has %" PRIu64 " Hz; it has %" PRIu64,
				rte_get_tsc_hz(), hz);
	return rc;
}

/* The same where the EAL cannot be diverted: by the environment. */
static int
init_in_folder(int argc, char **argv, int (*init)(int argc, char **argv))
{
	const char *before = getenv(FOLDER);
	char *kept = before != NULL ? strdup(before) : NULL;
	bool set = self.folder[0] != '\0' && (before == NULL || kept != NULL) &&
			setenv(FOLDER, self.folder, 1) == 0;
	int rc = init_and_judge(argc, argv, init);

	if (set && kept != NULL)
		setenv(FOLDER, kept, 1);
	else if (set)
		unsetenv(FOLDER);
	free(kept);
	return rc;
}

int
roce_eal_init_soon(int argc, char **argv, const char *folder, bool drivers,
		int (*init)(int argc, char **argv))
{
	void *eal = (void *)(uintptr_t)rte_eal_init;
	void *telemetry = (void *)(uintptr_t)rte_tel_data_start_dict;
	struct roce_eal_diverted sleep, look, connects, memory, environment, drivers_load,
			find = { 0 };
	bool diverted;
	int rc;

	(void)roce_eal_divert(&sleep, eal, "nanosleep", (void *)(uintptr_t)sleep_less);
	(void)roce_eal_divert(&look, eal, "access", (void *)(uintptr_t)look_less);
	(void)roce_eal_divert(&memory, eal, "memfd_create", (void *)(uintptr_t)make_no_file);
	(void)roce_eal_divert(&connects, telemetry, "connect", (void *)(uintptr_t)connect_less);
	diverted = roce_eal_divert(&environment, eal, "getenv", (void *)(uintptr_t)find_folder);
	(void)roce_eal_divert(&drivers_load, eal, "dlopen", (void *)(uintptr_t)load_wanted);
	if (!drivers && load_pool_driver() &&
			!roce_eal_divert(&find, eal, "stat64", (void *)(uintptr_t)find_no_drivers))
		(void)roce_eal_divert(&find, eal, "stat", (void *)(uintptr_t)find_no_drivers);
	self.by = pthread_self();
	self.folder = folder;
	self.knows_nodes = false;
	__atomic_store_n(&self.starts, true, __ATOMIC_RELEASE);
	rc = diverted ? init_and_judge(argc, argv, init) : init_in_folder(argc, argv, init);
	__atomic_store_n(&self.starts, false, __ATOMIC_RELEASE);
	roce_eal_undivert(&find);
	roce_eal_undivert(&drivers_load);
	roce_eal_undivert(&environment);
	roce_eal_undivert(&connects);
	roce_eal_undivert(&memory);
	roce_eal_undivert(&look);
	roce_eal_undivert(&sleep);
	return rc;
}

void
roce_eal_load_drivers(void)
{
	DIR *folder = left_out ? opendir(RTE_EAL_PMD_PATH) : NULL;
	const struct dirent *entry;
	char path[PATH_MAX];

	left_out = false;
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		if (strstr(entry->d_name, ".so") == NULL || !is_wanted(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", RTE_EAL_PMD_PATH, entry->d_name);
		if (!load(path))
			ROCE_LOG(INFO, "driver %s is not loaded: %s", entry->d_name, dlerror());
	}
	closedir(folder);
	roce_eal_exec_divert();
}
