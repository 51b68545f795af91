/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_ABI_H
#define FRONT_ABI_H

/**
 * @file
 * Shared by every file of the front. The front is written once and compiled once per DAT ABI: numbers
 * differ between them, names agree, and the compiler supplies the numbers.
 *
 * DAT_ABI selects the version (12: DAT 1.2; 20: DAT 2.0). A function has the same name, front_*(), in both builds: each
 * is hidden inside a library of its own, and no program links both archives. Facts that the compiler cannot know are in
 * abi12.h and abi20.h, which define the same names.
 *
 * Every call checks its handles and arguments here, in the order in which the manual lists them, and
 * nothing else; state is the business of lib/dapl.
 */

#ifndef DAT_ABI
#define DAT_ABI 12
#endif

#if DAT_ABI == 12
#include "front/abi12.h"
#elif DAT_ABI == 20
#include "front/abi20.h"
#else
#error "DAT_ABI: 12 or 20"
#endif

#include "dapl/event.h"
#include "dapl/evd.h"
#include "dapl/obj.h"
#include "dapl/status.h"

struct dapl_ep_attr;

/* Prototypes from the types of the provider's table: a definition that differs does not compile. */
#define CALL(name, type) extern __typeof__(*(type)NULL) front_##name;
#include "front/calls.def"
#undef CALL

/** Arguments of the registry for one adapter name. */
struct front_adapter {
	struct front_adapter *next;
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER table; /**< of calls, under the adapter's name: the first word of every object */
	bool registered;
	char *params; /**< instance data of dat.conf */
};

/** The adapter called @p name, NULL when there is none. It stays valid while registered. Any thread. */
const struct front_adapter *front_find_adapter(const char *name);

/** An outcome of lib/dapl in the bits of this ABI. */
DAT_RETURN front_status(enum dapl_status status);

/** A completion status (enum ibv_wc_status) other than success. */
DAT_DTO_COMPLETION_STATUS front_dto_status(unsigned int wc_status);

/**
 * dat_evd_dequeue() and dat_evd_wait() for who wants more of an event than DAT has room for.
 * @param in  receives all of it; null is validated after the other arguments, as one more of them.
 */
DAT_RETURN front_evd_take(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event, struct roce_event *in);
DAT_RETURN front_evd_await(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
		DAT_EVENT *event, DAT_COUNT *n_more_events, struct roce_event *in);

/** Fill @p out from an event of @p evd. */
void front_event(struct dapl_evd *evd, const struct roce_event *in, DAT_EVENT *out);

/**
 * Judge and complete the attributes of an endpoint; null: all defaults.
 * @return DAT_SUCCESS, DAT_INVALID_PARAMETER or DAT_MODEL_NOT_SUPPORTED.
 */
DAT_RETURN_TYPE front_ep_attr_in(const DAT_EP_ATTR *in, bool on_srq, struct dapl_ep_attr *out);

/** The inverse of front_ep_attr_in(). */
DAT_EP_ATTR front_ep_attr_out(const struct dapl_ep_attr *attr);

static inline DAT_RETURN
front_error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype)
{
	return DAT_CLASS_ERROR | (DAT_RETURN)type | (DAT_RETURN)subtype;
}

static inline DAT_RETURN
bad_handle(DAT_RETURN_SUBTYPE which)
{
	return front_error(DAT_INVALID_HANDLE, which);
}

static inline DAT_RETURN
bad_arg(DAT_RETURN_SUBTYPE which)
{
	return front_error(DAT_INVALID_PARAMETER, which);
}

/** front_status() with the one outcome that matters for speed ahead. */
static inline DAT_RETURN
front_return(enum dapl_status status)
{
	if (likely(status == DAPL_OK))
		return DAT_SUCCESS;
	return front_status(status);
}

/** The dispatcher behind an optional handle: true and NULL for a null handle. @p stream it must take. */
static inline bool
evd_or_null(const struct dapl_ia *ia, DAT_EVD_HANDLE handle, uint32_t stream, struct dapl_evd **evd)
{
	*evd = NULL;
	if (handle == DAT_HANDLE_NULL)
		return true;
	*evd = dapl_obj_of(ia, handle, DAPL_EVD);
	return *evd != NULL && ((*evd)->streams & stream) != 0;
}

/** For the calls of every message: with all that they call, as far as the compiler sees it. */
#define FRONT_FLAT __attribute__((flatten))

/** Is it what nearly every message has: one segment? @return true: single_in() is for it. */
static inline bool
is_single(DAT_COUNT num_segments, const DAT_LMR_TRIPLET *iov, uint32_t max_iov, uint32_t max_length)
{
	return num_segments == 1 && iov != NULL && max_iov > 0 && iov->segment_length <= max_length;
}

/** The peer's memory, addr and lkey. */
static inline struct roce_sge
remote_in(const DAT_RMR_TRIPLET *iov)
{
	return (struct roce_sge){ .addr = iov->target_address, .lkey = iov->rmr_context };
}

/** A segment that is no longer than any message. */
static inline struct roce_sge
single_in(const DAT_LMR_TRIPLET *iov)
{
	return (struct roce_sge){
		.addr = iov->virtual_address,
		.length = (uint32_t)iov->segment_length,
		.lkey = iov->lmr_context,
	};
}

/* One segment, field by field. @return its bytes. */
static inline uint64_t
segment_in(struct roce_sge *sge, const DAT_LMR_TRIPLET *iov)
{
	sge->addr = iov->virtual_address;
	sge->length = (uint32_t)iov->segment_length;
	sge->lkey = iov->lmr_context;
	return iov->segment_length;
}

/**
 * Translate segments.
 * @return their sum in bytes; UINT64_MAX: a segment is longer than any message.
 */
static inline uint64_t
segments_in(struct roce_sge *sge, const DAT_LMR_TRIPLET *iov, DAT_COUNT n)
{
	uint64_t sum = 0;

	/* Nearly always; a loop costs twice as much. */
	if (likely(n == 1)) {
		sum = segment_in(sge, iov);
		return likely(sum <= UINT32_MAX) ? sum : UINT64_MAX;
	}
	for (DAT_COUNT i = 0; i < n; i++) {
		uint64_t length = segment_in(&sge[i], &iov[i]);

		if (unlikely(length > UINT32_MAX))
			return UINT64_MAX;
		sum += length;
	}
	return sum;
}

#endif
