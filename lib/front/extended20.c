/* SPDX-License-Identifier: BSD-3-Clause */

/* The IB extensions of DAT 2.0: operations behind dat_extension_op(), and what their completions look like. */

#include <stdarg.h>

#include "front/extension.h"

static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) <=
				sizeof(((DAT_EVENT *)NULL)->event_extension_data),
		"what an extended event has to tell fits into the event");

static DAT_RETURN
write_immed(DAT_HANDLE handle, va_list args)
{
	DAT_COUNT num_segments = va_arg(args, DAT_COUNT);
	DAT_LMR_TRIPLET *local_iov = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	const DAT_RMR_TRIPLET *remote_iov = va_arg(args, DAT_RMR_TRIPLET *);
	DAT_UINT32 immed_data = va_arg(args, DAT_UINT32);
	DAT_COMPLETION_FLAGS flags = (DAT_COMPLETION_FLAGS)va_arg(args, unsigned int);

	return front_ib_post_rdma_write_immed(
			handle, num_segments, local_iov, cookie, remote_iov, immed_data, flags);
}

/* An atomic operation is on eight bytes: real programs name all of the peer's memory that they know of. */
static const DAT_RMR_TRIPLET *
cut_remote(const DAT_RMR_TRIPLET *remote_iov, DAT_RMR_TRIPLET *cut)
{
	if (remote_iov == NULL)
		return NULL;
	*cut = *remote_iov;
	cut->segment_length = RTE_MIN(cut->segment_length, (DAT_SEG_LENGTH)sizeof(uint64_t));
	return cut;
}

static DAT_RETURN
cmp_and_swap(DAT_HANDLE handle, va_list args)
{
	DAT_UINT64 cmp_value = va_arg(args, DAT_UINT64);
	DAT_UINT64 swap_value = va_arg(args, DAT_UINT64);
	DAT_LMR_TRIPLET *local_iov = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	const DAT_RMR_TRIPLET *remote_iov = va_arg(args, DAT_RMR_TRIPLET *);
	DAT_COMPLETION_FLAGS flags = (DAT_COMPLETION_FLAGS)va_arg(args, unsigned int);
	DAT_RMR_TRIPLET cut;

	return front_ib_post_cmp_and_swap(handle, cmp_value, swap_value, local_iov, cookie,
			cut_remote(remote_iov, &cut), flags);
}

static DAT_RETURN
fetch_and_add(DAT_HANDLE handle, va_list args)
{
	DAT_UINT64 add_value = va_arg(args, DAT_UINT64);
	DAT_LMR_TRIPLET *local_iov = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	const DAT_RMR_TRIPLET *remote_iov = va_arg(args, DAT_RMR_TRIPLET *);
	DAT_COMPLETION_FLAGS flags = (DAT_COMPLETION_FLAGS)va_arg(args, unsigned int);
	DAT_RMR_TRIPLET cut;

	return front_ib_post_fetch_and_add(
			handle, add_value, local_iov, cookie, cut_remote(remote_iov, &cut), flags);
}

/* Datagrams, collectives, counters and quick queries of adapters that are not open: none of them here. */
DAT_RETURN
front_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list args)
{
	switch (operation) {
	case DAT_IB_RDMA_WRITE_IMMED_OP:
		return write_immed(handle, args);
	case DAT_IB_CMP_AND_SWAP_OP:
		return cmp_and_swap(handle, args);
	case DAT_IB_FETCH_AND_ADD_OP:
		return fetch_and_add(handle, args);
	default:
		return front_status(DAPL_NOT_IMPLEMENTED);
	}
}

/** Names of a completion: of the operation, and of the extended event when it is one. */
struct completion {
	DAT_DTOS operation;
	bool extended;
	DAT_IB_EXT_TYPE type;
};

static struct completion
request_completion(unsigned int opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return (struct completion){ .operation = DAT_DTO_RDMA_WRITE };
	case IBV_WR_RDMA_READ:
		return (struct completion){ .operation = DAT_DTO_RDMA_READ };
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return (struct completion){ (DAT_DTOS)DAT_IB_DTO_RDMA_WRITE_IMMED, true,
			DAT_IB_RDMA_WRITE_IMMED };
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return (struct completion){ (DAT_DTOS)DAT_IB_DTO_CMP_SWAP, true,
			DAT_IB_CMP_AND_SWAP };
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return (struct completion){ (DAT_DTOS)DAT_IB_DTO_FETCH_ADD, true,
			DAT_IB_FETCH_AND_ADD };
	default:
		return (struct completion){ .operation = DAT_DTO_SEND };
	}
}

static struct completion
receive_completion(unsigned int flags)
{
	if ((flags & ROCE_EVENT_IMM) == 0)
		return (struct completion){ .operation = (flags & ROCE_EVENT_INVALID) != 0
					? DAT_DTO_RECEIVE_WITH_INVALIDATE
					: DAT_DTO_RECEIVE };
	if ((flags & ROCE_EVENT_WRITE) != 0)
		return (struct completion){ (DAT_DTOS)DAT_IB_DTO_RECV_IMMED, true,
			DAT_IB_RDMA_WRITE_IMMED_DATA };
	return (struct completion){ (DAT_DTOS)DAT_IB_DTO_RECV_MSG_IMMED, true,
		DAT_IB_RECV_IMMED_DATA };
}

static __rte_noinline void
extend(const struct roce_event *in, DAT_IB_EXT_TYPE type, DAT_EVENT *out)
{
	DAT_IB_EXTENSION_EVENT_DATA *data = (void *)out->event_extension_data;

	out->event_number = (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT;
	*data = (DAT_IB_EXTENSION_EVENT_DATA){
		.type = type,
		.status = in->status == IBV_WC_SUCCESS ? DAT_OP_SUCCESS : DAT_IB_OP_ERR,
		.val.immed.data = in->imm,
	};
}

void
front_new_completion(const struct roce_event *in, DAT_EVENT *out)
{
	DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
	struct completion of = in->kind == ROCE_EVENT_SEND ? request_completion(in->opcode)
							   : receive_completion(in->flags);

	data->operation = of.operation;
	data->rmr_context = (in->flags & ROCE_EVENT_INVALID) != 0 ? in->imm : 0;
	if (unlikely(of.extended))
		extend(in, of.type, out);
}
