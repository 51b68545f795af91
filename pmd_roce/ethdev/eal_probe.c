/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_common.h>

#include "local/file_limit.h"
#include "local/steady_wait.h"
#include "local/run_dir.h"

/* Free 2 MiB pages a queue below which hugepages are left alone: two ports with all their pools fit in. */
#define HUGE_PAGES_MIN 64
/* So many times as many are enough for all processes that start at once. */
#define PLENTY         64
#define HUGE_PAGE_SIZE (2u << 20)
/* Of those that the EAL takes where there are any. */
#define HUGE_PAGE_LARGEST (1u << 30)

#define FREE_HUGEPAGES "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"

/* A process is at the start of its EAL for some milliseconds. A stranger could keep the lock for ever. */
#define TURN_NAP_NS 1000000L
#define TURN_NAPS   500u

/* Descriptors that the EAL has open at once while it starts and afterwards, without hugepages, with some to spare. */
#define DESCRIPTORS_MIN 16

/* Threads that it has beside lcores: interrupts and telemetry. */
#define THREADS_MIN 2

/* The addresses that the EAL reserves for hugepages at most, in every process. */
#define HUGE_SPACE_GIB 512u

/* MPOL_F_NODE | MPOL_F_ADDR: on which node is this page? The header is that of libnuma. */
#define NODE_OF_ADDRESS 3

static void __attribute__((format(printf, 2, 3)))
give_reason(char reason[ROCE_EAL_REASON_LEN], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, ROCE_EAL_REASON_LEN, format, args);
	va_end(args);
}

/* How many more descriptors this process may open, @p enough at most. */
static unsigned int
free_descriptors(unsigned int enough)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	unsigned int n = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (rlim_t fd = 0; fd < RTE_MIN(limit.rlim_cur, (rlim_t)INT32_MAX) && n < enough; fd++)
		n += fcntl((int)fd, F_GETFD) < 0;
	return n;
}

static void *
wait_for_release(void *arg)
{
	pthread_mutex_t *held = arg;

	pthread_mutex_lock(held);
	pthread_mutex_unlock(held);
	return NULL;
}

