/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_ORACLE_H
#define ROCE_FUZZ_ORACLE_H

/**
 * @file
 * A second opinion on frames: what is wrong with one, and is its ICRC right, written from the formats alone and
 * sharing no code with pmd_roce/wire. Slow and plain.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

/** Faults of a frame, which may have several. */
#define ORACLE_FOREIGN  0x01u /**< not seen to be RoCEv2: nothing else was looked at */
#define ORACLE_LENGTH   0x02u
#define ORACLE_FRAGMENT 0x04u
#define ORACLE_OPCODE   0x08u
#define ORACLE_VERSION  0x10u
#define ORACLE_PKEY     0x20u

struct oracle_frame {
	uint32_t faults;    /**< ORACLE_* */
	struct roce_ip src; /**< unless it is foreign */
	struct roce_ip dst;
	/** The fields below count only when there is no fault. */
	uint32_t dest_qp;
	uint32_t psn;
	uint32_t payload_off;
	uint32_t payload_len;
	uint32_t l3_off;
	uint32_t udp_off;
	uint32_t end; /**< one behind the ICRC */
	uint8_t opcode;
	uint8_t header_len; /**< BTH and what follows it, before the payload */
	bool v6;
	bool icrc_ok;
	bool request;   /**< an RC request */
	bool datagram;  /**< unreliable */
	bool cnp;       /**< a congestion notification */
	bool sack;      /**< selective acknowledgement */
	bool piggyback; /**< a request that carries an acknowledgement, or what should be one */
	bool ack;       /**< and it is one */
};

/**
 * @param first    bytes of the frame in its first segment.
 * @param stripped the device took a tag away already, one that names no VLAN.
 */
void oracle_look(const uint8_t *bytes, uint32_t len, uint32_t first, bool stripped,
		struct oracle_frame *frame);

/** Bytes of BTH and extension headers of an opcode; 0: none that we serve. */
uint8_t oracle_header_len(uint8_t opcode);

/** May packets of this opcode carry payload? */
bool oracle_has_payload(uint8_t opcode);

/**
 * Put the right ICRC where the lengths of a frame say it stands.
 * @return false: they say nothing that could be, and the frame is as it was.
 */
bool oracle_seal(uint8_t *bytes, uint32_t len);

#endif
