/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /roce/srqs,<port>[,<first>], /roce/qps,<port>[,<first>] and /roce/channels,<port>[,<first>]: all queues of a device, or all
 * its channels to other processes, in the order of their numbers, a page an answer. A reader that wants all asks again from behind the last one, until a page is empty.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "engine/snapshot.h"
#include "observe/telemetry_pvt.h"

/* So many fit into the 16 KiB of an answer, whatever their numbers are. */
#define PAGE 48u

/** The entries of the page: those with the lowest numbers, from the first one on. */
struct page {
	uint32_t first;
	uint32_t n;
	uint32_t total; /**< how many there are, on this page or not */
	union {
		struct roce_qp_snapshot qp[PAGE];
		struct roce_srq_snapshot srq[PAGE];
		struct roce_telemetry_channel channel[PAGE];
	};
};

/** A command under way. */
struct request {
	char port[64];
	struct page page;
	bool found;
	struct rte_tel_data *data;
	void (*fill)(struct page *page, const struct roce_telemetry_device *device,
			struct rte_tel_data *list);
};

static void
add_qp(void *arg, const struct roce_qp_snapshot *qp)
{
	struct page *page = arg;
	uint32_t at;

	page->total++;
	if (qp->number < page->first)
		return;
	if (page->n < PAGE)
		page->n++;
	else if (qp->number > page->qp[PAGE - 1].number)
		return;
	for (at = page->n - 1; at > 0 && qp->number < page->qp[at - 1].number; at--)
		page->qp[at] = page->qp[at - 1];
	page->qp[at] = *qp;
}

/* They come in the order of their numbers. */
static void
add_srq(void *arg, const struct roce_srq_snapshot *srq)
{
	struct page *page = arg;

	page->total++;
	if (srq->id >= page->first && page->n < PAGE)
		page->srq[page->n++] = *srq;
}

static void
fill_qps(struct page *page, const struct roce_telemetry_device *device, struct rte_tel_data *list)
{
	roce_domain_each_qp(device->domain, add_qp, page);
	for (uint32_t i = 0; i < page->n; i++) {
		struct rte_tel_data *one = roce_telemetry_dict();
		char key[16];

		if (one == NULL)
			return;
		roce_telemetry_qp(one, &page->qp[i]);
		snprintf(key, sizeof(key), "%" PRIu32, page->qp[i].number);
		roce_telemetry_put(list, key, one);
	}
}

static void
fill_srqs(struct page *page, const struct roce_telemetry_device *device, struct rte_tel_data *list)
{
	roce_domain_each_srq(device->domain, add_srq, page);
	for (uint32_t i = 0; i < page->n; i++) {
		struct rte_tel_data *one = roce_telemetry_dict();
		char key[16];

		if (one == NULL)
			return;
		roce_telemetry_srq(one, &page->srq[i]);
		snprintf(key, sizeof(key), "%" PRIu32, page->srq[i].id);
		roce_telemetry_put(list, key, one);
	}
}

static void
fill_channels(struct page *page, const struct roce_telemetry_device *device,
		struct rte_tel_data *list)
{
	page->total = device->channels;
	page->n = roce_telemetry_source->channels(device->device, page->first, page->channel, PAGE);
	for (uint32_t i = 0; i < page->n; i++) {
		const struct roce_telemetry_channel *channel = &page->channel[i];
		struct rte_tel_data *one = roce_telemetry_dict();
		char key[16];

		if (one == NULL)
			return;
		rte_tel_data_add_dict_string(one, "state", channel->state);
		rte_tel_data_add_dict_uint(one, "rx_frames", channel->rx_frames);
		rte_tel_data_add_dict_uint(one, "tx_frames", channel->tx_frames);
		snprintf(key, sizeof(key), "%" PRIu32, channel->process);
		roce_telemetry_put(list, key, one);
	}
}

static void
add_device(const struct roce_telemetry_device *device, void *arg)
{
	struct request *request = arg;
	struct rte_tel_data *list;

	if (request->found || strcmp(device->port, request->port) != 0)
		return;
	request->found = true;
	list = roce_telemetry_dict();
	if (list == NULL)
		return;
	request->fill(&request->page, device, list);
	rte_tel_data_add_dict_uint(request->data, "total", request->page.total);
	roce_telemetry_put(request->data, "list", list);
}

/* @return 0; -EINVAL: not a port and a number, or there is no such port. */
static int
answer(const char *params, struct rte_tel_data *data,
		void (*fill)(struct page *page, const struct roce_telemetry_device *device,
				struct rte_tel_data *list))
{
	struct request request = { .data = data, .fill = fill };
	size_t len = params == NULL ? 0 : strcspn(params, ",");
	char *end;

	if (len == 0 || len >= sizeof(request.port))
		return -EINVAL;
	memcpy(request.port, params, len);
	if (params[len] == ',') {
		request.page.first = (uint32_t)strtoul(params + len + 1, &end, 10);
		if (*end != '\0' || end == params + len + 1)
			return -EINVAL;
	}
	rte_tel_data_start_dict(data);
	roce_telemetry_source->each(add_device, &request);
	return request.found ? 0 : -EINVAL;
}

static int
answer_srqs(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return answer(params, data, fill_srqs);
}

static int
answer_qps(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return answer(params, data, fill_qps);
}

static int
answer_channels(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return answer(params, data, fill_channels);
}

void
roce_telemetry_pages_setup(void)
{
	rte_telemetry_register_cmd("/roce/srqs", answer_srqs,
			"All shared receive queues of a device, 48 an answer. Parameters: port[,lowest id]");
	rte_telemetry_register_cmd("/roce/qps", answer_qps,
			"All queue pairs of a device, 48 an answer. Parameters: port[,lowest number]");
	rte_telemetry_register_cmd("/roce/channels", answer_channels,
			"All channels of a device to other processes, 48 an answer. Parameters: port[,lowest number]");
}
