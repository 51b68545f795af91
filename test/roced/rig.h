/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_TEST_RIG_H
#define ROCED_TEST_RIG_H

/**
 * @file
 * A roced in a folder of its own, and clients that speak proto.h and nothing else. A failure in here fails the test.
 */

#include <sys/types.h>
#include <sys/un.h>

#include "../limit.h"
#include "local/proto.h"
#include "unit/rules.h"

#define RIG_PATIENCE_MS (test_limit_s() * 1000) /**< what must happen happens within it */

struct daemon {
	char dir[64];
	pid_t pid; /**< of a roced in the foreground; 0: none runs */
};

/** A client. Its descriptors are the test's. */
struct client {
	int fd;
	uint32_t number;
	uint32_t daemon_pid;
	struct roce_proto_identity identity;
	int bell; /**< memory */
	int lock; /**< -1: does not hold the lock of its number */
};

/** A folder of mode 0700, and no roced in it. */
void daemon_folder(struct daemon *daemon);

/** A socket in that folder that hears what roced tells a service manager. @return it, the caller's. */
int daemon_manager(struct sockaddr_un *address, const struct daemon *daemon);

/** Run roced in the foreground, with more arguments, until it says that it is ready. @param more ends with NULL; may be NULL. */
void daemon_start(struct daemon *daemon, const char *const *more);

/** Send a signal and wait for the end. @return the status of waitpid(2). */
int daemon_end(struct daemon *daemon, int signal);

/** Remove the folder; a roced that still runs in the foreground is ended first. */
void daemon_remove(struct daemon *daemon);

/** The program roced. */
const char *daemon_program(void);

/** Run the program with these arguments and wait for its end. @return its exit status. */
int daemon_run(const char *const *args);

/** @return a descriptor; -errno. */
int daemon_try_connect(const struct daemon *daemon);
int daemon_connect(const struct daemon *daemon);

/** Descriptors that a process has. */
unsigned int daemon_descriptors(pid_t pid);

/** Sealed memory of @p pages, as a bell has. */
int client_memory(unsigned int pages, unsigned int flags, int seals);

/** Memory of a bell, made by client_memory(). */
int client_bell(void);

/** Say HELLO with a bell, which is closed. */
void client_say_hello(int fd, const struct roce_msg *hello);

/** Attach, by a number of the test's choice (0: any). The client holds no lock so far. */
struct client client_attach(const struct daemon *daemon, uint32_t wanted);

/** The HELLO that client_attach() says. */
struct roce_msg client_hello(uint32_t wanted);

/** Take the lock of the client's number, as a process does after WELCOME. */
void client_lock(const struct daemon *daemon, struct client *client);

/** The connection ends; the lock is held on to. */
void client_hang_up(struct client *client);

/** The process ends. */
void client_end(struct client *client);

void client_say(int fd, const struct roce_msg *msg);
void client_say_peer(int fd, uint32_t type, uint32_t number);
void client_say_service(int fd, uint32_t type, uint64_t service_id);

/** The next message, which must be of that type. @param fds room for ROCE_PROTO_FDS; NULL: they are closed. */
struct roce_msg client_hear(int fd, uint32_t type, int *fds);

/** The next message must say that this peer is gone. */
void client_hear_gone(int fd, uint32_t number);

/** LISTEN and its answer. @return the error. */
int client_listen(int fd, uint64_t service_id);

/** The client has heard all that was said to it. */
void client_hears_nothing(int fd);

/** The connection ends, whatever else was said before. */
void client_hears_end(int fd);

#endif /* ROCED_TEST_RIG_H */
