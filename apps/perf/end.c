/* SPDX-License-Identifier: BSD-3-Clause */
#include "end.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/cli.h"
#include "control.h"
#include "tend.h"
#include "traffic.h"

#define PAGE      4096u
#define HUGE_PAGE (2u << 20)

static int
failed(DAT_RETURN ret, const char *call, const struct perf_end *end)
{
	cli_say_dat(ret, "%s on %s", call, end->adapter->name);
	return -1;
}

static size_t
remote_bytes(const struct perf_plan *plan)
{
	return (size_t)perf_plan_places(plan) * plan->stride;
}

/* Memory that the peer reaches has the content that it will read, or not yet that which it will write; counters are zero. */
static void
prepare_remote(struct perf_end *end)
{
	const struct perf_plan *plan = end->plan;

	memset(end->remote_memory, 0, remote_bytes(plan));
	if (!end->reads || end->atomics || !plan->own_places)
		return;
	for (uint32_t i = 0; i < plan->endpoints; i++)
		for (uint32_t n = 0; n < plan->remote_slots; n++)
			perf_verify_fill(end->eps[i].verify.salt ^ 1, i, n,
					end->remote_memory +
							perf_plan_place(plan, i, n) * plan->stride,
					plan->size);
}

static int
map_memory(struct perf_end *end)
{
	size_t len = end->plan->bytes + PAGE;

	/* Round up, so that the kernel may use its huge pages where the buffers are large. */
	len = (len + PAGE - 1) / PAGE * PAGE;
	if (len >= HUGE_PAGE)
		len = (len + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	end->memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end->memory == MAP_FAILED) {
		end->memory = NULL;
		cli_say("no memory for %zu MiB of buffers", len >> 20);
		return -1;
	}
	end->memory_len = len;
	if (len >= HUGE_PAGE)
		madvise(end->memory, len, MADV_HUGEPAGE);
	/* Every page is touched now, not in the measurement. */
	memset(end->memory, 0x5a, len);
	end->control_memory = end->memory;
	end->recv_memory = end->memory + PAGE;
	end->remote_memory = end->recv_memory + (size_t)end->plan->recv_slots * end->plan->stride;
	end->send_memory = end->remote_memory + remote_bytes(end->plan);
	return 0;
}

static int
register_memory(struct perf_end *end)
{
	DAT_REGION_DESCRIPTION region = { .for_va = end->memory };
	DAT_RMR_CONTEXT rmr_context;
	DAT_VADDR address;
	DAT_VLEN length;
	DAT_RETURN ret;

	ret = dat_pz_create(end->adapter->ia, &end->pz);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_pz_create", end);
	ret = dat_lmr_create(end->adapter->ia, DAT_MEM_TYPE_VIRTUAL, region, end->memory_len,
			end->pz, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
			&end->lmr, &end->lmr_context, &rmr_context, &length, &address);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_lmr_create", end);
	return 0;
}

static DAT_MEM_PRIV_FLAGS
remote_privileges(const struct perf_end *end)
{
	unsigned int reads = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_LOCAL_READ_FLAG;
	unsigned int writes = DAT_MEM_PRIV_REMOTE_WRITE_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;

	if (end->atomics)
		return (DAT_MEM_PRIV_FLAGS)(reads | writes);
	return (DAT_MEM_PRIV_FLAGS)(end->reads ? reads : writes);
}

/* Let the peer do what the test does, and no more, with what it may reach, and nothing else. */
static int
register_remote(struct perf_end *end)
{
	DAT_REGION_DESCRIPTION region = { .for_va = end->remote_memory };
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VADDR address;
	DAT_VLEN length;
	DAT_RETURN ret;

	if (!end->one_sided)
		return 0;
	prepare_remote(end);
	ret = dat_lmr_create(end->adapter->ia, DAT_MEM_TYPE_VIRTUAL, region,
			remote_bytes(end->plan), end->pz, remote_privileges(end), &end->remote_lmr,
			&lmr_context, &rmr_context, &length, &address);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_lmr_create", end);
	end->hello.rmr_context = rmr_context;
	end->hello.address = (uint64_t)(uintptr_t)end->remote_memory;
	return 0;
}

