/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CM_WORLD_H
#define ROCE_TEST_CM_WORLD_H

/**
 * @file
 * Two connection managers, a wire between them and a clock that only moves when nothing else does.
 *
 * The wire can lose and double chosen frames, counted from the first one sent since world_reset(). One tick
 * is a nanosecond. Each end writes down what it was told and behaves as its `policy` says.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/cm_action.h"
#include "cm/cm_fsm.h"
#include "cm/cm_pvt.h"
#include "cm/cm_table.h"
#include "unit.h"
#include "wire/icrc.h"

#define MS         UINT64_C(1000000)
#define SECOND     UINT64_C(1000000000)
#define LATENCY    UINT64_C(10000)
#define SERVICE    (ROCE_CM_SERVICE_TCP + 7471)
#define EVENTS_MAX 8192
#define FLIGHT_MAX 4096

enum policy {
	POLICY_ACCEPT, /**< from inside the notify */
	POLICY_HOLD,   /**< accept or reject comes later, or never */
	POLICY_REJECT, /**< from inside the notify, with private data */
	POLICY_REFUSE, /**< the notify returns an error */
};

struct told {
	enum roce_cm_event_kind kind;
	struct roce_cm_conn *conn;
	void *owner;
	uint16_t reason;
	uint16_t private_len;
	char private_data[ROCE_CM_PRIVATE_MAX_REP];
	struct roce_cm_param peer;
	struct roce_path path;
	uint64_t at;
};

struct end {
	struct roce_cm *cm;
	struct roce_gsi gsi;
	struct roce_ip ip;
	struct rte_ether_addr mac;
	uint8_t mtu_code;
	uint8_t tos; /**< of its own ways, as is the tag */
	uint16_t vlan_tci;
	enum policy policy;
	int resolve_rc;
	unsigned int resolves;
	int reply_rc;
	uint32_t next_qpn;
	bool end_on_up;       /**< disconnect from inside ESTABLISHED */
	bool release_on_down; /**< release from inside DISCONNECTED, REJECTED, TIMED_OUT, UNREACHABLE */
	/** More to do inside a notify; may be NULL. */
	void (*also)(struct end *end, const struct roce_cm_event *event);
	unsigned int events;
	struct told told[EVENTS_MAX];
};

struct flight {
	struct rte_mbuf *m;
	struct end *to;
	uint64_t at;
};

struct world {
	struct end end[2];
	uint64_t now;
	uint64_t sent;  /**< frames since the reset */
	uint64_t lose;  /**< bit n: frame n is lost */
	uint64_t twice; /**< bit n: frame n comes twice */
	bool lose_all;
	uint16_t burst;
	unsigned int flying;
	struct flight flight[FLIGHT_MAX];
	uint8_t last[512]; /**< the last frame sent, lost or not */
	uint32_t last_len;
	long allocated;
	long alloc_fails_at; /**< this many allocations from now succeed; negative: all */
};

/** The world of the rule that runs, and its ends: setup() makes it, teardown() ends it. */
extern struct world *world;
extern struct end *active, *passive;

int setup(void **state);
int teardown(void **state);

/** End the world, with every byte and every frame home, and begin another. */
void world_again(void);

struct end *other(struct end *end);

/** The parameters that an end offers: a queue pair number of its own each time. */
struct roce_cm_param offer(struct end *end, const char *text);

bool is_down(enum roce_cm_event_kind kind);

struct roce_cm_config world_config(struct end *end);

/** Forget what was told and how the wire behaves; connections stay. */
void world_reset(void);

/** Give a frame to an end; the frame is freed. */
void world_deliver(struct end *to, struct rte_mbuf *m);

/** Everything that can happen now: speak, deliver. @return true when something did. */
bool world_poll(void);

/** When something will happen next. */
uint64_t world_next(void);

/** Let time pass until @p until, or until nothing will happen any more. */
void world_run(uint64_t until);

void world_run_ms(uint64_t ms);

/** Run until nothing will happen any more. */
void world_settle(void);

struct roce_cm_listener *world_listen(struct end *end, uint32_t backlog);

/** Begin to connect to the other end. */
struct roce_cm_conn *world_connect(struct end *end, uint64_t timeout_us);

#endif
