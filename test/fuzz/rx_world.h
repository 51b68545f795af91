/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_RX_WORLD_H
#define ROCE_FUZZ_RX_WORLD_H

/**
 * @file
 * The world of fuzz_rx: two adapters A and B with traffic between them, queue pairs of A whose peer is played by
 * the script, and a wire that the script rules.
 *
 * Memory of a side is one arena. Its registered regions lie between red zones; each region is there for one
 * purpose, and what nobody may write to must be as it was at the end. All bytes that travel are those of one
 * pattern, and go from an offset to the same offset, so what arrived can be judged without knowing when it left.
 *
 * A forged frame that a real peer might have sent is believed, and then promises about messages are void for that
 * queue pair (tainted); those about memory, counters, frames and other queue pairs are not.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base.h"
#include "queue/qp.h"
#include "queue/stats.h"
#include "oracle.h"

#define RX_HZ      UINT64_C(1000000000)
#define RX_TALKS   8u /**< queue pairs of a side */
#define RX_REAL    4u /**< the first ones: their peer is the other side's */
#define RX_PATTERN 2048u
#define RX_WORDS   64u   /**< bytes that atomics work on, and as many for their answers */
#define RX_SLOT    1024u /**< bytes of a receive, and of the longest message between real peers */
#define RX_SLOTS \
	56u /**< receives of a side: 24 for the shared queue, 8 for each of four queue pairs */
#define RX_RED     256u
#define RX_LOG     64u /**< messages that may be under way in one direction of a talk */
#define RX_FLIGHTS 48u
#define RX_BURST   8u

/** The regions of a side, in the order in which they lie in its arena. */
enum rx_region {
	RX_RECV = 0, /**< receives land here */
	RX_SEND,     /**< sent from; no rights, never written */
	RX_LAND,     /**< for each talk: answers to READs, and behind them those to atomics */
	RX_WRITE,    /**< the peer may write */
	RX_READ,     /**< the peer may read; never written */
	RX_ATOMIC,   /**< for atomics of the peer */
	RX_OTHER,    /**< all rights, in another protection domain; never written */
	RX_DEAD,     /**< had all rights; the region ended; never written */
	RX_UNDER, /**< no rights for peers, but through the window, which is bound to a part of it */
	RX_BIG,   /**< 2 GiB outside the arena, all rights, never looked at */
	RX_REGIONS,
};

#define RX_WINDOW_OFF  256u /**< of what the window is bound to, in RX_UNDER */
#define RX_WINDOW_LEN  1024u
#define RX_WINDOW_KEYS 32u

#define RX_BIG_LEN (UINT64_C(1) << 31)

/** A message of a real talk. */
struct rx_message {
	uint32_t offset;
	uint32_t length;
	uint32_t imm;   /**< or the key that the peer shall end; as on the wire */
	uint8_t opcode; /**< enum ibv_wr_opcode */
};

struct rx_side;

/** One end of a talk. */
struct rx_end {
	struct rx_side *side;
	struct rx_end *peer; /**< NULL: the script */
	struct roce_qp *qp;  /**< NULL: destroyed */
	struct roce_qp_connect connect;
	struct roce_template template; /**< of frames that its peer sends */
	uint8_t talk;
	bool shared;  /**< receives come from the shared queue */
	bool tainted; /**< believed a forged frame */
	bool harmed;  /**< the script did something that costs messages */
	bool dares; /**< asked the peer to end a key, which breaks the connection if it is no window's */
	bool healthy;     /**< nothing is left that could break it: the script is over */
	uint32_t epoch;   /**< of the connection: older frames are forgeries */
	uint32_t posted;  /**< messages, ever */
	uint32_t done;    /**< messages before this one are complete */
	uint32_t heard;   /**< messages of the peer before this one arrived, or use up no receive */
	uint8_t said;     /**< opcode of what this end sent last */
	uint8_t syndrome; /**< of the acknowledgement it sent last */
	struct rx_message log[RX_LOG];
};

struct rx_side {
	uint8_t index;
	unsigned int engines;
	struct roce_domain *domain;
	struct roce_pd *pd;
	struct roce_pd *other_pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct roce_mr *mr[RX_REGIONS];
	uint32_t key[RX_REGIONS];
	uint32_t dead_sum[RX_REGIONS]; /**< of what lay in a region when it ended */
	struct roce_mw *window;
	uint32_t binds;                      /**< ever posted */
	uint32_t window_key[RX_WINDOW_KEYS]; /**< of the latest binds */
	uint8_t *arena;
	uint64_t free_slots; /**< bit per slot */
	uint64_t given;      /**< frames, ever */
	uint32_t overflows;  /**< of completion queues */
	bool misled;         /**< a forgery was believed: what WRITEs left may be anything */
	uint32_t datagrams;  /**< that reached queue pair 1 */
	struct rx_end end[RX_TALKS];
};

/** A frame on the wire, or made by the script. */
struct rx_flat {
	uint32_t len;
	uint32_t epoch;
	uint8_t to; /**< index of a side */
	uint8_t talk;
	bool genuine; /**< as a real peer sent it */
	bool stripped;
	struct base_cut cut;
	uint8_t bytes[BASE_ROOM + 256];
};

struct rx_world {
	struct rx_side side[2];
	uint64_t now;
	uint32_t mtu;
	const uint8_t *config; /**< the record that describes the world */
	uint32_t flights;
	uint32_t burst_len;
	struct rx_flat flight[RX_FLIGHTS];
	struct rx_flat burst[RX_BURST]; /**< frames of the script that wait to be given together */
};

extern struct rx_world rx_world;

/** Byte @p i of everything that travels. */
extern uint8_t rx_pattern[RX_PATTERN];

