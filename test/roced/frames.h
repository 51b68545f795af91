/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_TEST_FRAMES_H
#define ROCED_TEST_FRAMES_H

/**
 * @file
 * Frames of the connection manager: what Linux said (test/unit/cm_golden.h), by other processes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "local/proto.h"
#include "wire/mad.h"

#define FRAMES_SERVICE UINT64_C(0x0000000001061d2f) /**< that of the REQ of Linux */

struct frame_spec {
	const uint8_t *src; /**< 16 bytes, an IPv4 address mapped; NULL: 127.0.0.1 */
	const uint8_t *dst; /**< NULL: 127.0.0.1 */
	uint16_t attr;
	uint32_t local_id;
	uint32_t remote_id;
	uint32_t qpn;
	uint32_t tid;
	uint64_t service_id; /**< 0: FRAMES_SERVICE */
};

/** The message FRAME with that frame. */
struct roce_msg frame_message(const struct frame_spec *spec);

/** A number in the upper bits, as a process has it in its ids and queue pair numbers. */
static inline uint32_t
frame_id(uint32_t number, uint32_t id)
{
	return number << ROCE_COMM_ID_SHIFT | id;
}

static inline uint32_t
frame_qpn(uint32_t number, uint32_t qpn)
{
	return number << ROCE_QPN_SHIFT | qpn;
}

#endif /* ROCED_TEST_FRAMES_H */