static DAT_LMR_TRIPLET *
make_triplets(const struct perf_end *end, const uint8_t *base, uint32_t slots)
{
	DAT_LMR_TRIPLET *iov = calloc(slots, sizeof(*iov));

	for (uint32_t i = 0; iov != NULL && i < slots; i++)
		iov[i] = (DAT_LMR_TRIPLET){
			.lmr_context = end->lmr_context,
			.virtual_address = (DAT_VADDR)(uintptr_t)(base +
					(size_t)i * end->plan->stride),
			.segment_length = end->plan->size,
		};
	return iov;
}

static int
make_evd(struct perf_end *end, uint64_t qlen, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
	DAT_RETURN ret = dat_evd_create(
			end->adapter->ia, (DAT_COUNT)qlen, DAT_HANDLE_NULL, flags, evd);

	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_evd_create", end);
}

static int
make_evds(struct perf_end *end)
{
	const struct perf_plan *plan = end->plan;
	/* Every outstanding transfer may complete, also by being flushed. */
	uint64_t recvs = (uint64_t)plan->recv_slots + plan->endpoints;
	uint64_t sends = (uint64_t)plan->window * plan->endpoints + plan->endpoints;
	bool merged = end->options->events && end->options->both;

	if (make_evd(end, 2ull * (plan->endpoints + 1), DAT_EVD_CONNECTION_FLAG, &end->conn_evd) !=
			0)
		return -1;
	if (make_evd(end, merged ? recvs + sends : recvs, DAT_EVD_DTO_FLAG, &end->recv_evd) != 0)
		return -1;
	if (merged)
		end->request_evd = end->recv_evd;
	else if (make_evd(end, sends, DAT_EVD_DTO_FLAG, &end->request_evd) != 0)
		return -1;
	return 0;
}

static int
make_srq(struct perf_end *end)
{
	DAT_SRQ_ATTR attr = {
		.max_recv_dtos = (DAT_COUNT)end->plan->recv_slots,
		.max_recv_iov = 1,
		.low_watermark = DAT_SRQ_LW_DEFAULT,
	};
	DAT_RETURN ret;

	if (!end->options->use_srq)
		return 0;
	ret = dat_srq_create(end->adapter->ia, end->pz, &attr, &end->srq);
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_srq_create", end);
}

static DAT_EP_ATTR
ep_attributes(DAT_VLEN size, uint32_t recv_depth, uint32_t send_depth)
{
	return (DAT_EP_ATTR){
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = size,
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
		.max_recv_dtos = (DAT_COUNT)recv_depth,
		.max_request_dtos = (DAT_COUNT)send_depth,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
	};
}

static int
make_ep(struct perf_end *end, struct perf_ep *ep)
{
	/* A depth of 0 would be the provider's to choose. */
	DAT_EP_ATTR attr = ep_attributes(end->plan->size,
			end->one_sided ? 1 : end->plan->recv_depth, end->plan->window);
	/* Not 0: a completion must be able to tell "first endpoint" from "no context". */
	DAT_CONTEXT context = { .as_64 = ep->index + 1 };
	DAT_RETURN ret;

	if (end->one_sided)
		attr.max_rdma_size = end->plan->size;
	if (end->reads)
		attr.max_rdma_read_in = attr.max_rdma_read_out =
				(DAT_COUNT)perf_adapter_outs(end->adapter, end->options);
	/* An atomic takes the room of two pieces. */
	if (end->atomics)
		attr.max_rdma_read_iov = 2;
	if (end->options->use_srq)
		ret = dat_ep_create_with_srq(end->adapter->ia, end->pz, end->recv_evd,
				end->request_evd, end->conn_evd, end->srq, &attr, &ep->handle);
	else
		ret = dat_ep_create(end->adapter->ia, end->pz, end->recv_evd, end->request_evd,
				end->conn_evd, &attr, &ep->handle);
	if (ret != DAT_SUCCESS) {
		ep->handle = DAT_HANDLE_NULL;
		cli_say_dat(ret, "creating endpoint %u of %u on %s", ep->index + 1,
				end->plan->endpoints, end->adapter->name);
		return -1;
	}
	ret = dat_set_consumer_context(ep->handle, context);
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_set_consumer_context", end);
}

