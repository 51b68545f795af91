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
	return wr;
}

#endif
