/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_CM_FRAME_H
#define ROCE_LOCAL_CM_FRAME_H

/**
 * @file
 * A frame of the connection manager, as far as roced looks into one: Ethernet, IPv4 without options or IPv6 without
 * extension headers, UDP to port 4791, BTH of a UD SEND only to queue pair 1, DETH, a MAD of class 7, ICRC.
 *
 * Every byte that is read was first proved to exist. The ICRC is for the receiver to check.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/proto.h"
#include "wire/mad.h"

struct roce_cm_frame {
	uint8_t src[16]; /**< IPv4 as an IPv4-mapped IPv6 address */
	uint8_t dst[16];
	uint64_t tid;
	uint16_t attr;       /**< enum roce_cm_attr */
	uint8_t about;       /**< of a REJ, MRA: ROCE_CM_ABOUT_* */
	uint32_t local_id;   /**< the sender's */
	uint32_t remote_id;  /**< 0 in a REQ */
	uint32_t qpn;        /**< the sender's, of a REQ or REP */
	uint64_t service_id; /**< of a REQ */
};

/** @return false: it is none, and @p frame is undefined. */
bool roce_cm_frame_parse(const uint8_t *data, size_t len, struct roce_cm_frame *frame);

/** Has the message a queue pair number of its sender? */
static inline bool
roce_cm_frame_has_qpn(const struct roce_cm_frame *frame)
{
	return frame->attr == ROCE_CM_ATTR_REQ || frame->attr == ROCE_CM_ATTR_REP;
}

/**
 * Does the message name ids and queue pairs of process @p number alone? An id of another process is forged, and so is a
 * queue pair without an id.
 */
static inline bool
roce_cm_frame_is_of(const struct roce_cm_frame *frame, uint32_t number)
{
	if (roce_cm_frame_has_qpn(frame) &&
			(frame->qpn >> ROCE_QPN_SHIFT != number || frame->local_id == 0))
		return false;
	return frame->local_id == 0 || frame->local_id >> ROCE_COMM_ID_SHIFT == number;
}

#endif /* ROCE_LOCAL_CM_FRAME_H */