static int
make_eps(struct perf_end *end)
{
	/* Messages of client and server must not look alike, nor those of two measurements in a row. */
	uint64_t salt = (uint64_t)end->hello.session << 1;

	end->eps = calloc(end->plan->endpoints, sizeof(*end->eps));
	if (end->eps == NULL) {
		cli_say("no memory for %u endpoints", end->plan->endpoints);
		return -1;
	}
	for (uint32_t i = 0; i < end->plan->endpoints; i++) {
		end->eps[i].index = i;
		perf_verify_init(&end->eps[i].verify, i, salt | !end->client);
		if (make_ep(end, &end->eps[i]) != 0)
			return -1;
	}
	return 0;
}

static int
make_control(struct perf_end *end)
{
	DAT_EP_ATTR attr = ep_attributes(PERF_CONTROL_LEN, PERF_CONTROL_DEPTH, PERF_CONTROL_DEPTH);
	DAT_RETURN ret;

	if (make_evd(end, 2ull * PERF_CONTROL_DEPTH, DAT_EVD_DTO_FLAG, &end->control_evd) != 0)
		return -1;
	ret = dat_ep_create(end->adapter->ia, end->pz, end->control_evd, end->control_evd,
			end->conn_evd, &attr, &end->control);
	if (ret != DAT_SUCCESS) {
		end->control = DAT_HANDLE_NULL;
		return failed(ret, "dat_ep_create", end);
	}
	return perf_control_post(end);
}

static int
build(struct perf_end *end, bool control)
{
	if (map_memory(end) != 0 || register_memory(end) != 0)
		return -1;
	end->recv_iov = make_triplets(end, end->recv_memory, end->plan->recv_slots);
	end->send_iov = make_triplets(end, end->send_memory, end->plan->send_slots);
	if (end->recv_iov == NULL || end->send_iov == NULL) {
		cli_say("no memory for the descriptors of %u buffers",
				end->plan->recv_slots + end->plan->send_slots);
		return -1;
	}
	if (make_evds(end) != 0 || make_srq(end) != 0 || make_eps(end) != 0)
		return -1;
	if (register_remote(end) != 0 || (control && make_control(end) != 0))
		return -1;
	if (perf_traffic_post_receives(end) != 0)
		return -1;
	return perf_tend_begin(end);
}

/* Does the adapter carry what a one-sided test asks for? @return false: no; the error was printed. */
static bool
reachable(const struct perf_end *end)
{
	const struct perf_adapter *adapter = end->adapter;

	if (end->plan->size > adapter->max_rdma) {
		cli_say("%s writes and reads at most %llu bytes at once, not %u", adapter->name,
				(unsigned long long)adapter->max_rdma, end->plan->size);
		return false;
	}
	if (end->atomics && !adapter->atomics) {
		cli_say("%s has no atomic operations", adapter->name);
		return false;
	}
	if (end->reads && end->options->outs > adapter->max_reads) {
		cli_say("%s has at most %u READs of an endpoint under way, not %u", adapter->name,
				adapter->max_reads, end->options->outs);
		return false;
	}
	return true;
}

