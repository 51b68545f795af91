/* SPDX-License-Identifier: BSD-3-Clause */
/* /roce/srq[,<id>] and /roce/qp[,<qpn>]: one dictionary a device, in it one a queue. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "engine/snapshot.h"
#include "observe/telemetry_pvt.h"

/*
 * An answer must fit into 16 KiB of text. Of more queue pairs those that hold or took the most are shown, and with
 * several devices each has its share of the room; telemetry_pages.c tells of all.
 */
#define QPS_SHOWN  64u
#define SRQS_SHOWN 48u
#define ALL        UINT32_MAX

/** The queue pairs to show, those with the most receives in front. */
struct top {
	uint32_t srq;    /**< only those on it; ALL: any */
	uint32_t number; /**< only this one; ALL: any */
	uint32_t most;   /**< so many have room */
	uint32_t n;
	struct roce_qp_snapshot qp[QPS_SHOWN];
};

/** The shared receive queues to show. */
struct queues {
	uint32_t id;
	uint32_t most;
	uint32_t n;
	struct roce_srq_snapshot srq[SRQS_SHOWN];
};

/** A command under way. */
struct question {
	uint32_t id; /**< number asked for; ALL */
	uint32_t devices;
	bool found;
	struct rte_tel_data *data;
	void (*fill)(struct question *question, const struct roce_telemetry_device *device,
			struct rte_tel_data *dict);
};

static bool
busier(const struct roce_qp_snapshot *a, const struct roce_qp_snapshot *b)
{
	return a->held != b->held ? a->held > b->held : a->taken > b->taken;
}

static void
add_qp(void *arg, const struct roce_qp_snapshot *qp)
{
	struct top *top = arg;
	uint32_t at;

	if ((top->srq != ALL && top->srq != qp->srq) ||
			(top->number != ALL && top->number != qp->number))
		return;
	if (top->n < top->most)
		top->n++;
	else if (!busier(qp, &top->qp[top->most - 1]))
		return;
	for (at = top->n - 1; at > 0 && busier(qp, &top->qp[at - 1]); at--)
		top->qp[at] = top->qp[at - 1];
	top->qp[at] = *qp;
}

static void
add_srq(void *arg, const struct roce_srq_snapshot *srq)
{
	struct queues *queues = arg;

	if ((queues->id == ALL || queues->id == srq->id) && queues->n < queues->most)
		queues->srq[queues->n++] = *srq;
}

/* The share of each device in so many; at least one. */
static uint32_t
share_of(uint32_t room, const struct question *question)
{
	return RTE_MAX(1u, room / RTE_MAX(1u, question->devices));
}

/* The receives that each queue pair holds of this queue, and how many it took so far. */
static void
add_shares(struct rte_tel_data *dict, const struct top *top)
{
	struct rte_tel_data *held = roce_telemetry_dict(), *taken = roce_telemetry_dict();
	char key[16];

	for (uint32_t i = 0; held != NULL && taken != NULL && i < top->n; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, top->qp[i].number);
		rte_tel_data_add_dict_uint(held, key, top->qp[i].held);
		rte_tel_data_add_dict_uint(taken, key, top->qp[i].taken);
	}
	roce_telemetry_put(dict, "held", held);
	roce_telemetry_put(dict, "taken", taken);
}

void
roce_telemetry_srq(struct rte_tel_data *dict, const struct roce_srq_snapshot *srq)
{
	const struct roce_srq_counts *counts = &srq->counts;

	rte_tel_data_add_dict_uint(dict, "max", counts->max);
	rte_tel_data_add_dict_uint(dict, "available", counts->available);
	rte_tel_data_add_dict_uint(dict, "outstanding", counts->outstanding);
	rte_tel_data_add_dict_uint(dict, "low_watermark", counts->low);
	rte_tel_data_add_dict_uint(dict, "armed", counts->armed);
	rte_tel_data_add_dict_uint(dict, "low_watermark_events", srq->low_watermark_events);
	rte_tel_data_add_dict_uint(dict, "empty_rnr", srq->empty);
	rte_tel_data_add_dict_uint(dict, "queue_pairs", counts->queue_pairs);
	roce_telemetry_memory(dict, srq->descriptors);
}

static void
fill_srqs(struct question *question, const struct roce_telemetry_device *device,
		struct rte_tel_data *dict)
{
	struct queues queues = { .id = question->id, .most = share_of(SRQS_SHOWN, question) };

