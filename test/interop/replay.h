/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_REPLAY_H
#define ROCE_TEST_REPLAY_H

/**
 * @file
 * Recorded conversations of two Linux hosts, played again with an engine in the place of one of them.
 *
 * A capture is frames, the connections and flows (pairs of queue pairs) that they belong to, and the messages that
 * each side said. A world is a domain and a connection manager in the place of one side: it hears the frames of the
 * other one at the recorded times, does what the recorded applications did, and every frame that it sends is held
 * against the recorded one. Each difference has a name; the table replay_rules.def says which names are allowed when,
 * and everything else is a failure.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "cm/cm.h"
#include "cm/cm_msg.h"
#include "engine/engine.h"
#include "engine/verbs.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/psn.h"

#define RP_HZ      UINT64_C(1000000000) /**< a tick is a nanosecond */
#define RP_FLOWS   8u
#define RP_REGIONS 16u
#define RP_NEVER   UINT32_MAX

/** Room for the rules of replay_rules.def. */
#define RP_RULES_MAX 96u

/** The client said the first RoCEv2 frame. */
enum rp_side {
	RP_CLIENT,
	RP_SERVER,
	RP_SIDES,
};

struct rp_message;

/** A recorded RoCEv2 frame. */
struct rp_frame {
	uint64_t at;        /**< ticks */
	uint32_t number;    /**< in the file, from 1: as tshark counts */
	struct rte_mbuf *m; /**< holds the bytes that @c pkt leads into */
	struct roce_pkt pkt;
	bool icrc_ok;
	uint8_t from; /**< enum rp_side */
	int flow;     /**< index; negative: general services */
	int conn;     /**< of a management datagram; index; negative: none */
	struct roce_cm_msg msg;
	const struct rp_message *begins; /**< the message that begins here for the first time */
	bool repeats;                    /**< a request that was in an earlier frame */
};

/** A request: a SEND, WRITE, READ or atomic, of as many frames as it takes. */
struct rp_message {
	uint32_t psn;
	uint32_t packets; /**< PSNs it stands for */
	uint32_t length;  /**< bytes */
	uint32_t imm;     /**< as on the wire */
	uint32_t rkey;
	uint64_t va;
	uint64_t swap_or_add;
	uint64_t compare;
	uint8_t verb;   /**< enum roce_verb */
	uint8_t suffix; /**< enum roce_suffix */
	bool solicited;
	uint8_t *data; /**< SEND, WRITE: what was sent; READ, atomic: what was answered, in host order */
	uint32_t data_known; /**< bytes of it that are in the capture */
	uint32_t offset;     /**< of its bytes in the memory of the world that says it */
};

/** Two queue pairs that are connected. Arrays of two are indexed by enum rp_side. */
struct rp_flow {
	uint32_t qpn[RP_SIDES];
	uint32_t psn[RP_SIDES]; /**< first one that this side sends */
	uint32_t mtu;
	bool mtu_known;
	uint16_t sport;
	uint8_t reads[RP_SIDES]; /**< READs and atomics this side may have outstanding */
	uint8_t rnr_retry[RP_SIDES];
	uint8_t rnr_timer[RP_SIDES]; /**< code that this side's RNR NAKs carry */
	uint8_t retry;
	uint8_t ack_timeout;
	bool srq[RP_SIDES];
	bool rnr[RP_SIDES];    /**< this side had no receive at times */
	uint8_t tos[RP_SIDES]; /**< of its frames */
	uint32_t dead_at[RP_SIDES]; /**< index of the first frame that its queue pair never answers; RP_NEVER */
	int conn;                   /**< index; negative: made without connection manager */
	struct rp_message *message[RP_SIDES];
	uint32_t messages[RP_SIDES];
};

/** A connection as its management datagrams tell it. */
struct rp_conn {
	uint32_t id[RP_SIDES];        /**< communication ids; 0: not in the capture */
	uint8_t active;               /**< enum rp_side: who sent the REQ */
	const struct rp_frame *req;   /**< the first one */
	const struct rp_frame *reply; /**< the first REP or REJ; NULL */
	int flow;                     /**< negative: it never came to that */
};

struct rp_capture {
	char name[96]; /**< folder and file, without ".pcap" */
	struct rp_frame *frame;
	uint32_t frames;
	uint32_t foreign; /**< frames that are not RoCEv2 */
	uint32_t bad_icrc;
	struct rte_ether_addr mac[RP_SIDES];
	struct roce_ip ip[RP_SIDES];
	struct rp_flow flow[RP_FLOWS];
	int flows;
	struct rp_conn conn[RP_FLOWS];
	int conns;
};

/** Read a file and find out who talks about what. Fails the test when a frame is not understood. */
void rp_capture_open(struct rp_capture *capture, const char *path, const char *name);
void rp_capture_close(struct rp_capture *capture);

