/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_NEIGHBOUR_NEIGH_MSG_H
#define ROCE_NEIGHBOUR_NEIGH_MSG_H

/**
 * @file
 * Messages of neighbours, as bytes and as a value: ARP over Ethernet (RFC 826) and
 * neighbour solicitation and advertisement (RFC 4861 4.3, 4.4). Both are a
 * question for, or an answer about, one address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>

#include "wire/frame.h"

#define ROCE_NEIGH_FRAME_MIN 60  /**< shortest Ethernet frame, without its checksum */
#define ROCE_NEIGH_FRAME_MAX 128 /**< longest that is made, and longest that is read */

struct roce_neigh_msg {
	struct roce_ip target; /**< the address in question */
	struct roce_ip sender; /**< who speaks; all zero: has no address yet (RFC 5227, RFC 4862) */
	struct roce_ip l3_dst; /**< IPv6: destination of the packet */
	struct rte_ether_addr src_mac; /**< of the frame */
	struct rte_ether_addr dst_mac; /**< of the frame */
	struct rte_ether_addr
			mac; /**< answer: of the target; question: of the sender; valid if has_mac */
	bool has_mac;
	bool answer;
	bool solicited; /**< IPv6 answer: to a question, not volunteered */
	bool override;  /**< IPv6 answer: replaces what is known */
};

/** Which VLAN a frame has to be of, and what the device took out of it. */
struct roce_neigh_tags {
	uint16_t own_tci;      /**< of our network; its VID is validated alone, 0: none */
	uint16_t stripped_tci; /**< valid if stripped */
	bool stripped;         /**< the tag stands beside the frame */
};

/**
 * Read a frame.
 *
 * Applies every validity check of RFC 4861 7.1 (hop limit, checksum, lengths, options) and those of RFC 826.
 *
 * @param frame,len  its first bytes, all of them if there are no more than ROCE_NEIGH_FRAME_MAX.
 * @param tags       frames of other networks are refused, and those with a second tag.
 * @param msg        filled when the call returns true.
 * @return false: not ARP or neighbour discovery, or malformed.
 */
bool roce_neigh_msg_read(const uint8_t *frame, size_t len, const struct roce_neigh_tags *tags,
		struct roce_neigh_msg *msg);

/**
 * Write a frame: padded to the least Ethernet allows, without its checksum.
 *
 * @param frame at least ROCE_NEIGH_FRAME_MAX bytes.
 * @return its length.
 */
size_t roce_neigh_msg_write(uint8_t *frame, uint16_t vlan_tci, const struct roce_neigh_msg *msg);

/** Solicited-node multicast address of an IPv6 address (RFC 4291 2.7.1). */
struct roce_ip roce_neigh_solicited_node(const struct roce_ip *ip);

/** Ethernet address of an IPv6 multicast address (RFC 2464 7). */
struct rte_ether_addr roce_neigh_multicast_mac(const struct roce_ip *group);

#endif
