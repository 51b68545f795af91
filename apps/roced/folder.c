/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "local/proto.h"
#include "local/run_dir.h"
#include "say.h"

#define BACKLOG 1024

#define ON_DEMAND "on-demand"

/* A roced that was told to end has its processes' connections to close; and they may start another one meanwhile. */
#define TAKE_OVER_TRIES  1000
#define TAKE_OVER_NAP_NS 5000000L

#define MODE_OTHERS (S_IRWXG | S_IRWXO)

/* The path of the folder. @return 0; -1, said. */
static int
find_path(char *path, size_t len, const char *dir)
{
	char text[256] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	if (dir == NULL) {
		if (roce_run_dir(path, len, &errmsg) == 0)
			return 0;
		say("%s", text);
		return -1;
	}
	if (dir[0] != '/') {
		say("--dir takes an absolute path, not '%s'", dir);
		return -1;
	}
	if ((size_t)snprintf(path, len, "%s", dir) < len)
		return 0;
	say("--dir takes a path of at most %zu bytes, not '%s'", len - 1, dir);
	return -1;
}

int
folder_address(struct sockaddr_un *address, const char *dir)
{
	char path[sizeof(address->sun_path) - sizeof(ROCE_PROTO_SOCKET)];

	if (find_path(path, sizeof(path), dir) != 0)
		return -1;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", path, ROCE_PROTO_SOCKET);
	return 0;
}

static int
find_group(struct folder *folder, const char *name)
{
	const struct group *group;

	folder->group = FOLDER_NO_GROUP;
	if (name == NULL)
		return 0;
	group = getgrnam(name);
	if (group == NULL) {
		say("there is no group '%s'", name);
		return -1;
	}
	folder->group = group->gr_gid;
	return 0;
}

/* A file in the folder, which has the group already if that is roced's own: a filter of system calls may forbid the rest. */
static int
give_to_group(const struct folder *folder, const char *name, mode_t mode)
{
	struct stat st;

	if (folder->group == FOLDER_NO_GROUP)
		return 0;
	if (fstatat(folder->dir, name, &st, 0) == 0 &&
			(st.st_gid == folder->group ||
					fchownat(folder->dir, name, (uid_t)-1, folder->group, 0) ==
							0) &&
			fchmodat(folder->dir, name, mode, 0) == 0)
		return 0;
	return say_errno("%s cannot be given to the group", name);
}

/* Ours, and for nobody else to enter; with a group, for its members to enter, but not to write to. */
static int
check_folder(const struct folder *folder, const char *path)
{
	const bool has_group = folder->group != FOLDER_NO_GROUP;
	struct stat st;

	if (fstat(folder->dir, &st) != 0)
		return say_errno("%s", path);
	if (st.st_uid != geteuid()) {
		say("%s belongs to user %u, not to user %u", path, st.st_uid, geteuid());
		return -1;
	}
	if (has_group)
		return give_to_group(folder, ".", 0750);
	if ((st.st_mode & MODE_OTHERS) == 0)
		return 0;
	say("%s has mode %04o, so others could enter; its mode must be 0700", path,
			st.st_mode & 07777);
	return -1;
}

int
folder_open(struct folder *folder, const char *dir, const char *group)
{
	char *path = folder->path;

	*folder = (struct folder){ .dir = -1, .lock = -1, .numbers = -1 };
	if (folder_address(&folder->address, dir) != 0 || find_group(folder, group) != 0)
		return -1;
	snprintf(path, sizeof(folder->path), "%s", folder->address.sun_path);
	*strrchr(path, '/') = '\0';
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return say_errno("%s cannot be made", path);
	folder->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->dir < 0)
		return say_errno("%s", path);
	return check_folder(folder, path);
}

/* ---- the one roced ---- */

/** Behind all that a holder says of itself: a byte that is written here asks it to make way. */
#define ASKED_AT 63

/* The holder of the lock, as it says in the file. */
enum holder {
	HOLDER_UNKNOWN = 1, /* it has not said so far */
	HOLDER_ON_DEMAND,
	HOLDER_STARTED /* by somebody */
};

