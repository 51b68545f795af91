/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_LIVENESS_H
#define CLI_LIVENESS_H

/**
 * @file
 * One client as its server knows it: when it was heard, and which of the server's buffers it has and for how long.
 *
 * A client may have buffers for a limited time. It has one from the first packet of a message to its end, and from there until
 * the answer is acknowledged. Answers are acknowledged in their order, so the oldest is the first to come back.
 *
 * All times are seconds of one clock (clock.h). Used by one thread; begins with zeros.
 */

#include <stdbool.h>
#include <stdint.h>

/** Seconds of silence before a client is asked for a sign of life (keepalive.h), unless something else is wished for. */
#define CLI_KEEPALIVE_S 5
/** Seconds for which a client may acknowledge nothing of what was sent to it, likewise. It may ask to be tried again for ever. */
#define CLI_STALL_S 10
/** The same, for those that have most, while more than half of a server's buffers are with clients. */
#define CLI_SCARCE_STALL_S 1
/** Seconds without a message, after which a place is given to a client that asks for one, likewise. */
#define CLI_IDLE_S 60

struct cli_liveness {
	uint32_t held;     /**< buffers whose answers are not acknowledged */
	uint32_t overdue;  /**< of held, those that were held at due_at already */
	bool asked;        /**< for a sign of life that has not come yet */
	bool begun;        /**< a message is arriving, and has a buffer that held does not count */
	double heard_at;   /**< its last message, or sign of life */
	double message_at; /**< its last message, or the beginning of its connection */
	double moved_at; /**< since then it has acknowledged nothing of what was sent to it, while there was something */
	double due_at; /**< when the last of the overdue before came back; counts while held is not 0 */
	double begun_at; /**< since then the same message arrives */
};

/** Are more than half of a server's buffers with clients? */
struct cli_scarcity {
	bool is_on;
	double since; /**< while it is on */
};

enum cli_stall {
	CLI_STALLS_NOT,
	CLI_STALLS_SILENT, /**< it acknowledges nothing */
	CLI_STALLS_SLOW,   /**< it has not acknowledged in time all that was on its way at once */
	CLI_STALLS_MIDWAY, /**< it does not end its message */
};

/** A message has come; also at the beginning of a connection. */
void cli_liveness_message(struct cli_liveness *l, double now);
/** One buffer more, for the answer to a message; or back from the oldest answer, acknowledged or given up. */
void cli_liveness_hold(struct cli_liveness *l, double now);
void cli_liveness_let_go(struct cli_liveness *l, double now);
/** Something that was sent is acknowledged. */
void cli_liveness_moved(struct cli_liveness *l, double now);
/** The request for a sign of life was posted; it has completed. @param alive  acknowledged; else the connection has ended. */
void cli_liveness_asked(struct cli_liveness *l, double now);
void cli_liveness_answered(struct cli_liveness *l, double now, bool alive);
/** At each look: does a message hold a buffer that is in no completion? */
void cli_liveness_begun(struct cli_liveness *l, double now, bool begun);

/**
 * @param stall_s seconds for which it may be as it is. @param slow_s seconds in which all that is on its way at one moment is to be
 * acknowledged.
 */
enum cli_stall
cli_liveness_stall(const struct cli_liveness *l, double now, double stall_s, double slow_s);

/** @return buffers that it has. */
uint32_t cli_liveness_buffers(const struct cli_liveness *l);

/** At each look. @return Has it been so for CLI_SCARCE_STALL_S? Until then all clients had as long to acknowledge. */
bool cli_scarcity_lasts(struct cli_scarcity *scarcity, double now, bool is_on);

/** Is it time to ask? The server awaits nothing from it, and has not heard it for so long. */
bool cli_liveness_is_silent(const struct cli_liveness *l, double now, double keepalive_s);

#endif /* CLI_LIVENESS_H */
