/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "say.h"

/** Seconds since the machine was started; of this process. */
static uint64_t started;

static size_t
whole_pages(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (len + page - 1) / page * page;
}

/* A process that could shrink the memory would end each peer that touches it by SIGBUS. */
static int
sealed_memory(void *arg, const char *name, size_t len)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)whole_pages(len)) != 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static int
sealed_text(void *arg, const char *text, size_t len)
{
	int fd = memfd_create("roce-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = 0;

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < len && rc == 0;) {
		ssize_t n = pwrite(fd, text + done, len - done, (off_t)done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			rc = -errno;
	}
	if (rc == 0 &&
			fcntl(fd, F_ADD_SEALS,
					F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
					0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/*
 * The seals come first: a file that has none is not asked anything else, which its file system might never answer. The size
 * is that of small pages. Huge pages may be missing when a peer touches them, and would end that peer.
 */
static bool
is_memory(void *arg, int fd, size_t len)
{
	const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	const int unwanted = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & wanted) == wanted && (seals & unwanted) == 0 &&
			fstat(fd, &st) == 0 && st.st_size == (off_t)whole_pages(len);
}

static int
make_sockets(void *arg, int *fds)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return -errno;
	for (unsigned int i = 0; i < 2; i++)
		closer_refuse(fds[i]);
	return 0;
}

static void
close_fd(void *arg, int fd)
{
	close(fd);
}

static void
close_unknown(void *arg, int fd)
{
	closer_close(fd);
}

/* If in doubt, it lives: the next number is as good. */
static bool
is_locked(void *arg, uint32_t number)
{
	const int *numbers = arg;
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = number,
		.l_len = 1,
	};

	return fcntl(*numbers, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static void
note(void *arg, uint32_t number, uint32_t pid)
{
	const int *numbers = arg;

	if (pwrite(*numbers, &pid, sizeof(pid), (off_t)(number * sizeof(pid))) != sizeof(pid))
		say_event("the file of the numbers cannot be written: a later roced will not know "
			  "its processes by their ids");
}

static uint32_t
noted(void *arg, uint32_t number)
{
	const int *numbers = arg;
	uint32_t pid;

	return pread(*numbers, &pid, sizeof(pid), (off_t)(number * sizeof(pid))) == sizeof(pid)
			? pid
			: 0;
}

/** Behind the notes of the broker: the namespace of process ids that they are of, by its inode. */
#define NOTE_NAMESPACE (BROKER_NOTE_LAST + 1)

/* Ids that a roced of another container has noted are of other processes here. Without a note the lock alone tells. */
static void
forget_foreign(void *numbers)
{
	struct stat st;
	uint32_t namespace = stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;

	if (namespace != 0 && noted(numbers, NOTE_NAMESPACE) == namespace)
		return;
	for (uint32_t number = 0; number < ROCE_PROCESSES; number++) {
		if (noted(numbers, number) != 0)
			note(numbers, number, 0);
	}
	note(numbers, NOTE_NAMESPACE, namespace);
}

static uint64_t
random_bits(void *arg)
{
	uint64_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint64_t)(uintptr_t)
				random_bits; /* early in a boot; still an address that nobody is told */
	return bits;
}

static uint64_t
now_s(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec;
}

static uint64_t
age(void *arg)
{
	return now_s() - started;
}

static void
log_line(void *arg, const char *line)
{
	say_event(line);
}

struct broker_host
host_of(const int *numbers)
{
	void *arg = (void *)(uintptr_t)numbers;

	started = now_s();
	forget_foreign(arg);
	return (struct broker_host){
		.arg = arg,
		.memory = sealed_memory,
		.text = sealed_text,
		.is_memory = is_memory,
		.sockets = make_sockets,
		.close = close_fd,
		.close_unknown = close_unknown,
		.is_locked = is_locked,
		.note = note,
		.noted = noted,
		.random = random_bits,
		.age = age,
		.log = log_line,
	};
}