/** Connections and flows of a capture whose frames are read; part of rp_capture_open(). */
void rp_flows_find(struct rp_capture *capture);

/** Messages of both sides of every flow; part of rp_capture_open(). */
void rp_messages_find(struct rp_capture *capture);

/** The first frame of @p from on a flow with that PSN that is a request, or an answer; NULL. Bad ICRCs do not count. */
const struct rp_frame *
rp_frame_find(const struct rp_capture *capture, int flow, uint8_t from, bool request, uint32_t psn);

static inline bool
rp_is_request(const struct rp_frame *frame)
{
	return frame->pkt.op->flags & ROCE_OP_REQUEST;
}

/** Is it an acknowledgement frame with a syndrome of that kind (ROCE_AETH_ACK, ROCE_AETH_NAK, ROCE_AETH_RNR)? */
static inline bool
rp_says(const struct rp_frame *frame, enum roce_aeth_kind kind)
{
	return frame->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE &&
			(roce_aeth_syndrome(roce_pkt_aeth(&frame->pkt)) & ROCE_AETH_KIND_MASK) ==
			kind;
}

static inline const uint8_t *
rp_payload(const struct roce_pkt *pkt)
{
	return rte_pktmbuf_mtod_offset(pkt->m, const uint8_t *, pkt->payload_off);
}

/* ---- differences ---- */

/** The result of one replay. */
struct rp_result {
	uint32_t recorded; /**< frames of the side that the engine took */
	uint32_t matched; /**< of which the engine sent its own, the same but for what the rules allow */
	uint32_t count[RP_RULES_MAX]; /**< differences by rule, rp_rules() of them */
};

uint32_t rp_rules(void);
const char *rp_rule_name(uint32_t index);
const char *rp_rule_reason(uint32_t index);

/** Options of a side's programs, as far as its frames show: bytes of a receive, local ACK timeout code (0: none). */
uint32_t rp_recv_len(const struct rp_capture *capture, uint8_t me);
uint8_t rp_ack_timeout(const struct rp_capture *capture, int flow, uint8_t me);

/** Failures so far, of all replays: differences that no rule allows. */
uint32_t rp_failures(void);

struct rp_world;

/** Where something differs. */
struct rp_place {
	struct rp_world *world;
	const struct rp_frame *frame; /**< recorded; NULL: none */
	int flow;                     /**< negative: none, or not known */
	int conn;                     /**< the same */
	uint64_t ours;
	uint64_t recorded;
};

/** Does this rule hold there? */
bool rp_rule_allows(uint32_t index, const struct rp_place *place);

void rp_differ_at(const struct rp_place *place, const char *name);

struct rp_end;

/** The same, about a message of one side of a flow. */
void rp_differ_message(struct rp_end *end, const char *name, uint8_t from,
		const struct rp_message *message, uint64_t ours);

/** Does an answer of @p from until then acknowledge that PSN of the other side? */
bool
rp_covered(const struct rp_capture *capture, int flow, uint8_t from, uint32_t psn, uint64_t until);

/** Has that side refused a message for good, or should it have? */
bool rp_refused(const struct rp_capture *capture, int flow, uint8_t me);

/** The completion status that the recorded request of @p me had. */
uint8_t rp_recorded_status(const struct rp_capture *capture, int flow, uint8_t me, uint32_t psn);

/** Did the other side say something until then that answers this management datagram? */
bool rp_mad_answered(const struct rp_capture *capture, const struct rp_frame *said, uint64_t until);

/**
 * Something differs.
 *
 * @param name   of the difference: a rule's, when it is allowed.
 * @param frame  number of the recorded frame; 0: none.
 */
void rp_differ(struct rp_world *world, const char *name, uint32_t frame, uint64_t ours,
		uint64_t recorded);

/** replay_sides.c: did the recorder see all that this side heard and said? */
bool rp_side_is_whole(const struct rp_capture *capture, enum rp_side me);

/* ---- a world ---- */

/** Memory of the engine's side that the other one has a key for. */
struct rp_region {
	uint32_t rkey; /**< recorded */
	uint64_t base; /**< recorded address of the first byte */
	uint64_t size;
	uint8_t *memory;
	uint8_t *known; /**< by byte: it is there because the peer wrote it, or was read before */
	struct roce_mr *mr;
};

#define RP_RECVS 64u

/** The engine's end of a flow. */
struct rp_end {
	struct rp_world *world;
	int index; /**< of the flow */
	struct roce_qp *qp;
	bool broken;
	uint32_t posted; /**< receives, not completed */
	uint32_t heard;  /**< messages of the peer whose receive is done */
	uint32_t done;   /**< messages of ours that are done */
	uint32_t said;   /**< posted */
	uint32_t sent;   /**< PSN behind the last one sent */
	uint32_t answer; /**< first recorded answer that ours were not held against: index of a frame */
	uint64_t write_va; /**< of the peer's WRITE: where its next frame goes */
	uint32_t write_rkey;
	uint32_t write_psn; /**< of the peer's next request */
	bool waits;         /**< a message found no receive, and is awaited again */
	uint32_t waits_psn; /**< of that message */
};

