/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_FLAGS_H
#define FRONT_FLAGS_H

/** @file Completion flags of posts, for the files that post. */

#include "front/abi.h"

#define SEND_FLAGS                                                                          \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
			DAT_COMPLETION_BARRIER_FENCE_FLAG))

/* The engine's flags say who makes an event, DAT's who does not. */
static inline uint8_t
send_flags(unsigned int flags)
{
	uint8_t wr = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0 ? 0 : ROCE_WR_SIGNALED;

	if ((flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG) != 0)
		wr |= ROCE_WR_SOLICITED;
	if ((flags & DAT_COMPLETION_BARRIER_FENCE_FLAG) != 0)
		wr |= ROCE_WR_FENCE;
	if ((flags & DAT_COMPLETION_UNSIGNALLED_FLAG) != 0)
		wr |= ROCE_WR_QUIET;
	return wr;
}

/* Flags that need a second look: unsignalled is for an endpoint whose requests were made so. */
static inline bool
rare_flags_ok(const struct dapl_ep *ep, unsigned int flags)
{
	return ep->quiet_requests && (flags & ~(SEND_FLAGS | DAT_COMPLETION_UNSIGNALLED_FLAG)) == 0;
}

static inline bool
flags_ok(const struct dapl_ep *ep, unsigned int flags)
{
	return likely((flags & ~SEND_FLAGS) == 0) || rare_flags_ok(ep, flags);
}

#endif
