/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERBS_FRONT_H
#define VERBS_FRONT_H

/**
 * @file
 * The calls that the files of this folder offer to each other. Results of int are positive errno values, as verbs has them, unless a
 * function says otherwise.
 */

#include "verbs/objects.h"

struct roce_device;

/* ---- text.c ---- */

/**
 * The errno of verbs for a result of libroce, which is 0 or negative: a full queue is ENOMEM. One that is not 0 stands in errno,
 * too: programs print that, as those of the kernel's calls are there.
 */
int verbs_errno(int rc);

/** NULL, with errno as verbs_errno() sets it. */
void *verbs_fail(int rc);

/* ---- device.c ---- */

/** The GUID of the host's adapter, the same in each of its processes. */
__be64 verbs_device_guid(void);

/* ---- port.c ---- */

#define VERBS_PORT 1u

/** Entry @p index of the GID table: an address of the device, in its order. @return false: there is none. */
bool verbs_port_gid(unsigned int index, union ibv_gid *gid);

/** The entry with this address. @return -1: there is none. */
int verbs_port_gid_index(const uint8_t ip[16]);

/** As ibv_query_port(), for structures of @p len bytes. */
int verbs_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		size_t len);

/** Path MTU of verbs for bytes; 0: none. */
static inline enum ibv_mtu
verbs_mtu_of(uint32_t bytes)
{
	switch (bytes) {
	case 256:
		return IBV_MTU_256;
	case 512:
		return IBV_MTU_512;
	case 1024:
		return IBV_MTU_1024;
	case 2048:
		return IBV_MTU_2048;
	case 4096:
		return IBV_MTU_4096;
	default:
		return 0;
	}
}

/* ---- attr.c ---- */

int
verbs_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		struct ibv_device_attr_ex *attr, size_t size);
int verbs_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* ---- context.c, ops.c ---- */

/** Fill in the functions that inline calls of verbs.h reach. */
void verbs_set_ops(struct verbs_context *verbs);

/* ---- obj.c ---- */

void verbs_obj_add(const struct ibv_context *context, struct verbs_obj *obj, enum verbs_kind kind);
void verbs_obj_remove(const struct ibv_context *context, struct verbs_obj *obj);

/** Wait until the program has acknowledged all events that it fetched of an object, unless its context is being closed. */
void verbs_obj_await_acks(const struct ibv_context *context, pthread_mutex_t *mutex,
		pthread_cond_t *cond, const uint32_t *completed, const uint32_t *reported);

/* ---- teardown.c ---- */

/** End what is left of a context. @return 0; a negative errno: something can not end, and is left. */
int verbs_teardown(struct verbs_ctx *ctx);

/** The context stays: objects wait for acknowledgements again. */
void verbs_reopen(struct verbs_ctx *ctx);

/* ---- fork.c ---- */

/** In a child of fork(2) that was made after the device was opened: nothing of it may be touched. */
bool verbs_is_forked(void);

/** This is such a child. */
void verbs_set_forked(void);

/* ---- progress.c ---- */

/**
 * Become a user of the device of the process: it is opened with the first, and polled by a thread until the last leaves.
 *
 * @return 0, and ctx->roce is made; a negative errno: one sentence stands on stderr, nothing has changed.
 */
int verbs_progress_join(struct verbs_ctx *ctx);

/** @return 0; -EBUSY objects of the context are left, and it stays a user. */
int verbs_progress_leave(struct verbs_ctx *ctx);

/** The device of the process, while it has a user. */
struct roce_device *verbs_progress_device(void);

/** Poll the device on behalf of the program. @return did anything move? */
bool verbs_progress_poll(void);

/** The program is about to sleep until an event comes: somebody else has to poll from now on. */
void verbs_progress_attend(void);

/* ---- pd.c ---- */

struct ibv_pd *
verbs_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);

/** An object of the domain begins, or has ended: a domain that has some does not end, though it be a parent domain. */
void verbs_pd_get(struct ibv_pd *pd);
void verbs_pd_put(struct ibv_pd *pd);

struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int verbs_dealloc_td(struct ibv_td *td);

/* ---- mw.c ---- */

struct ibv_mw *verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int verbs_dealloc_mw(struct ibv_mw *mw);
int verbs_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/** The bind of a window for libroce; @p rkey: the key of a window of type 2. @return 0; -EINVAL, -EOPNOTSUPP: it is refused. */
int verbs_bind_of(struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info,
		struct roce_mw_bind *bind);

/** The bind was posted: a window of type 1 has its key from now on. */
void verbs_bind_posted(struct ibv_mw *mw, const struct roce_mw_bind *bind);

/** Post the bind of a window, of type 2 by that key. The queue pair's send lock is held. @return 0 or a negative errno. */
int verbs_post_bind(struct verbs_qp *qp, struct ibv_mw *mw, uint32_t rkey,
		const struct ibv_mw_bind_info *info, uint64_t wr_id, uint8_t flags);

/* ---- cq.c, cq_ex.c ---- */

struct ibv_cq *verbs_create_cq(struct ibv_context *context, uint32_t cqe, void *cq_context,
		struct ibv_comp_channel *channel, uint32_t comp_vector);
struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/** Take up to @p n completions. Under the lock of the queue. @return how many. */
unsigned int verbs_cq_take(struct verbs_cq *cq, struct roce_event *events, unsigned int n);

/**
 * About to take the completions of a queue pair out of its two queues, which may be one. Until verbs_cq_end_purge() no other thread
 * does so, and neither is resized.
 *
 * @return 0; -ENOMEM: nothing has begun.
 */
int verbs_cq_begin_purge(struct verbs_cq *a, struct verbs_cq *b);

/** Drop the completions that @p owner has there; NULL: none. */
void verbs_cq_end_purge(struct verbs_cq *a, struct verbs_cq *b, const void *owner);

int verbs_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int verbs_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/** Members of a completion, in the words of verbs. */
uint32_t verbs_event_qp_num(const struct roce_event *event);
enum ibv_wc_opcode verbs_event_opcode(const struct roce_event *event);
unsigned int verbs_event_flags(const struct roce_event *event);
/** Immediate data as on the wire, or the key that was invalidated, in host order. */
uint32_t verbs_event_imm(const struct roce_event *event);

/* ---- channel.c ---- */

/** An armed queue has a completion: an event on its channel, if it has one. */
void verbs_channel_push(struct verbs_cq *cq);

/** The queue has ended: its events vanish. Waits until all that were fetched are acknowledged. */
void verbs_channel_forget(struct verbs_cq *cq);

/* ---- async.c ---- */

/** Deliver the pending events of the context. Called by the progress thread. @return how many there were. */
unsigned int verbs_async_dispatch(struct verbs_ctx *ctx);

/** Events of an object that has ended in the engine vanish. No thread delivers one any more when the call returns. */
void verbs_async_forget(struct verbs_ctx *ctx, struct verbs_async *async[], unsigned int n);

/* ---- srq.c ---- */

struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init);
int verbs_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* ---- qp.c ---- */

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* ---- post.c, wr.c ---- */

int verbs_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int verbs_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/** Flags of a request for libroce. @return -EINVAL: one that there is not. */
int verbs_wr_flags(const struct verbs_qp *qp, unsigned int send_flags);

/** Make the calls ibv_wr_*() of a queue pair. @return 0; -ENOMEM; -EOPNOTSUPP an operation that there is not. */
int verbs_wr_init(struct verbs_qp *qp, uint64_t send_ops);
void verbs_wr_fini(struct verbs_qp *qp);

#endif
