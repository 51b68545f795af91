/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_EMBED_NODE_H
#define TEST_EMBED_NODE_H

/**
 * @file
 * An attached device with queue pairs that are connected without messages, and messages between two such.
 */

#include "device/device.h"
#include "embed.h"
#include "engine/verbs.h"

#define NODE_QPS     8u
#define NODE_DEPTH   32u
#define NODE_MESSAGE 8192u

struct node {
	struct roce_device *device;
	struct roce_port *port;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq, *recv_cq;
	struct roce_qp *qp[NODE_QPS];
	uint8_t *memory; /**< NODE_DEPTH messages for each queue pair */
	uint8_t ack_timeout,
			retry; /**< of queue pairs that will be connected: 12 and 7 from node_open() on */
};

/** Attach, and make the queue pairs. */
void node_open(struct node *node, const struct roce_attach_config *config);
/** The same on a device that is open already, and goes with the node. */
void node_make(struct node *node, struct roce_device *device);
/** Close the device, too, unless it is NULL by then. */
void node_close(struct node *node);
/** Queue pair i of one with i of the other, over paths that both devices can tell at once. */
void nodes_connect(struct node *a, struct node *b);

/** Open both and connect them; close both. */
void nodes_open(struct node *a, struct node *b, const struct roce_attach_config *one,
		const struct roce_attach_config *two);
void nodes_close(struct node *a, struct node *b);

/** One of them alone. */
void nodes_connect_one(struct node *a, struct node *b, uint32_t q);

/** Post @p count messages on each queue pair of @p from, and receives for them at @p to. */
void nodes_post(struct node *from, struct node *to, uint32_t count);
/** Message @p n of queue pair @p q alone. */
void nodes_post_one(struct node *from, struct node *to, uint32_t q, uint32_t n);
/** Take completions. @return those so far at both ends, from @p done on. */
uint32_t nodes_reap(struct node *from, struct node *to, uint32_t done);
/** Everything that was posted arrived with its bytes. */
void nodes_judge(const struct node *from, const struct node *to, uint32_t count);
void nodes_judge_one(const struct node *from, const struct node *to, uint32_t q, uint32_t n);

#endif
