/* SPDX-License-Identifier: BSD-3-Clause */

/* Service ids of the connection manager, of which each is one process's: taken at roced, and given back. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "local/local_pvt.h"

/**
 * How long a caller waits for the answer about a service id: roced may have to be started anew, and a busy machine may keep it
 * waiting for seconds.
 */
#define LISTEN_S 15

/** Naps until a roced that does not read has room for a message: five seconds. */
#define TELL_NAP_MS 1
#define TELL_NAPS   5000u

static struct roce_local_service *
find_service(struct roce_local *local, uint64_t service_id)
{
	struct roce_local_service *service = local->services;

	while (service != NULL && service->service_id != service_id)
		service = service->next;
	return service;
}

void
roce_local_take_answer(struct roce_local *local, const struct roce_msg_listened *listened)
{
	struct roce_local_service *service;

	pthread_mutex_lock(&local->lock);
	service = find_service(local, listened->service_id);
	if (service != NULL) {
		service->asked = false;
		service->error = listened->error;
		pthread_cond_broadcast(&local->answered);
	}
	pthread_mutex_unlock(&local->lock);
}

static void
drop_service(struct roce_local *local, struct roce_local_service *service)
{
	struct roce_local_service **link = &local->services;

	while (*link != service)
		link = &(*link)->next;
	*link = service->next;
	free(service);
}

/* The lock is held, and dropped while this thread waits. By a clock that is not set: the time of day can leap. */
static int
await_listened(struct roce_local *local, const struct roce_local_service *service)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LISTEN_S;
	while (service->asked) {
		if (pthread_cond_clockwait(&local->answered, &local->lock, CLOCK_MONOTONIC,
				    &until) == ETIMEDOUT)
			break;
	}
	return service->asked ? -ETIMEDOUT : service->error;
}

/*
 * Tell roced of a service id. One that does not read is waited for, as long as @p service is in use, or is not. The lock is
 * held, and dropped while this thread waits. Where roced is away the next one hears of all service ids first.
 */
static void
tell_of(struct roce_local *local, const struct roce_local_service *service, uint32_t type)
{
	const bool used = service->uses > 0;
	const struct roce_msg msg = { .type = type,
		.service = { .service_id = service->service_id } };

	for (unsigned int i = 0; i < TELL_NAPS && used == (service->uses > 0); i++) {
		struct pollfd room = { .fd = local->socket, .events = POLLOUT };

		if (room.fd < 0 || roce_msg_send(room.fd, &msg, NULL, 0) != -EAGAIN)
			break;
		pthread_mutex_unlock(&local->lock);
		(void)poll(&room, 1, TELL_NAP_MS);
		pthread_mutex_lock(&local->lock);
	}
}

/* The first use of a service id in this process. The lock is held. @return the service, about which roced was asked; NULL. */
static struct roce_local_service *
claim(struct roce_local *local, uint64_t service_id)
{
	struct roce_local_service *service = calloc(1, sizeof(*service));

	if (service == NULL)
		return NULL;
	service->service_id = service_id;
	service->uses = 1;
	service->asked = true;
	service->next = local->services;
	local->services = service;
	tell_of(local, service, ROCE_MSG_LISTEN);
	return service;
}

/* The last use is over. The lock is held. Another thread may use it again while roced does not read: it never was given back. */
static void
give_back(struct roce_local *local, struct roce_local_service *service)
{
	service->leaving = true;
	tell_of(local, service, ROCE_MSG_UNLISTEN);
	service->leaving = false;
	if (service->uses == 0)
		drop_service(local, service);
}

/*
 * One use less. The last one gives the service id back, unless roced has refused it: a roced that has not answered may say yes
 * later. The lock is held.
 */
static void
end_use(struct roce_local *local, struct roce_local_service *service)
{
	if (--service->uses > 0 || service->leaving)
		return;
	if (service->asked || service->error == 0)
		give_back(local, service);
	else
		drop_service(local, service);
}

int
roce_local_listen(struct roce_local *local, uint64_t service_id)
{
	struct roce_local_service *service;
	int rc = -ENOMEM;

	pthread_mutex_lock(&local->lock);
	service = find_service(local, service_id);
	if (service != NULL)
		service->uses++;
	else
		service = claim(local, service_id);
	if (service != NULL) {
		rc = await_listened(local, service);
		if (rc != 0)
			end_use(local, service);
	}
	pthread_mutex_unlock(&local->lock);
	return rc;
}

void
roce_local_unlisten(struct roce_local *local, uint64_t service_id)
{
	struct roce_local_service *service;

	pthread_mutex_lock(&local->lock);
	service = find_service(local, service_id);
	if (service != NULL)
		end_use(local, service);
	pthread_mutex_unlock(&local->lock);
}

bool
roce_local_service_at(struct roce_local *local, unsigned int index, uint64_t *service_id)
{
	const struct roce_local_service *service;

	pthread_mutex_lock(&local->lock);
	service = local->services;
	while (service != NULL && index-- > 0)
		service = service->next;
	if (service != NULL)
		*service_id = service->service_id;
	pthread_mutex_unlock(&local->lock);
	return service != NULL;
}

void
roce_local_use_socket(struct roce_local *local, int fd)
{
	struct roce_msg msg = { .type = ROCE_MSG_LISTEN };

	pthread_mutex_lock(&local->lock);
	local->socket = fd;
	for (const struct roce_local_service *s = local->services; s != NULL; s = s->next) {
		if (!s->asked)
			continue;
		msg.service.service_id = s->service_id;
		(void)roce_msg_send(fd, &msg, NULL, 0);
	}
	pthread_mutex_unlock(&local->lock);
}

void
roce_local_drop_services(struct roce_local *local)
{
	while (local->services != NULL)
		drop_service(local, local->services);
}
