/* SPDX-License-Identifier: BSD-3-Clause */

/* The IB extensions of DAT 2.0: operations behind dat_extension_op(), and what their completions look like. */

#include <stdarg.h>

#include <arpa/inet.h>

#include "front/atomic.h"
#include "front/flags.h"

static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) <=
				sizeof(((DAT_EVENT *)NULL)->event_extension_data),
		"what an extended event has to tell fits into the event");

/** A WRITE with immediate data as the consumer asks for it, and the request that is made of it. */
struct write_immed {
	DAT_COUNT num_segments;
	const DAT_LMR_TRIPLET *local_iov;
	const DAT_RMR_TRIPLET *remote_iov;
	unsigned int flags;
	struct roce_wr wr;
};

/* Arguments by their place in dat_ib_post_rdma_write_immed(). */
static DAT_RETURN
post_write_immed(struct dapl_ep *ep, struct write_immed *write)
{
	struct roce_sge sge[DAPL_MAX_IOV];
	uint64_t length;
	DAT_RETURN rc;

	if ((unsigned int)write->num_segments > (unsigned int)ep->attr.max_rdma_write_iov)
		return bad_arg(DAT_INVALID_ARG2);
	if (write->local_iov == NULL && write->num_segments > 0)
		return bad_arg(DAT_INVALID_ARG3);
	length = segments_in(sge, write->local_iov, write->num_segments);
	if (write->remote_iov == NULL)
		return bad_arg(DAT_INVALID_ARG5);
	if (!flags_ok(ep, write->flags))
		return bad_arg(DAT_INVALID_ARG7);
	if (length > ep->attr.max_rdma_size || length > write->remote_iov->segment_length)
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	write->wr.sg = sge;
	write->wr.num_sge = (uint32_t)write->num_segments;
	write->wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	write->wr.flags = send_flags(write->flags);
	write->wr.remote_addr = write->remote_iov->target_address;
	write->wr.rkey = write->remote_iov->rmr_context;
	rc = front_return(dapl_ep_post_send(ep, &write->wr));
	write->wr.sg = NULL;
	return rc;
}

static DAT_RETURN
write_immed(DAT_HANDLE handle, va_list args)
{
	struct dapl_ep *ep = dapl_obj_check(handle, DAPL_EP);
	struct write_immed write = { .num_segments = va_arg(args, DAT_COUNT) };

	write.local_iov = va_arg(args, DAT_LMR_TRIPLET *);
	write.wr.wr_id = va_arg(args, DAT_DTO_COOKIE).as_64;
	write.remote_iov = va_arg(args, DAT_RMR_TRIPLET *);
	/* A number of this machine; on the wire it is big endian, as in verbs. */
	write.wr.imm = htonl(va_arg(args, DAT_UINT32));
	write.flags = va_arg(args, unsigned int);
	return ep != NULL ? post_write_immed(ep, &write) : bad_handle(DAT_INVALID_HANDLE_EP);
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

	return FRONT(ib_extension)
			.post_cmp_and_swap(handle, cmp_value, swap_value, local_iov, cookie,
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

	return FRONT(ib_extension)
			.post_fetch_and_add(handle, add_value, local_iov, cookie,
					cut_remote(remote_iov, &cut), flags);
}

/* Datagrams, collectives, counters and quick queries of adapters that are not open: none of them here. */
DAT_RETURN
FRONT(handle_extendedop)(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list args)
{
	switch (operation) {
	case DAT_IB_RDMA_WRITE_IMMED_OP:
		return write_immed(handle, args);
	case DAT_IB_CMP_AND_SWAP_OP:
		return cmp_and_swap(handle, args);
	case DAT_IB_FETCH_AND_ADD_OP:
		return fetch_and_add(handle, args);
	default:
		return FRONT(status)(DAPL_NOT_IMPLEMENTED);
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
		.val.immed.data = ntohl(in->imm),
	};
}

void
FRONT(new_completion)(const struct roce_event *in, DAT_EVENT *out)
{
	DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
	struct completion of = in->kind == ROCE_EVENT_SEND ? request_completion(in->opcode)
							   : receive_completion(in->flags);

	data->operation = of.operation;
	data->rmr_context = (in->flags & ROCE_EVENT_INVALID) != 0 ? ntohl(in->imm) : 0;
	if (unlikely(of.extended))
		extend(in, of.type, out);
}
