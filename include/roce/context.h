/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CONTEXT_H
#define ROCE_CONTEXT_H

/**
 * @file
 * A context is one user of a device, as a struct ibv_context is: protection
 * domains, completion queues and connections are made for it, and their async
 * events are delivered to it: it polls them.
 *
 * Threads. One thread at a time polls a context, and none does while it sleeps on
 * its descriptor; it need not be the one that polls the device. No function is called
 * back: an event waits in its object until it is polled, and vanishes with it.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct roce_device;
struct roce_context;

/** Asynchronous events: the occasions of enum ibv_event_type. */
enum roce_async_event_type {
	ROCE_ASYNC_CQ_ERR =
			1, /**< a completion queue was full and events are lost: element is its owner */
	ROCE_ASYNC_QP_FATAL, /**< the transport gave up, everything is flushed: element is the queue pair's owner */
	ROCE_ASYNC_QP_HIGH, /**< more receives than its soft high watermark: element is the queue pair's owner */
	ROCE_ASYNC_SRQ_LIMIT, /**< fewer receives than its low watermark: element is the shared queue's owner */
	ROCE_ASYNC_CQ_READY, /**< a completion queue that roce_cq_arm() armed has an event: element is its owner */
	ROCE_ASYNC_PORT_ACTIVE, /**< the link is up */
	ROCE_ASYNC_PORT_ERR, /**< the link is down: requests wait and are sent again until their retries end */
	ROCE_ASYNC_DEVICE_FATAL, /**< the port was removed: every queue pair is in error, nothing works any more */
	/** The first packet came to a queue pair in RTR that no id has charge of: element is the queue pair's owner. */
	ROCE_ASYNC_QP_COMM_EST,
	/** A queue pair of a shared receive queue is in error and takes no receive any more: element is its owner. */
	ROCE_ASYNC_QP_LAST_WQE,
	/** A queue pair in SQD has completed all requests that it had begun: element is its owner. */
	ROCE_ASYNC_SQ_DRAINED
};

struct roce_async_event {
	enum roce_async_event_type type;
	int status; /**< QP_FATAL: enum roce_wc_status of the cause */
	void *element; /**< owner that the object was made with; NULL for events of the port and device */
};

/**
 * Become a user of a device.
 *
 * @return 0; -ENOMEM.
 */
int roce_context_create(struct roce_device *device, struct roce_context **context);

/**
 * @return 0; -EBUSY while protection domains, completion queues or ids of it are left, also those of requests that were
 *   polled. NULL is allowed.
 */
int roce_context_destroy(struct roce_context *context);

struct roce_device *roce_context_device(const struct roce_context *context);

/**
 * A pending event, that of the object that waits longest. None is lost: each object keeps its pending events, and one that
 * happens again before it was polled is delivered once.
 *
 * @return 1; 0: there is none, and nothing was written.
 */
int roce_context_poll(struct roce_context *context, struct roce_async_event *event);

/**
 * A descriptor to sleep on (poll(2), epoll(7)). It is readable while roce_context_poll() or roce_cm_poll() has an event;
 * a call of either that finds none, nor the other has one, ends that. It stays the context's; nobody else reads from it.
 * Somebody has to poll the device meanwhile.
 * @return descriptor; -EMFILE, -ENFILE, -ENOMEM of the system.
 */
int roce_context_fd(struct roce_context *context);

#ifdef __cplusplus
}
#endif

#endif