static enum holder
read_holder(const struct folder *folder)
{
	char text[ASKED_AT + 1] = "";

	if (pread(folder->lock, text, ASKED_AT, 0) <= 0 || text[0] == '\0')
		return HOLDER_UNKNOWN;
	return strncmp(text, ON_DEMAND " ", sizeof(ON_DEMAND)) == 0 ? HOLDER_ON_DEMAND
								    : HOLDER_STARTED;
}

/*
 * One that was started on demand makes way. It is asked by the file, because its process id may be that of another container.
 * @return 0; -EWOULDBLOCK: it does not, or another one runs.
 */
static int
take_over(const struct folder *folder)
{
	const struct timespec nap = { .tv_nsec = TAKE_OVER_NAP_NS };

	for (unsigned int i = 0; i < TAKE_OVER_TRIES; i++) {
		enum holder holder = read_holder(folder);

		if (holder == HOLDER_STARTED)
			return -EWOULDBLOCK;
		if (holder == HOLDER_ON_DEMAND && pwrite(folder->lock, "", 1, ASKED_AT) != 1)
			return -EWOULDBLOCK;
		nanosleep(&nap, NULL);
		if (flock(folder->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
	}
	return -EWOULDBLOCK;
}

int
folder_lock(struct folder *folder, bool on_demand)
{
	int rc = 0;

	folder->lock = openat(folder->dir, ROCE_PROTO_LOCK,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (folder->lock < 0)
		return say_errno("%s", ROCE_PROTO_LOCK);
	if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK)
			return say_errno("%s", ROCE_PROTO_LOCK);
		rc = on_demand ? -EWOULDBLOCK : take_over(folder);
	}
	/* Of the last holder, which may have been killed. */
	if (rc == 0 && ftruncate(folder->lock, 0) != 0)
		return say_errno("%s", ROCE_PROTO_LOCK);
	return rc;
}

void
folder_say_holder(const struct folder *folder, bool on_demand)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s %ld\n", on_demand ? ON_DEMAND : "started",
			(long)getpid());

	if (pwrite(folder->lock, text, (size_t)len, 0) != len)
		say_event("the lock cannot be written to: no other roced can take over");
}

int
folder_watch(const struct folder *folder)
{
	char path[sizeof(folder->path) + sizeof(ROCE_PROTO_LOCK)];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	snprintf(path, sizeof(path), "%s/" ROCE_PROTO_LOCK, folder->path);
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MODIFY) >= 0)
		return fd;
	say_event("the lock cannot be watched: no other roced can take over");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- a roced with an uplink ---- */

bool
folder_awaits_uplink(const struct folder *folder)
{
	return faccessat(folder->dir, ROCE_PROTO_UPLINK, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int
folder_set_uplink(const struct folder *folder, bool has_one)
{
	int fd;

	if (!has_one) {
		unlinkat(folder->dir, ROCE_PROTO_UPLINK, 0);
		return 0;
	}
	fd = openat(folder->dir, ROCE_PROTO_UPLINK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (fd < 0)
		return say_errno("%s", ROCE_PROTO_UPLINK);
	close(fd);
	return 0;
}

int
folder_open_numbers(struct folder *folder)
{
	folder->numbers = openat(folder->dir, ROCE_PROTO_NUMBERS,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (folder->numbers < 0)
		return say_errno("%s", ROCE_PROTO_NUMBERS);
	/* Members of the group lock it, and do not write to it. */
	return give_to_group(folder, ROCE_PROTO_NUMBERS, 0640);
}

static int
bind_socket(const struct folder *folder, int fd)
{
	const struct sockaddr_un *address = &folder->address;
	mode_t mask;
	int rc;

	folder_unlink_socket(folder);
	mask = umask(0177);
	rc = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(mask);
	if (rc != 0)
		return say_errno("%s", address->sun_path);
	if (give_to_group(folder, ROCE_PROTO_SOCKET, 0660) != 0)
		return -1;
	if (listen(fd, BACKLOG) != 0)
		return say_errno("%s", address->sun_path);
	return 0;
}

int
folder_listen(const struct folder *folder)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return say_errno("socket");
	if (bind_socket(folder, fd) == 0)
		return fd;
	close(fd);
	return -1;
}

void
folder_unlink_socket(const struct folder *folder)
{
	unlinkat(folder->dir, ROCE_PROTO_SOCKET, 0);
}