/* How many more threads there may be at once, @p enough at most. A limit of a user, or of a control group. */
static unsigned int
free_threads(unsigned int enough)
{
	pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread[THREADS_MIN + ROCE_DEVARGS_LCORES];
	unsigned int n = 0;
	sigset_t all, before;

	/* The program's signals are none of theirs. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&held);
	while (n < enough && pthread_create(&thread[n], NULL, wait_for_release, &held) == 0)
		n++;
	pthread_mutex_unlock(&held);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return n;
}

int
roce_eal_probe_needs(unsigned int lcores, struct roce_errmsg *errmsg)
{
	unsigned int n = free_descriptors(DESCRIPTORS_MIN);
	unsigned int threads = THREADS_MIN + RTE_MIN(lcores, (unsigned int)ROCE_DEVARGS_LCORES);
	pthread_t self = pthread_self();
	cpu_set_t cpus;
	int rc;

	if (n < DESCRIPTORS_MIN)
		return roce_errmsg_set(errmsg, -ENODEV,
				"this process may open %u more descriptors: DPDK's EAL wants %u, raise the "
				"limit (ulimit -n)",
				n, DESCRIPTORS_MIN);
	n = free_threads(threads);
	if (n < threads)
		return roce_errmsg_set(errmsg, -ENODEV,
				"this process may have %u more threads: DPDK's EAL wants %u, raise the "
				"limit (ulimit -u, or that of the container)",
				n, threads);
	if (pthread_getaffinity_np(self, sizeof(cpus), &cpus) != 0)
		return 0;
	rc = pthread_setaffinity_np(self, sizeof(cpus), &cpus);
	if (rc != 0)
		return roce_errmsg_set(errmsg, -ENODEV,
				"this process may not bind threads to processors (%s): DPDK's EAL wants "
				"sched_setaffinity(2)",
				strerror(rc));
	return 0;
}

/* The processors that this process may ever use, by asking for all: the kernel takes away what is not allowed. */
static void
allowed_processors(cpu_set_t *allowed)
{
	pthread_t self = pthread_self();
	cpu_set_t before, all;

	memset(&all, 0xff, sizeof(all));
	CPU_ZERO(allowed);
	if (pthread_getaffinity_np(self, sizeof(before), &before) != 0)
		return;
	*allowed = before;
	if (pthread_setaffinity_np(self, sizeof(all), &all) != 0)
		return;
	pthread_getaffinity_np(self, sizeof(*allowed), allowed);
	pthread_setaffinity_np(self, sizeof(before), &before);
}

/* "0-3,8" */
static void
write_set(const cpu_set_t *set, char *text, size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	for (int first = 0, last; first < CPU_SETSIZE && used < len; first = last + 1) {
		last = first;
		if (!CPU_ISSET(first, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		used += (size_t)snprintf(text + used, len - used,
				first == last ? "%s%d" : "%s%d-%d", used > 0 ? "," : "", first,
				last);
	}
}

int
roce_eal_probe_lcores(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	cpu_set_t allowed;
	char text[128];

	if (args->lcores.n == 0)
		return 0;
	allowed_processors(&allowed);
	for (uint32_t i = 0; i < args->lcores.n; i++) {
		uint32_t lcore = args->lcores.at[i];

		if (lcore < CPU_SETSIZE && CPU_ISSET(lcore, &allowed))
			continue;
		write_set(&allowed, text, sizeof(text));
		return roce_errmsg_set(errmsg, -EINVAL,
				"lcores=%" PRIu32 ": must be processors that this process may "
				"use, %s",
				lcore, text);
	}
	return 0;
}

static unsigned long
free_hugepages(void)
{
	FILE *f = fopen(FREE_HUGEPAGES, "re");
	char line[32] = "";

	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	fclose(f);
	return strtoul(line, NULL, 10);
}

/* @return false: others had it for too long. */
static bool
take_turn(struct roce_eal_means *means)
{
	means->turn = open(FREE_HUGEPAGES, O_RDONLY | O_CLOEXEC);
	for (unsigned int naps = 0; naps < TURN_NAPS; naps++) {
		if (flock(means->turn, LOCK_EX | LOCK_NB) == 0)
			return true;
		roce_steady_sleep(TURN_NAP_NS);
	}
	return false;
}

void
roce_eal_end_turn(struct roce_eal_means *means)
{
	if (means->turn >= 0)
		close(means->turn);
	means->turn = -1;
}

/* @return false: that there are none, or few, is no news. */
static bool
has_hugepages(unsigned int pages, struct roce_eal_means *means)
{
	unsigned long there = free_hugepages();

	if (there < pages || there >= (unsigned long)pages * PLENTY)
		return there >= pages;
	return take_turn(means) && free_hugepages() >= pages;
}

/* The EAL asks on which node a page is, and has no use for one whose node it is not told. */
static bool
hugepage_serves(void *page, char reason[ROCE_EAL_REASON_LEN])
{
	int node;

	/* A control group may refuse a page when it is touched, by SIGBUS; but the kernel, which touches it here, by EFAULT. */
	if (getrandom(page, 1, 0) != 1 && errno == EFAULT) {
		give_reason(reason, "a control group refuses them");
		return false;
	}
	if (syscall(SYS_get_mempolicy, &node, NULL, 0, page, NODE_OF_ADDRESS) != 0 &&
			errno != ENOSYS) {
		give_reason(reason, "get_mempolicy(2): %s", strerror(errno));
		return false;
	}
	return true;
}

/* The EAL reserves addresses for all pages that there may ever be. */
static bool
space_is_there(char reason[ROCE_EAL_REASON_LEN])
{
	size_t len = (size_t)HUGE_SPACE_GIB << 30;
	void *space = mmap(
			NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (space == MAP_FAILED) {
		give_reason(reason, "they want %u GiB of address space, see ulimit -v",
				HUGE_SPACE_GIB);
		return false;
	}
	munmap(space, len);
	return true;
}

/* Each page is a file of its own. Later ones are taken when the consumer's calls want them, so no signal may come. */
static bool
files_may_have_pages(char reason[ROCE_EAL_REASON_LEN])
{
	if (!roce_file_limit_is_below(HUGE_PAGE_LARGEST))
		return true;
	give_reason(reason, "they want files of %u GiB, see ulimit -f", HUGE_PAGE_LARGEST >> 30);
	return false;
}

/* The EAL has pages from memfd_create(2), a descriptor each, and without it from mmap(2). */
static bool
memfd_is_usable(char reason[ROCE_EAL_REASON_LEN])
{
	int fd = memfd_create("roce", MFD_CLOEXEC | MFD_HUGETLB);

	if (fd < 0 && errno != ENOSYS && errno != EINVAL) {
		give_reason(reason, "memfd_create(2): %s", strerror(errno));
		return false;
	}
	if (fd >= 0)
		close(fd);
	return true;
}

void
roce_eal_probe_hugepages(uint32_t queues, struct roce_eal_means *means)
{
	unsigned int pages = HUGE_PAGES_MIN * queues;
	unsigned int descriptors = DESCRIPTORS_MIN + pages;
	char *reason = means->no_hugepages;
	void *page;

	means->turn = -1;
	if (!has_hugepages(pages, means))
		return;
	if (free_descriptors(descriptors) < descriptors) {
		give_reason(reason, "they want %u descriptors, see ulimit -n", descriptors);
		return;
	}
	if (!files_may_have_pages(reason))
		return;
	page = mmap(NULL, HUGE_PAGE_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (page == MAP_FAILED) {
		give_reason(reason, "mmap(2): %s", strerror(errno));
		return;
	}
	means->hugepages = hugepage_serves(page, reason) && memfd_is_usable(reason) &&
			space_is_there(reason);
	munmap(page, HUGE_PAGE_SIZE);
}

/* A folder that is ours alone: nobody else may have put it there, or may write into it. 0 or -errno. */
static int
make_own_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
			(st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EPERM;
	return 0;
}

/* No stranger can put another folder in the place of one that is in it. */
static bool
is_safe_parent(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
			(st.st_uid == geteuid() || st.st_uid == 0) &&
			((st.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (st.st_mode & S_ISVTX) != 0);
}

/* As the EAL does with its run-time folder: it makes the folder, and binds a socket there. 0 or -errno. */
static int
try_folder(const char *base)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char folder[sizeof(addr.sun_path)];
	int len = snprintf(folder, sizeof(folder), "%s/dpdk", base);
	int fd, rc;

	/* The longer names of the EAL must fit, too. */
	if (len < 0 || (size_t)len + sizeof("/roce/dpdk_telemetry.v2:65535") > sizeof(folder))
		return -ENAMETOOLONG;
	if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
		return -errno;
	if (!is_safe_parent(folder))
		return -EPERM;
	snprintf(folder + len, sizeof(folder) - (size_t)len, "/roce");
	rc = make_own_folder(folder);
	if (rc != 0)
		return rc;
	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/probe.%ld", folder,
			    (long)getpid()) >= (int)sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	unlink(addr.sun_path);
	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
		rc = -errno;
	close(fd);
	unlink(addr.sun_path);
	return rc;
}

/* A name that is not absolute names another folder for each who reads it. NULL: it is not set. */
static const char *
folder_of(const char *variable)
{
	const char *folder = secure_getenv(variable);

	return folder != NULL && folder[0] == '/' ? folder : NULL;
}

/* Where the EAL would put its folder; NULL: in /tmp, where it is somebody else's as often as not. */
static const char *
usual_base(void)
{
	const char *base = folder_of("RUNTIME_DIRECTORY");

	if (base == NULL)
		base = geteuid() == 0 ? "/var/run" : folder_of("XDG_RUNTIME_DIR");
	return base;
}

/* A folder by user, where strangers have left one. 0; -errno: why the first one does not serve. */
static int
find_spare_folder(char *folder, size_t len)
{
	int first = 0;

	for (unsigned int i = 0; roce_run_dir_spare(i, folder, len); i++) {
		int rc = make_own_folder(folder);

		if (rc == 0)
			rc = try_folder(folder);
		if (rc == 0)
			return 0;
		if (first == 0)
			first = rc;
	}
	roce_run_dir_spare(0, folder, len);
	return first;
}

/*
 * Without XDG_RUNTIME_DIR the EAL of an ordinary user takes /tmp/dpdk, which belongs to whoever came first: every
 * other user's EAL then fails to start. A folder by user serves, also for those whose own is not to be had.
 */
void
roce_eal_probe_folder(struct roce_eal_means *means)
{
	const char *base = usual_base();
	char refused[128] = "";
	int rc = base != NULL ? try_folder(base) : -ENOENT;

	means->telemetry = rc == 0;
	/* The EAL would choose by the real user, and believe what a program with more rights must not. */
	if (means->telemetry) {
		snprintf(means->folder, sizeof(means->folder), "%s", base);
		return;
	}
	if (base != NULL)
		snprintf(refused, sizeof(refused), "%.80s: %s", base, strerror(-rc));
	rc = find_spare_folder(means->folder, sizeof(means->folder));
	means->telemetry = rc == 0;
	if (rc != 0) {
		give_reason(means->no_telemetry, "%s%s%s: %s", refused, base != NULL ? ", " : "",
				means->folder, strerror(-rc));
		means->folder[0] = '\0';
	} else if (base != NULL) {
		give_reason(means->other_folder, "%s, not %s", means->folder, refused);
	}
}

const char *
roce_eal_means_words(const struct roce_eal_means *means, char *text, size_t len)
{
	const struct {
		const char *what;
		const char *reason;
	} parts[] = {
		{ "with ordinary memory instead of hugepages", means->no_hugepages },
		{ "without telemetry", means->no_telemetry },
		{ "with another folder for its sockets", means->other_folder },
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < RTE_DIM(parts) && used < len; i++) {
		if (parts[i].reason[0] != '\0')
			used += (size_t)snprintf(text + used, len - used, "%s%s (%s)",
					used > 0 ? ", " : "", parts[i].what, parts[i].reason);
	}
	return text;
}
