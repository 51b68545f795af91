/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EVENT_H
#define DAPL_EVENT_H

/**
 * @file
 * Events beyond completions, and the streams that they come in.
 */

#include "engine/verbs.h"

/* Streams that an event dispatcher takes. */
#define DAPL_STREAM_SOFTWARE   0x01u
#define DAPL_STREAM_CR         0x02u
#define DAPL_STREAM_DTO        0x04u
#define DAPL_STREAM_CONNECTION 0x08u
#define DAPL_STREAM_BIND       0x10u
#define DAPL_STREAM_ASYNC      0x20u
#define DAPL_STREAM_EXTENSION \
	0x40u /**< completions of operations that the standard does not have */

/** Kinds of events beyond those of the engine. */
enum dapl_event_kind {
	/** owner: endpoint; opcode: enum dapl_conn_event; wr_id, byte_len: private data */
	DAPL_EVENT_CONNECTION = ROCE_EVENT_USER,
	DAPL_EVENT_CR,       /**< owner: connection request */
	DAPL_EVENT_ASYNC,    /**< owner: the object; opcode: enum dapl_async_event */
	DAPL_EVENT_SOFTWARE, /**< wr_id: the consumer's pointer */
};

enum dapl_conn_event {
	DAPL_CONN_ESTABLISHED,
	DAPL_CONN_PEER_REJECTED,
	DAPL_CONN_NON_PEER_REJECTED,
	DAPL_CONN_ACCEPT_ERROR,
	DAPL_CONN_DISCONNECTED,
	DAPL_CONN_BROKEN,
	DAPL_CONN_TIMED_OUT,
	DAPL_CONN_UNREACHABLE,
	DAPL_CONN_EVENTS,
};

enum dapl_async_event {
	DAPL_ASYNC_EVD_OVERFLOW,
	DAPL_ASYNC_SRQ_LOW, /**< fewer buffers than the low watermark; owner: shared receive queue */
	DAPL_ASYNC_EP_SOFT_HIGH, /**< more buffers than the soft high watermark; owner: endpoint */
	/** the connection ended and no more buffers come to it from the shared receive queue; owner: endpoint */
	DAPL_ASYNC_EP_LAST_WQE,
	DAPL_ASYNC_IA_FATAL, /**< the device is gone; owner: the adapter */
	DAPL_ASYNC_EVENTS,
};

/** Which completions of a stream unblock a waiter. */
enum dapl_notify {
	DAPL_NOTIFY_ALL,       /**< each */
	DAPL_NOTIFY_THRESHOLD, /**< each, and the threshold of the wait says how many of them it takes */
	DAPL_NOTIFY_SOLICITED,   /**< of receives: those that the sender asked for */
	DAPL_NOTIFY_UNSIGNALLED, /**< but those that were posted as not to */
	DAPL_NOTIFY_MODES,
};

#endif
