/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_MAD_H
#define ROCE_WIRE_MAD_H

/**
 * @file
 * Management datagrams of the communication manager as they stand on the wire
 * (IBTA Vol 1, 13.4 and 12.6) and the RDMA IP CM header (annex A11).
 *
 * A datagram is 256 bytes: a common header of 24, then 232 bytes that the
 * attribute decides. Every multi-byte field is big endian and nothing is
 * aligned; masks and shifts are given for the value in host order. "Local"
 * in a field's name means the sender of that message.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#define ROCE_MAD_LEN          256
#define ROCE_MAD_BASE_VERSION 1
#define ROCE_MAD_CLASS_CM     7
#define ROCE_MAD_CM_VERSION   2
#define ROCE_MAD_METHOD_SEND  3

/** Attribute ids of the messages (IBTA Vol 1, 16.7). */
enum roce_cm_attr {
	ROCE_CM_ATTR_REQ = 0x10,
	ROCE_CM_ATTR_MRA = 0x11,
	ROCE_CM_ATTR_REJ = 0x12,
	ROCE_CM_ATTR_REP = 0x13,
	ROCE_CM_ATTR_RTU = 0x14,
	ROCE_CM_ATTR_DREQ = 0x15,
	ROCE_CM_ATTR_DREP = 0x16,
};

/** Common MAD header. */
struct roce_mad_hdr {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	rte_be16_t status;
	rte_be16_t class_specific;
	rte_be64_t tid;
	rte_be16_t attr;
	rte_be16_t reserved;
	rte_be32_t modifier;
} __attribute__((packed));

#define ROCE_CM_REQ_PRIVATE  92
#define ROCE_CM_REP_PRIVATE  196
#define ROCE_CM_RTU_PRIVATE  224
#define ROCE_CM_REJ_PRIVATE  148
#define ROCE_CM_MRA_PRIVATE  222
#define ROCE_CM_DREQ_PRIVATE 220
#define ROCE_CM_DREP_PRIVATE 224
#define ROCE_CM_REJ_ARI      72 /**< additional reject information */

/** One of the two paths that a REQ describes; the alternate one is all zero here. */
struct roce_cm_req_path {
	rte_be16_t local_lid;
	rte_be16_t remote_lid;
	uint8_t local_gid[16];
	uint8_t remote_gid[16];
	rte_be32_t flow_rate; /**< flow label:20 reserved:6 packet rate:6 */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl;          /**< SL:4 subnet local:1 reserved:3 */
	uint8_t ack_timeout; /**< local ACK timeout:5 reserved:3 */
} __attribute__((packed));

#define ROCE_CM_LID_PERMISSIVE 0xffff /**< there are no LIDs on Ethernet */
#define ROCE_CM_FLOW_SHIFT     12
#define ROCE_CM_FLOW_MASK      0xfffffu
#define ROCE_CM_SL_SHIFT       4
#define ROCE_CM_TIME_SHIFT     3 /**< of a five-bit time code in the upper part of a byte */

/** Request for communication. */
struct roce_cm_req {
	rte_be32_t local_comm_id;
	rte_be32_t reserved;
	rte_be64_t service_id;
	rte_be64_t ca_guid;
	rte_be32_t reserved2;
	rte_be32_t qkey;
	rte_be32_t qpn_resources; /**< local QPN:24 responder resources:8 */
	rte_be32_t eecn_depth;    /**< local EECN:24 initiator depth:8 */
	rte_be32_t eecn_timeout; /**< remote EECN:24 remote CM response timeout:5 transport:2 e2e:1 */
	rte_be32_t psn_timeout; /**< starting PSN:24 local CM response timeout:5 retry count:3 */
	rte_be16_t pkey;
	uint8_t mtu_rnr;     /**< path MTU:4 RDC exists:1 RNR retry count:3 */
	uint8_t retries_srq; /**< max CM retries:4 SRQ:1 extended transport:3 */
	struct roce_cm_req_path primary;
	struct roce_cm_req_path alternate;
	uint8_t private_data[ROCE_CM_REQ_PRIVATE];
} __attribute__((packed));

/**
 * The sender speaks the extensions of this provider: selective and piggybacked acknowledgements (bth.h), and repeat numbers
 * (repeat.h). A REQ says so in its second reserved field, and the REP to such a REQ where the EECN of a reliable datagram would
 * stand: receivers of reliable connections ignore both (IBTA Vol 1, 12.6.5 and 12.6.8). Each set of extensions has a number of
 * its own. The first reserved field and the bytes behind the numbers of a REP are enhanced connection establishment's now, and
 * Linux refuses what it finds there. Private data is the consumer's, who was promised all of it.
 */
#define ROCE_CM_REQ_EXTENSIONS 0x75525345u /**< struct roce_cm_req: reserved2 */
#define ROCE_CM_REP_EXTENSIONS 0x525345u   /**< struct roce_cm_rep: EECN */

