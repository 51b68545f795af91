/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_MSG_H
#define ROCE_CM_CM_MSG_H

/**
 * @file
 * CM messages as values: what stands in a datagram, in host order, and the two
 * functions between the value and the bytes. No state, no validation beyond "is
 * this a CM message at all".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm/cm.h"
#include "wire/mad.h"

/** Fields of a REQ alone. */
struct roce_cm_req_info {
	uint64_t service_id;
	struct roce_ip local_gid; /**< sender's address */
	struct roce_ip remote_gid;
	uint32_t flow_label; /**< 20 bits */
	uint16_t pkey;
	uint16_t src_port;     /**< of the IP CM header */
	uint8_t local_timeout; /**< CM response timeout codes */
	uint8_t remote_timeout;
	uint8_t max_retries;
	uint8_t transport; /**< 0: RC */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl;    /**< service level; its low three bits are a priority of 802.1Q */
	bool ip_cm_ok; /**< the private data begins with an IP CM header that we understand */
};

/** One message. Fields that its attribute does not have are zero. */
struct roce_cm_msg {
	uint64_t tid;
	uint64_t ca_guid;           /**< REQ, REP */
	uint32_t local_id;          /**< the sender's communication id; 0 in a REJ by nobody */
	uint32_t remote_id;         /**< the receiver's; 0 in a REQ */
	uint16_t attr;              /**< enum roce_cm_attr */
	uint16_t reason;            /**< REJ */
	uint8_t about;              /**< REJ, MRA: ROCE_CM_ABOUT_* */
	uint8_t ari_len;            /**< REJ: bytes of additional information */
	uint8_t service_timeout;    /**< MRA: time code */
	uint32_t qpn;               /**< DREQ: of the receiver */
	const uint8_t *ari;         /**< REJ */
	struct roce_cm_param param; /**< REQ, REP: all; REJ: private data */
	struct roce_cm_req_info req;
};

/**
 * Read a datagram.
 *
 * @param mad ROCE_MAD_LEN bytes; @c private_data and @c ari of @p msg lead into it.
 * @return true; false when it is no CM message of the version and kind that we know.
 */
bool roce_cm_msg_decode(const struct roce_cm_mad *mad, struct roce_cm_msg *msg);

/**
 * Write a datagram whole.
 *
 * @param msg private data at most what the attribute allows (ROCE_CM_PRIVATE_MAX_*); none for MRA, RTU,
 *   DREQ, DREP. It must not lie inside @p mad.
 */
void roce_cm_msg_encode(const struct roce_cm_msg *msg, struct roce_cm_mad *mad);

/** The UDP source port of a flow label: its 20 bits folded to 14 (as ibv_flow_label_to_udp_sport() does). */
uint16_t roce_cm_msg_sport(uint32_t flow_label);

#endif
