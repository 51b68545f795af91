/* SPDX-License-Identifier: BSD-3-Clause */

#include "node.h"

#include "device/user.h"

static uint8_t *
message(const struct node *node, uint32_t qp, uint32_t i)
{
	return node->memory + ((size_t)qp * NODE_DEPTH + i) * NODE_MESSAGE;
}

/* Of no byte, of one packet, of several. */
static uint32_t
length(uint32_t qp, uint32_t i)
{
	return (i * 977 + qp * 331) % NODE_MESSAGE;
}

/* A queue pair that breaks is seen by its completions. */
static void
hear_nothing(void *arg, enum roce_engine_async kind, void *owner, int status)
{
}

void
node_open(struct node *node, const struct roce_attach_config *config)
{
	node_make(node, embed_attach(config));
}

void
node_make(struct node *node, struct roce_device *device)
{
	const size_t bytes = (size_t)NODE_QPS * NODE_DEPTH * NODE_MESSAGE;
	struct roce_context *context;

	*node = (struct node){ .device = device, .memory = calloc(1, bytes) };
	node->ack_timeout = 12;
	node->retry = 7;
	assert_non_null(node->memory);
	node->port = node->device->port;
	context = roce_domain_context(roce_device_domain(node->device));
	context->notify = hear_nothing;
	assert_int_equal(roce_pd_create(context, &node->pd), 0);
	assert_int_equal(roce_mr_create(node->pd, (uintptr_t)node->memory, bytes,
					 IBV_ACCESS_LOCAL_WRITE, &node->mr),
			0);
	assert_int_equal(roce_cq_create(context, NODE_QPS * NODE_DEPTH, NULL, &node->send_cq), 0);
	assert_int_equal(roce_cq_create(context, NODE_QPS * NODE_DEPTH, NULL, &node->recv_cq), 0);
	for (uint32_t q = 0; q < NODE_QPS; q++) {
		const struct roce_qp_attr attr = {
			.pd = node->pd,
			.send_cq = node->send_cq,
			.recv_cq = node->recv_cq,
			.max_send_wr = NODE_DEPTH,
			.max_recv_wr = NODE_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		};

		assert_int_equal(roce_qp_create(&attr, &node->qp[q]), 0);
	}
}

void
node_close(struct node *node)
{
	for (uint32_t q = 0; q < NODE_QPS; q++)
		roce_qp_destroy(node->qp[q]);
	assert_int_equal(roce_cq_destroy(node->send_cq), 0);
	assert_int_equal(roce_cq_destroy(node->recv_cq), 0);
	assert_int_equal(roce_mr_destroy(node->mr), 0);
	assert_int_equal(roce_pd_destroy(node->pd), 0);
	roce_device_close(node->device);
	free(node->memory);
}

static void
connect_qp(struct node *from, const struct node *to, uint32_t q)
{
	struct roce_engine *engine = roce_qp_engine(from->qp[q]);
	const struct roce_qp_connect connect = {
		.path = {
			.src_mac = from->port->mac,
			.dst_mac = to->port->mac,
			.src_ip = from->device->args.ip.at[0].addr,
			.dst_ip = to->device->args.ip.at[0].addr,
			.ttl = 64,
			.mtu_code = from->port->mtu_code,
		},
		.dest_qp = roce_qp_number(to->qp[q]),
		.rq_psn = roce_qp_first_psn(to->qp[q]),
		.sq_psn = roce_qp_first_psn(from->qp[q]),
		.retry = from->retry,
		.rnr_retry = 7,
		.ack_timeout = from->ack_timeout,
	};

	roce_engine_lock(engine);
	assert_int_equal(roce_qp_to_rtr(from->qp[q], &connect), 0);
	assert_int_equal(roce_qp_to_rts(from->qp[q]), 0);
	roce_engine_unlock(engine);
}

void
nodes_connect_one(struct node *a, struct node *b, uint32_t q)
{
	connect_qp(a, b, q);
	connect_qp(b, a, q);
}

void
nodes_connect(struct node *a, struct node *b)
{
	for (uint32_t q = 0; q < NODE_QPS; q++)
		nodes_connect_one(a, b, q);
}

void
nodes_open(struct node *a, struct node *b, const struct roce_attach_config *one,
		const struct roce_attach_config *two)
{
	node_open(a, one);
	node_open(b, two);
	nodes_connect(a, b);
}

void
nodes_close(struct node *a, struct node *b)
{
	node_close(a);
	node_close(b);
}

void
nodes_post_one(struct node *from, struct node *to, uint32_t q, uint32_t n)
{
	const struct roce_sge in = { (uintptr_t)message(to, q, n), NODE_MESSAGE,
		roce_mr_key(to->mr) };
	const struct roce_sge out = { (uintptr_t)message(from, q, n), length(q, n),
		roce_mr_key(from->mr) };
	const struct roce_recv_wr recv = { .wr_id = n, .sg = &in, .num_sge = 1 };
	const struct roce_wr send = { .wr_id = n,
		.sg = &out,
		.num_sge = 1,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED };

	memset(message(from, q, n), (int)(1 + q * 29 + n), NODE_MESSAGE);
	memset(message(to, q, n), 0, NODE_MESSAGE);
	assert_int_equal(roce_qp_post_recv(to->qp[q], &recv), 0);
	assert_int_equal(roce_qp_post_send(from->qp[q], &send), 0);
}

void
nodes_post(struct node *from, struct node *to, uint32_t count)
{
	for (uint32_t i = 0; i < NODE_QPS * count; i++)
		nodes_post_one(from, to, i % NODE_QPS, i / NODE_QPS);
}

static uint32_t
reap(struct roce_cq *cq)
{
	struct roce_event event;
	uint32_t n = 0;

	while (roce_cq_poll(cq, &event, 1) > 0) {
		assert_int_equal(event.status, ROCE_WC_SUCCESS);
		n++;
	}
	return n;
}

uint32_t
nodes_reap(struct node *from, struct node *to, uint32_t done)
{
	return done + reap(from->send_cq) + reap(to->recv_cq);
}

void
nodes_judge_one(const struct node *from, const struct node *to, uint32_t q, uint32_t n)
{
	assert_memory_equal(message(to, q, n), message(from, q, n), length(q, n));
	assert_int_equal(message(to, q, n)[length(q, n)], 0);
}

void
nodes_judge(const struct node *from, const struct node *to, uint32_t count)
{
	for (uint32_t q = 0; q < NODE_QPS; q++) {
		for (uint32_t n = 0; n < count; n++)
			nodes_judge_one(from, to, q, n);
	}
}