	roce_domain_each_srq(device->domain, add_srq, &queues);
	question->found |= queues.n > 0;
	for (uint32_t i = 0; i < queues.n; i++) {
		struct rte_tel_data *one = roce_telemetry_dict();
		struct top top = { .srq = queues.srq[i].id, .number = ALL, .most = QPS_SHOWN };
		char key[16];

		if (one == NULL)
			return;
		roce_telemetry_srq(one, &queues.srq[i]);
		/* One queue pair after the other, only for the queue that somebody asked for. */
		if (question->id != ALL) {
			roce_domain_each_qp(device->domain, add_qp, &top);
			add_shares(one, &top);
		}
		snprintf(key, sizeof(key), "%" PRIu32, queues.srq[i].id);
		roce_telemetry_put(dict, key, one);
	}
}

void
roce_telemetry_qp(struct rte_tel_data *dict, const struct roce_qp_snapshot *qp)
{
	static const char *const states[] = {
		[ROCE_QP_RESET] = "reset",
		[ROCE_QP_RTR] = "rtr",
		[ROCE_QP_RTS] = "rts",
		[ROCE_QP_ERR] = "error",
	};

	rte_tel_data_add_dict_string(dict, "state", states[qp->state]);
	rte_tel_data_add_dict_uint(dict, "engine", qp->engine);
	if (qp->srq != ROCE_NO_SRQ)
		rte_tel_data_add_dict_uint(dict, "srq", qp->srq);
	rte_tel_data_add_dict_uint(dict, "requests", qp->requests);
	rte_tel_data_add_dict_uint(dict, "held", qp->held);
	rte_tel_data_add_dict_uint(dict, "taken", qp->taken);
	rte_tel_data_add_dict_uint(dict, "posted", qp->posted);
	rte_tel_data_add_dict_uint(dict, "completed", qp->completed);
	rte_tel_data_add_dict_uint(dict, "received", qp->received);
	if (qp->soft_high != ROCE_HIGH_NONE)
		rte_tel_data_add_dict_uint(dict, "soft_high_watermark", qp->soft_high);
	if (qp->hard_high != ROCE_HIGH_NONE)
		rte_tel_data_add_dict_uint(dict, "hard_high_watermark", qp->hard_high);
}

static void
fill_qps(struct question *question, const struct roce_telemetry_device *device,
		struct rte_tel_data *dict)
{
	struct top top = {
		.srq = ALL, .number = question->id, .most = share_of(QPS_SHOWN, question)
	};

	roce_domain_each_qp(device->domain, add_qp, &top);
	question->found |= top.n > 0;
	for (uint32_t i = 0; i < top.n; i++) {
		struct rte_tel_data *one = roce_telemetry_dict();
		char key[16];

		if (one == NULL)
			return;
		roce_telemetry_qp(one, &top.qp[i]);
		snprintf(key, sizeof(key), "%" PRIu32, top.qp[i].number);
		roce_telemetry_put(dict, key, one);
	}
}

static void
count_device(const struct roce_telemetry_device *device, void *arg)
{
	struct question *question = arg;

	question->devices++;
}

static void
add_device(const struct roce_telemetry_device *device, void *arg)
{
	struct question *question = arg;
	struct rte_tel_data *dict = roce_telemetry_dict();
	char key[RTE_TEL_MAX_STRING_LEN];

	if (dict == NULL)
		return;
	question->fill(question, device, dict);
	roce_telemetry_key(key, sizeof(key), device->port);
	roce_telemetry_put(question->data, key, dict);
}

/* @return 0; -EINVAL: no number, or nothing has it. */
static int
ask(const char *params, struct question *question)
{
	char *end;

	question->id = ALL;
	if (params != NULL && *params != '\0') {
		question->id = (uint32_t)strtoul(params, &end, 0);
		if (*end != '\0')
			return -EINVAL;
	}
	rte_tel_data_start_dict(question->data);
	roce_telemetry_source->each(count_device, question);
	roce_telemetry_source->each(add_device, question);
	return question->id != ALL && !question->found ? -EINVAL : 0;
}

static int
answer_srq(const char *cmd, const char *params, struct rte_tel_data *data)
{
	struct question question = { .data = data, .fill = fill_srqs };

	return ask(params, &question);
}

static int
answer_qp(const char *cmd, const char *params, struct rte_tel_data *data)
{
	struct question question = { .data = data, .fill = fill_qps };

	return ask(params, &question);
}

void
roce_telemetry_queues_setup(void)
{
	rte_telemetry_register_cmd("/roce/srq", answer_srq,
			"Shared receive queues: counts, watermark. Optional parameter: id, for each queue pair's share");
	rte_telemetry_register_cmd("/roce/qp", answer_qp,
			"Queue pairs, those with the most receives first. Optional parameter: number");
}
