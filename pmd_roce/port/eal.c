/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/eal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pci.h>

#include "port/capture.h"
#include "port/log.h"

#define ARGS_MAX 64
#define TEXT_LEN 4096

/* Free 2 MiB pages a queue below which hugepages are left alone: two ports with all their pools fit in. */
#define HUGE_PAGES_MIN 64
#define HUGE_PAGE_SIZE (2u << 20)

/*
 * Address space (MiB) for frames when there are no hugepages: memory is used as it is touched. With ordinary pages
 * a pool gives each large frame two of them.
 */
#define PLAIN_MEMORY       256
#define PLAIN_MEMORY_QUEUE 64

/* The EAL keeps pointers into its arguments, so they live as long as the process. */
static struct {
	char *argv[ARGS_MAX + 1];
	int argc;
	char text[TEXT_LEN];
	size_t used;
} eal;

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
add_user_args(const char *text, struct roce_errmsg *why)
{
	while (*text != '\0') {
		size_t len = strcspn(text, " \t\n");

		if (len > 0 && !add_arg("%.*s", (int)len, text))
			return roce_errmsg_set(why, -EINVAL, "UDAPL_ROCE_EAL is too long");
		text += len;
		text += strspn(text, " \t\n");
	}
	return 0;
}

/* Enough free hugepages, and this process may have one (a control group can forbid it). */
static bool
hugepages_usable(uint32_t queues)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
	char line[32] = "";
	void *page;

	if (f == NULL)
		return false;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	fclose(f);
	if (strtoul(line, NULL, 10) < (unsigned long)HUGE_PAGES_MIN * queues)
		return false;
	page = mmap(NULL, HUGE_PAGE_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (page == MAP_FAILED)
		return false;
	munmap(page, HUGE_PAGE_SIZE);
	return true;
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

/*
 * Without a shared configuration nothing is left behind and any number of processes start side by side; they
 * share one directory, where the telemetry sockets tell them apart. EAL's own logs are kept to errors.
 */
static bool
add_defaults(const struct roce_devargs *args)
{
	bool ok = add_arg("--no-shconf") && add_arg("--file-prefix=roce") &&
			add_arg("--log-level=*:error") && add_arg("--log-level=roce.*:notice");

	if (roce_eal_name_is_pci(args->port))
		ok = ok && add_arg("-a") && add_arg("%s", args->port);
	else
		ok = ok && add_arg("--no-pci");
	/* 22.11 refuses --no-huge together with --in-memory. */
	if (hugepages_usable(args->queues))
		ok = ok && add_arg("--in-memory");
	else
		ok = ok && add_arg("--no-huge") && add_arg("-m") &&
				add_arg("%" PRIu32,
						PLAIN_MEMORY + PLAIN_MEMORY_QUEUE * args->queues);
	return ok && add_lcores(args);
}

/* A folder that is ours alone: nobody else may have put it there, or may write into it. */
static bool
own_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
		return false;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
			(st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * Without XDG_RUNTIME_DIR the EAL of an ordinary user takes /tmp/dpdk, which belongs to whoever came first: every
 * other user's EAL then fails to start. Have it take a folder by user. @return true: set, to be unset again.
 */
static bool
set_runtime_folder(void)
{
	char path[64];

	if (geteuid() == 0 || secure_getenv("XDG_RUNTIME_DIR") != NULL ||
			secure_getenv("RUNTIME_DIRECTORY") != NULL)
		return false;
	snprintf(path, sizeof(path), "/tmp/udapl-roce-%u", (unsigned int)geteuid());
	return own_folder(path) && setenv("XDG_RUNTIME_DIR", path, 1) == 0;
}

static int
init_keeping_affinity(struct roce_errmsg *why)
{
	pthread_t self = pthread_self();
	cpu_set_t cpus;
	bool known = pthread_getaffinity_np(self, sizeof(cpus), &cpus) == 0;
	bool folder = set_runtime_folder();
	int rc = rte_eal_init(eal.argc, eal.argv);

	if (folder)
		unsetenv("XDG_RUNTIME_DIR");
	if (known)
		pthread_setaffinity_np(self, sizeof(cpus), &cpus);
	if (rc < 0)
		return roce_errmsg_set(why, -ENODEV, "DPDK's EAL did not start: %s",
				rte_strerror(rte_errno));
	return 0;
}

int
roce_eal_start(const struct roce_devargs *args, struct roce_errmsg *why)
{
	const char *user = secure_getenv("UDAPL_ROCE_EAL");
	int rc = 0;

	/* The one public sign of a running EAL: nobody has lcores before. */
	if (rte_lcore_count() != 0)
		return 0;
	eal.argc = 0;
	eal.used = 0;
	if (!add_arg("roce"))
		return -EINVAL;
	if (user != NULL && *user != '\0')
		rc = add_user_args(user, why);
	else if (!add_defaults(args))
		rc = roce_errmsg_set(why, -EINVAL, "the EAL's arguments are too long");
	if (rc != 0)
		return rc;
	rc = init_keeping_affinity(why);
	if (rc == 0)
		roce_capture_setup();
	return rc;
}

bool
roce_eal_name_is_pci(const char *name)
{
	char address[32];
	struct rte_pci_addr pci;
	size_t len = roce_devargs_name_len(name);

	if (len >= sizeof(address))
		return false;
	memcpy(address, name, len);
	address[len] = '\0';
	return rte_pci_addr_parse(address, &pci) == 0;
}