int
perf_end_create(struct perf_end *end, struct perf_adapter *adapter,
		const struct perf_options *options, const struct perf_plan *plan, uint32_t session,
		unsigned int flags)
{
	*end = (struct perf_end){
		.options = options,
		.plan = plan,
		.adapter = adapter,
		.client = (flags & PERF_END_CLIENT) != 0,
		.segments = plan->size > 0,
		.one_sided = perf_test_is_one_sided(options->test),
		.reads = perf_test_fetches(options->test),
		.atomics = perf_test_is_atomic(options->test),
		.hello = {
			.session = session,
			.test = (uint8_t)options->test,
			.both = options->both,
			.verify = options->verify,
			.size = plan->size,
			.endpoints = plan->endpoints,
			.seconds = options->seconds,
			.iterations = plan->iterations,
			.warmup = plan->warmup,
		},
	};
	if (adapter->max_message != 0 && plan->size > adapter->max_message) {
		cli_say("%s carries messages of at most %llu bytes, not %u", adapter->name,
				(unsigned long long)adapter->max_message, plan->size);
		return -1;
	}
	if (end->one_sided && !reachable(end))
		return -1;
	if (build(end, (flags & PERF_END_CONTROL) != 0) == 0)
		return 0;
	perf_end_destroy(end);
	return -1;
}

int
perf_end_audit(const struct perf_end *end)
{
	DAT_SRQ_PARAM param;
	DAT_RETURN ret;

	if (end->srq == DAT_HANDLE_NULL)
		return 0;
	ret = dat_srq_query(end->srq, DAT_SRQ_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_srq_query", end);
	/* A provider may not know: DAT_VALUE_UNKNOWN is negative. */
	if ((param.outstanding_dto_count < 0 ||
			    (uint32_t)param.outstanding_dto_count == end->recv_posted) &&
			(param.available_dto_count < 0 ||
					(uint32_t)param.available_dto_count == end->recv_posted))
		return 0;
	cli_say("the SRQ of %s counts %d outstanding and %d available buffers; %u were posted and "
		"not reaped",
			end->adapter->name, param.outstanding_dto_count, param.available_dto_count,
			end->recv_posted);
	return -1;
}

/* Free one object and complain once if it will not go. @return 0 or -1. */
static int
freed(DAT_RETURN ret, const char *call, const struct perf_end *end)
{
	return ret == DAT_SUCCESS ? 0 : failed(ret, call, end);
}

static int
destroy_eps(struct perf_end *end)
{
	int rc = 0;

	for (uint32_t i = 0; end->eps != NULL && i < end->plan->endpoints; i++)
		if (end->eps[i].handle != DAT_HANDLE_NULL)
			rc |= freed(dat_ep_free(end->eps[i].handle), "dat_ep_free", end);
	if (end->control != DAT_HANDLE_NULL)
		rc |= freed(dat_ep_free(end->control), "dat_ep_free", end);
	return rc;
}

int
perf_end_destroy(struct perf_end *end)
{
	int rc = destroy_eps(end);

	end->adapter->armed = DAT_HANDLE_NULL;
	if (end->srq != DAT_HANDLE_NULL)
		rc |= freed(dat_srq_free(end->srq), "dat_srq_free", end);
	if (end->control_evd != DAT_HANDLE_NULL)
		rc |= freed(dat_evd_free(end->control_evd), "dat_evd_free", end);
	if (end->request_evd != DAT_HANDLE_NULL && end->request_evd != end->recv_evd)
		rc |= freed(dat_evd_free(end->request_evd), "dat_evd_free", end);
	if (end->recv_evd != DAT_HANDLE_NULL)
		rc |= freed(dat_evd_free(end->recv_evd), "dat_evd_free", end);
	if (end->conn_evd != DAT_HANDLE_NULL)
		rc |= freed(dat_evd_free(end->conn_evd), "dat_evd_free", end);
	if (end->remote_lmr != DAT_HANDLE_NULL)
		rc |= freed(dat_lmr_free(end->remote_lmr), "dat_lmr_free", end);
	if (end->lmr != DAT_HANDLE_NULL)
		rc |= freed(dat_lmr_free(end->lmr), "dat_lmr_free", end);
	if (end->pz != DAT_HANDLE_NULL)
		rc |= freed(dat_pz_free(end->pz), "dat_pz_free", end);
	if (end->memory != NULL)
		munmap(end->memory, end->memory_len);
	free(end->recv_iov);
	free(end->send_iov);
	free(end->eps);
	return rc;
}
