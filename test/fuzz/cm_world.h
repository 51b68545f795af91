/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_CM_WORLD_H
#define ROCE_FUZZ_CM_WORLD_H

/**
 * @file
 * The world of fuzz_cm: two connection managers that talk with each other over a wire that the script rules,
 * unknown peers that the script plays, and owners of connections who answer as the script told them to.
 *
 * For each connection its owner keeps what it was told, and holds the manager to the grammar of cm.h: what may
 * follow what, what must follow at last, and that nothing follows the end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base.h"
#include "cm/cm_pvt.h"

#define CM_HZ        UINT64_C(1000000000)
#define CM_TABLE     12u /**< connections a manager may have */
#define CM_OWNERS    64u /**< connections that an end remembers; a released one makes room */
#define CM_LISTENERS 4u
#define CM_FLIGHTS   48u
#define CM_SERVICE   (ROCE_CM_SERVICE_TCP + 7000)
#define CM_FRAME     640u

/** The state of a connection as its owner knows it. */
enum cm_phase {
	CM_NOBODY = 0,
	CM_REQUESTED,  /**< a request that waits for accept or reject */
	CM_CONNECTING, /**< active, not up */
	CM_REPLIED,    /**< active: it will be ready later */
	CM_ACCEPTED,   /**< passive, not up */
	CM_UP,
	CM_LEAVING, /**< DISCONNECTED must follow */
	CM_DOWN,    /**< the end was told */
	CM_ENDED,   /**< over, and nothing may be told */
	CM_RELEASED,
};

/** A connection, and the numbers by which a message can name it; they are kept when it is gone. */
struct cm_owner {
	struct cm_end *end;
	struct roce_cm_conn *conn;
	enum cm_phase phase;
	uint32_t local_id;
	uint32_t remote_id;
	uint32_t local_qpn;
	uint32_t remote_qpn;
	uint64_t tid;
	struct roce_ip peer;
};

/** The deeds of owners from inside a notify; two bits each, and three of the reply. */
struct cm_policy {
	uint8_t request; /**< 0 hold, 1 accept, 2 reject, 3 refuse by an error */
	uint8_t reply; /**< 0 take, 1 refuse by an error, 2 disconnect, 3 release, 4 and more take later */
	uint8_t up;   /**< 0 nothing, 1 disconnect, 2 release, 3 connect once more */
	uint8_t down; /**< 0 nothing, 1 release, 2 connect once more, 3 both */
};

struct cm_end {
	uint8_t index;
	struct roce_cm *cm;
	struct roce_gsi gsi;
	struct cm_policy policy;
	int resolve_rc;
	uint32_t next_qpn;
	uint32_t nested;  /**< connects from inside a notify, of which there may not be many */
	uint32_t actions; /**< calls that may make a message go out */
	uint32_t sent;    /**< frames */
	uint32_t told;    /**< notifies */
	struct roce_cm_listener *listener[CM_LISTENERS];
	struct cm_owner owner[CM_OWNERS];
};

struct cm_flat {
	uint32_t len;
	uint8_t to;
	struct base_cut cut;
	uint8_t bytes[CM_FRAME];
};

struct cm_world {
	struct cm_end end[2];
	uint64_t now;
	unsigned int live; /**< allocations of two managers without connections */
	uint32_t flights;
	struct cm_flat flight[CM_FLIGHTS];
};

extern struct cm_world cm_world;

/* ---- cm_world.c: birth, death, frames ---- */

void cm_open(const uint8_t *config);

/** End the world. Memory or frames that are left are a violation. */
void cm_close(void);

struct roce_ip cm_address(uint8_t index);

/** Fetch up to @p room frames of an end and put them on the wire. @return how many. */
uint32_t cm_speak(struct cm_end *end, uint16_t room);

/** Give a frame to an end, as far as the engine would let it come. */
void cm_give(const struct cm_flat *flat);

/** Give the frame at @p index to where it goes; it leaves the wire unless @p keep. */
void cm_deliver(uint32_t index, bool keep);

/* ---- cm_owner.c: consumers ---- */

/** Of struct roce_cm_config. */
int cm_notify(void *arg, const struct roce_cm_event *event);

void cm_connect(struct cm_end *end, const uint8_t *r);
void cm_accept(struct cm_owner *owner);
void cm_ready(struct cm_owner *owner);
void cm_reject(struct cm_owner *owner);
void cm_disconnect(struct cm_owner *owner);
void cm_release(struct cm_owner *owner);

/** The queue pair of a connection was established by data, broke, or was drained. */
void cm_qp_async_event(struct cm_owner *owner, enum roce_engine_async kind);

/** Read the numbers again by which connections can be named. */
void cm_remember(struct cm_end *end);

/** The parameters that an end offers. */
struct roce_cm_param cm_offer(struct cm_end *end);

/* ---- cm_forge.c: messages of the script ---- */

void cm_forge(const uint8_t *r, struct cm_flat *flat);

/* ---- cm_fate.c: the fate of a datagram ---- */

struct oracle_frame;

/** The fate that a datagram must have. */
struct cm_expect {
	bool malformed;                     /**< it is counted as that, and nothing else happens */
	const struct roce_cm_conn *ignored; /**< it names this connection, and is not its peer's */
	struct roce_cm_conn before;         /**< that connection, which stays so */
};

/** @param frame  of @p bytes, as it would come past the engine. */
void cm_expect(const struct cm_end *end, const uint8_t *bytes, const struct oracle_frame *frame,
		struct cm_expect *expect);

/* ---- cm_check.c: what holds at any time ---- */

void cm_check(const struct cm_end *end);

/** Conditions that hold when no frame is under way and no timer is due any more. */
void cm_check_idle(const struct cm_end *end);

#endif
