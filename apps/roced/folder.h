/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_FOLDER_H
#define ROCED_FOLDER_H

/**
 * @file
 * The run-time folder, and what roced has in it: the lock of the one roced, the socket, and the file of the numbers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define FOLDER_NO_GROUP ((gid_t)-1)

struct folder {
	struct sockaddr_un address; /**< of the socket, with its whole path */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /**< of the folder */
	gid_t group; /**< FOLDER_NO_GROUP: for this user alone */
	int dir;
	int lock;
	int numbers;
};

/**
 * Find or make the folder, which no other user may enter, or with a group no one but its members.
 * @param dir NULL: the run-time folder of the user. @param group NULL: none.
 * @return 0; -1, and the reason was said.
 */
int folder_open(struct folder *folder, const char *dir, const char *group);

/** The path of the socket alone, for a client. @return 0; -1, and the reason was said. */
int folder_address(struct sockaddr_un *address, const char *dir);

/**
 * Become the one roced of the folder. One that was started on demand makes way for one that was not.
 * @return 0; -EWOULDBLOCK: another one runs; -1, and the reason was said.
 */
int folder_lock(struct folder *folder, bool on_demand);

/** Write into the lock, which is held, which process holds it, and why: for folder_lock() of another. */
void folder_say_holder(const struct folder *folder, bool on_demand);

/**
 * Watch the lock, which is held: another roced asks there for it, and never in another way, since neither knows the process id
 * of the other in different containers.
 * @return a descriptor to wait for; -1: it cannot be watched.
 */
int folder_watch(const struct folder *folder);

/** Has a roced with an uplink ended here in another way than by a signal to end? Then it is to come back. */
bool folder_awaits_uplink(const struct folder *folder);

/** Leave, or remove, the mark of a roced with an uplink. The lock is held. @return 0; -1, and the reason was said. */
int folder_set_uplink(const struct folder *folder, bool has_one);

/** Open the file of the numbers. The lock is held. @return 0; -1, and the reason was said. */
int folder_open_numbers(struct folder *folder);

/** A socket that listens, in the place of one that was left behind. The lock is held. @return -1, and the reason was said. */
int folder_listen(const struct folder *folder);

/** From here on no process finds the socket. */
void folder_unlink_socket(const struct folder *folder);

#endif /* ROCED_FOLDER_H */