/* ---- rx_world.c: birth and death ---- */

/** Make the world of a script's first record. */
void rx_open(const uint8_t *config);

/** Destroy what is left, and judge: everything came home, nothing was written that must not be. */
void rx_close(void);

/** Where a region begins, and how long it is. */
uint8_t *rx_region_at(const struct rx_side *side, enum rx_region region);
uint64_t rx_region_len(enum rx_region region);

/** Address of a side; @p v6 its other one. */
struct roce_ip rx_address(uint8_t side, bool v6);

/** A region ends, and nobody may write there; or it is made again, under another key. */
void rx_region_end(struct rx_side *side, enum rx_region region);
void rx_region_make(struct rx_side *side, enum rx_region region);

/** Checksum of a region. */
uint32_t rx_region_sum(const struct rx_side *side, enum rx_region region);

/** Is this the key of a region that is there, and may a peer read it? Or one of the window's. */
bool rx_key_reads(const struct rx_side *side, uint32_t key);

/** Make the queue pair of an end and take it as far as its talk goes at first. */
void rx_end_open(struct rx_end *end);
void rx_end_close(struct rx_end *end);

/** From RESET to RTR, and to RTS when @p ready. */
void rx_end_connect(struct rx_end *end, bool ready);

/** Promises about the messages of this talk are void from now on. */
void rx_end_harm(struct rx_end *end);

/* ---- rx_traffic.c: messages ---- */

/** Post a message to a real or a played peer, as a record says. */
void rx_post_message(struct rx_end *end, const uint8_t *r);

/** Post a bind of the side's window. */
void rx_post_bind(struct rx_end *end, const uint8_t *r);

/** Post up to @p n receives, to the shared queue when @p end is NULL. */
void rx_post_receives(struct rx_side *side, struct rx_end *end, uint32_t n);

/** Take what is in the completion queues, and judge it. @return events. */
uint32_t rx_poll(struct rx_side *side, uint32_t n);

/** Is every message of a talk here, that must be? */
bool rx_all_done(const struct rx_end *end);

/** Are the promises about the messages of this talk still good? */
bool rx_is_sound(const struct rx_end *end);

/* ---- rx_settle.c: the end ---- */

/** When some engine has something to do by itself; ROCE_NEVER. */
uint64_t rx_next_deadline(void);

/** Destroy the queue pairs that may talk for ever: those that were misled, and whose peer is played. */
void rx_dismiss(void);

/** Consumers post receives and take what is complete. @return events. */
uint32_t rx_serve(void);

/** Let a good wire do its work until every message that was promised is here. */
void rx_settle(void);

/* ---- rx_wire.c: frames ---- */

/** Let a side speak: frames to real peers are on the wire then, the others are gone. @return frames. */
uint32_t rx_speak(struct rx_side *side, uint16_t room);

/** Give one frame to a side and judge what becomes of it. */
void rx_give(struct rx_side *side, unsigned int queue, const struct rx_flat *flat);

/** Give the frames that wait, in one burst. */
void rx_give_burst(struct rx_side *side, unsigned int queue);

/** Give the frame at @p index to where it goes; it leaves the wire unless @p keep. */
void rx_deliver(uint32_t index, unsigned int queue, bool keep);

/** Everything on the wire arrives. */
void rx_deliver_all(void);

/** A frame off the wire. */
void rx_lose(uint32_t index);

/* ---- rx_fate.c: what becomes of a frame ---- */

/** Counters, of which exactly one moves for each frame that a side is given; a request that is executed moves none. */
struct rx_fates {
	uint64_t count[25];
};

void rx_fates_read(const struct rx_side *side, struct rx_fates *values);

/** The fate that a frame must have. */
struct rx_expect {
	struct oracle_frame frame;
	const struct rx_end
			*end; /**< where a right ICRC and the right addresses lead; NULL: nowhere */
	bool hears;           /**< the queue pair there is in a state to hear it */
	uint32_t counters;    /**< one of these moves: bits by index in struct rx_fates; 0: any */
	bool foreign;         /**< it comes back */
};

void rx_expect(const struct rx_side *side, const struct rx_flat *flat, struct rx_expect *expect);

/** One of the expected counters moved, by one, and no other. @return did none move: was a request executed? */
bool rx_fates_judge(const struct rx_fates *before, const struct rx_fates *after,
		const struct rx_expect *expect);

/** The sum of what moved. */
uint64_t rx_fates_sum(const struct rx_fates *before, const struct rx_fates *after);

/* ---- rx_forge.c: frames of the script ---- */

/** Make a frame as a record says. */
void rx_forge(const uint8_t *r, struct rx_flat *flat);

/** Change a frame as a part of a record says: three bytes, the field and two of value. */
void rx_patch(struct rx_flat *flat, const uint8_t *r);

/** The network marks a frame that an engine sent: congestion. It stays genuine. */
void rx_mark(struct rx_flat *flat);

/* ---- rx_check.c: what holds at any time ---- */

void rx_check(const struct rx_side *side);

/** READs and atomics of the peer that were never answered to the end. */
uint32_t rx_check_unanswered(const struct roce_qp *qp);

/** Everything about the queue pairs of a side that an ignored frame must leave alone. */
struct rx_shadow {
	struct roce_qp qp[RX_TALKS];
	uint32_t memory; /**< checksum of the arena */
	uint32_t events;
	struct roce_mw_binding binding; /**< of the window; zero: none */
};

void rx_shadow_take(const struct rx_side *side, struct rx_shadow *shadow);
void rx_shadow_judge(const struct rx_side *side, const struct rx_shadow *shadow);

#endif