#define ROCE_CM_REQ_E2E             0x01u /**< of eecn_timeout: end-to-end flow control */
#define ROCE_CM_REQ_TRANSPORT_MASK  0x06u
#define ROCE_CM_REQ_TRANSPORT_SHIFT 1
#define ROCE_CM_REQ_SRQ             0x08u

/** Message receipt acknowledgement. */
struct roce_cm_mra {
	rte_be32_t local_comm_id;
	rte_be32_t remote_comm_id;
	uint8_t about;   /**< message:2 reserved:6 */
	uint8_t timeout; /**< service timeout:5 reserved:3 */
	uint8_t private_data[ROCE_CM_MRA_PRIVATE];
} __attribute__((packed));

/** The message that a REJ or MRA is about, as its two bits. */
#define ROCE_CM_ABOUT_REQ   0
#define ROCE_CM_ABOUT_REP   1
#define ROCE_CM_ABOUT_OTHER 2
#define ROCE_CM_ABOUT_SHIFT 6

/** Reject. */
struct roce_cm_rej {
	rte_be32_t local_comm_id;
	rte_be32_t remote_comm_id;
	uint8_t about;   /**< message:2 reserved:6 */
	uint8_t ari_len; /**< bytes of ari that count:7 reserved:1 */
	rte_be16_t reason;
	uint8_t ari[ROCE_CM_REJ_ARI];
	uint8_t private_data[ROCE_CM_REJ_PRIVATE];
} __attribute__((packed));

/** Reply to a request. */
struct roce_cm_rep {
	rte_be32_t local_comm_id;
	rte_be32_t remote_comm_id;
	rte_be32_t qkey;
	rte_be32_t qpn;  /**< local QPN:24 reserved:8 */
	rte_be32_t eecn; /**< local EECN:24 reserved:8 */
	rte_be32_t psn;  /**< starting PSN:24 reserved:8 */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t delay_e2e; /**< target ACK delay:5 failover:2 e2e:1 */
	uint8_t rnr_srq;   /**< RNR retry count:3 SRQ:1 reserved:4 */
	rte_be64_t ca_guid;
	uint8_t private_data[ROCE_CM_REP_PRIVATE];
} __attribute__((packed));

#define ROCE_CM_REP_E2E       0x01u
#define ROCE_CM_REP_RNR_SHIFT 5
#define ROCE_CM_REP_SRQ       0x10u

/** Ready to use, and disconnect reply: nothing but the pair of ids. */
struct roce_cm_ids {
	rte_be32_t local_comm_id;
	rte_be32_t remote_comm_id;
	uint8_t private_data[ROCE_CM_RTU_PRIVATE];
} __attribute__((packed));

/** Disconnect request. */
struct roce_cm_dreq {
	rte_be32_t local_comm_id;
	rte_be32_t remote_comm_id;
	rte_be32_t remote_qpn; /**< QPN of the receiver:24 reserved:8 */
	uint8_t private_data[ROCE_CM_DREQ_PRIVATE];
} __attribute__((packed));

/** A whole datagram. */
struct roce_cm_mad {
	struct roce_mad_hdr hdr;
	union {
		struct roce_cm_req req;
		struct roce_cm_mra mra;
		struct roce_cm_rej rej;
		struct roce_cm_rep rep;
		struct roce_cm_ids rtu;
		struct roce_cm_dreq dreq;
		struct roce_cm_ids drep;
	};
} __attribute__((packed));

/** RDMA IP CM header: the first bytes of a REQ's private data (annex A11). */
struct roce_ip_cm {
	uint8_t version;    /**< major:4 minor:4 */
	uint8_t ip_version; /**< 4 or 6:4 reserved:4 */
	rte_be16_t src_port;
	uint8_t src[16]; /**< IPv4 in the last four bytes, the others zero */
	uint8_t dst[16];
} __attribute__((packed));

static_assert(sizeof(struct roce_mad_hdr) == 24, "IBTA 13.4: the common header is 24 bytes");
static_assert(sizeof(struct roce_cm_req_path) == 44, "IBTA 12.6.5: a path is 44 bytes");
static_assert(sizeof(struct roce_cm_req) == 232, "IBTA 12.6.5: REQ fills the datagram");
static_assert(sizeof(struct roce_cm_mra) == 232, "IBTA 12.6.6: MRA fills the datagram");
static_assert(sizeof(struct roce_cm_rej) == 232, "IBTA 12.6.7: REJ fills the datagram");
static_assert(sizeof(struct roce_cm_rep) == 232, "IBTA 12.6.8: REP fills the datagram");
static_assert(sizeof(struct roce_cm_ids) == 232, "IBTA 12.6.9: RTU fills the datagram");
static_assert(sizeof(struct roce_cm_dreq) == 232, "IBTA 12.6.10: DREQ fills the datagram");
static_assert(sizeof(struct roce_cm_mad) == ROCE_MAD_LEN, "a MAD is 256 bytes");
static_assert(offsetof(struct roce_cm_req, primary) == 52, "IBTA 12.6.5: the path begins at 52");
static_assert(sizeof(struct roce_ip_cm) == 36, "annex A11: the header is 36 bytes");

#endif
