/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CONF_STAGE_H
#define ROCE_TEST_CONF_STAGE_H

/**
 * @file
 * The stage that a rule is played on: one real engine with one queue pair, and keys of every sort; its peer is the
 * rule. Frames are told as the rule tells them: an opcode, a PSN counted from the first one, and what differs from
 * the ordinary.
 */

#include <stdbool.h>
#include <stdint.h>

#include "../unit/fixture.h"

#define STAGE_REMOTE UINT64_C(0x7f0000000000) /**< where "va 0" of our own requests is */
#define STAGE_RKEY   0x99u                    /**< the key they name */
#define STAGE_FRAMES 600u

/** The options of a rule. */
struct stage_options {
	uint64_t depth; /**< READs and atomics of the peer at a time */
	uint64_t rd;    /**< of ours */
	uint64_t retry;
	uint64_t rnr_retry;
	uint64_t rnr_timer;
	uint64_t timeout;
	uint64_t receives;   /**< posted at the start */
	uint64_t size;       /**< bytes of each */
	uint64_t psn;        /**< first one of both directions */
	uint64_t hard;       /**< high watermark of receives taken */
	uint64_t own;        /**< a receive queue of its own: gives credits */
	uint64_t extensions; /**< both ends have agreed on the provider's extensions */
};

#define STAGE_IOVA UINT64_C(0x10000)

enum stage_key {
	KEY_ALL,    /**< every right to the whole memory */
	KEY_ZERO,   /**< 0 */
	KEY_TAG,    /**< the first one with one bit of its tag turned over */
	KEY_DEAD,   /**< of a region that is gone */
	KEY_LOCAL,  /**< no remote right */
	KEY_NOREAD, /**< all rights but one */
	KEY_NOWRITE,
	KEY_NOATOMIC,
	KEY_IOVA,    /**< every right to the whole memory, whose first address is STAGE_IOVA */
	KEY_OTHER,   /**< another protection domain */
	KEY_WINDOW,  /**< a window bound to the first two packets of the memory */
	KEY_FOREIGN, /**< a window of the other protection domain */
	KEYS,
};

struct stage {
	struct fx_end end;
	struct fx_peer peer;
	struct stage_options options;
	struct roce_qp *qp;
	struct roce_pd *other_pd;
	struct roce_mr *mr[KEYS];
	struct roce_mw *mw[2]; /**< of KEY_WINDOW and KEY_FOREIGN */
	uint32_t key[KEYS];
	unsigned int frames; /**< sent by the engine and not looked at yet */
	unsigned int looked;
	struct rte_mbuf *frame[STAGE_FRAMES];
};

/** A frame as a rule tells it. PSNs are relative. */
struct stage_frame {
	int32_t psn;
	int32_t last;  /**< of several alike; psn when it is one */
	int32_t acked; /**< by the acknowledgement that a request carries */
	uint64_t va;
	uint64_t original;
	uint64_t add; /**< or swap; of a SACK: the first word of its map */
	uint64_t compare;
	int64_t from; /**< payload is the memory there; negative: not looked at */
	uint32_t len;
	uint32_t dma;
	uint32_t key;
	uint32_t msn;
	uint8_t opcode;
	uint8_t syndrome;
	bool ack;
	bool solicited;
	bool msn_told;
	bool marked; /**< by the network: congestion */
};

void stage_open(struct stage *s, const struct stage_options *options);

/** Ends all; what is left over fails. */
void stage_close(struct stage *s);

/** The peer sends it. */
void stage_hear(struct stage *s, const struct stage_frame *f);

/** Collect what the engine sends now. */
void stage_poll(struct stage *s);

/** Move the clock by @p us, from deadline to deadline, collecting what is sent. */
void stage_wait(struct stage *s, uint64_t us);

/** How the oldest frame not looked at differs from this one, with this PSN; NULL: not at all, and it was looked at. */
const char *stage_differs(struct stage *s, const struct stage_frame *f, int32_t psn);

/** The byte at @p offset of the memory at the start. */
uint8_t stage_byte(uint32_t offset);

/** A frame in words, for failure messages. */
const char *stage_tell(struct stage *s, struct rte_mbuf *m);

/** Name of an opcode in rules; "?" when rules have none for it. */
const char *stage_opcode_name(uint8_t opcode);

/** @return false: no such name. */
bool stage_opcode_of(const char *name, uint8_t *opcode);

#endif
