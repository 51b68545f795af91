/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_CROWD_H
#define TEST_CONTRACT_CROWD_H

/** @file Pairs of endpoints, those of b on one queue; and messages that tell which of them sent what. */

#include "rig.h"

#define CROWD_MAX 1024
#define EVDS_MAX  64

/** The pairs; the endpoints of the rig are those picked last. */
struct crowd {
	unsigned int n;
	unsigned int evds;            /**< recv dispatchers of b that endpoints use in turn */
	DAT_EVD_HANDLE evd[EVDS_MAX]; /**< the first is b->recv */
	DAT_EP_HANDLE client[CROWD_MAX];
	DAT_EP_HANDLE server[CROWD_MAX];
};

extern struct crowd crowd;

/** Open both adapters and connect @p n pairs; a queue of @p depth buffers, dispatchers of @p evd_len events. */
void crowd_open(unsigned int n, DAT_COUNT depth, DAT_COUNT evd_len, unsigned int evds);
/** The connected pair of the rig is the first of @p n; connect the others beside it, on its dispatchers. */
void crowd_join(unsigned int n);
/** Make the endpoints of pair @p i those of a and b, and its recv dispatcher that of b. */
void crowd_pick(unsigned int i);
/** Which pair a server's endpoint belongs to. */
unsigned int crowd_index(DAT_EP_HANDLE ep);

#define NUMBER_LEN 8 /**< which pair, which of its messages: what begins a numbered message */

/** Pair @p i sends @p length bytes from a place of a's buffer: its message @p number. The cookie is @p i. */
void crowd_send(unsigned int i, uint32_t number, size_t place, DAT_VLEN length);
/**
 * The next completion of a dispatcher is a numbered message for the endpoint that it names. Its buffer, which its cookie
 * counts in slots of @p slot_len, is posted again. @return which pair; *number: which of its messages.
 */
unsigned int crowd_receive(DAT_EVD_HANDLE evd, size_t slot_len, uint32_t *number);

#endif