struct rp_link {
	struct roce_cm_conn *conn;
	uint32_t id;  /**< ours; 0: not known yet */
	uint64_t tid; /**< of our REQ */
};

struct rp_world {
	const struct rp_capture *capture;
	uint8_t me; /**< enum rp_side */
	uint8_t peer;
	uint64_t now;
	uint32_t recv_len;
	struct roce_domain *domain;
	struct roce_engine *engine;
	struct roce_pd *pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct roce_cm *cm;
	struct roce_cm_listener *listener[RP_FLOWS];
	struct rp_link link[RP_FLOWS];
	struct rp_end end[RP_FLOWS];
	struct rp_region region[RP_REGIONS];
	uint32_t regions;
	uint8_t *own; /**< what our requests send and where their answers go */
	struct roce_mr *own_mr;
	uint8_t *recv; /**< RP_RECVS buffers */
	struct roce_mr *recv_mr;
	uint64_t recv_used; /**< bit n: buffer n is posted */
	bool *taken;        /**< by recorded frame: ours was held against it */
	struct rp_result *result;
};

/** Play a capture with an engine in the place of one side. @p result has its counts zeroed. */
void rp_play(const struct rp_capture *capture, enum rp_side me, struct rp_result *result);

/* Parts of a world, in files of their own. */

/** replay_memory.c: regions for the recorded keys; memory for what is said and received. */
void rp_memory_open(struct rp_world *world);
void rp_memory_close(struct rp_world *world);
/** The region of a recorded key that holds that memory; NULL. */
struct rp_region *rp_region_find(struct rp_world *world, uint32_t rkey, uint64_t va, uint64_t len);
/** Before a READ or atomic: what the application had there. @p frame is the peer's request, new. */
void rp_memory_recall(struct rp_world *world, const struct rp_frame *frame);
/** After a frame of a WRITE was heard: is it there? */
void rp_memory_check(struct rp_world *world, const struct rp_frame *frame);

/** replay_feed.c: a copy of a recorded frame with our keys, addresses and ids; the ICRC made anew when it changed. */
struct rte_mbuf *rp_feed_copy(struct rp_world *world, const struct rp_frame *frame);
/** A copy of a recorded answer that names another PSN. */
struct rte_mbuf *rp_feed_ack(const struct rp_frame *frame, uint32_t psn);

/** replay_post.c: receives, requests, and what comes of them. */
void rp_post_receives(struct rp_end *end, const struct rp_frame *heard);
void rp_post_message(struct rp_end *end, const struct rp_message *message);
void rp_post_reap(struct rp_world *world);
void rp_post_finish(struct rp_world *world);

/** replay_cm.c: the connection manager of a world and what its applications do. */
void rp_cm_open(struct rp_world *world);
void rp_cm_close(struct rp_world *world);
/** Do what must have been done for our side to send this management datagram. */
void rp_cm_act(struct rp_world *world, const struct rp_frame *frame);
/** Connect the queue pair of a flow; ready to send at once, or later. Engine locked. */
void rp_end_up(struct rp_end *end, bool ready);

/** replay_judge.c: hold a frame of ours against the recorded ones. */
void rp_judge(struct rp_world *world, struct rte_mbuf *m);
/** Report the recorded frames that our side never sent. */
void rp_judge_finish(struct rp_world *world);

/** replay_drops.c: frames that our side heard and did not take. */
void rp_drops_finish(struct rp_world *world);

/** replay_mad.c: field by field. */
void rp_mad_compare(struct rp_world *world, const struct rp_frame *recorded,
		const struct roce_cm_mad *ours);

/* ---- the table ---- */

struct rp_row {
	char name[96];
	uint32_t frames;
	uint32_t foreign;
	bool played[RP_SIDES];
	bool counted; /**< its kinds of frames were counted by those who recorded it */
	bool right;   /**< nothing differs but what the rules allow */
	struct rp_result result[RP_SIDES];
};

/**
 * Print the table and hold it against the page (NULL: only print).
 * @param write  write it into the page when it is another one.
 * @return the page is current.
 */
bool rp_table_check(const struct rp_row *row, uint32_t rows, const char *page, bool write);

/**
 * replay_kinds.c: hold the kinds of frames against the counts of those who recorded them; fails the test when they
 * differ. @return false: nobody counted.
 */
bool rp_kinds_check(const struct rp_capture *capture, const char *folder);

#endif
