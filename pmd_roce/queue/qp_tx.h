/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_QP_TX_H
#define ROCE_QUEUE_QP_TX_H

/**
 * @file
 * The requester's part of a queue pair: cursors, window and timers; the rate limiter; what is known of timeouts.
 */

#include <stdbool.h>
#include <stdint.h>

#include "queue/timer.h"

#define ROCE_WINDOW       128u /**< PSNs in flight at the most */
#define ROCE_ACKREQ_EVERY 32u  /**< frames between two requests for an acknowledgement */

/** Most packets of an answer: half of the PSNs, less a window, so that "behind" and "ahead" stay certain. */
#define ROCE_READ_PACKETS_MAX ((1u << 23) - 2 * ROCE_WINDOW)

struct roce_qp_tx {
	uint32_t next;   /**< slot of the request sent next */
	uint32_t tail;   /**< slot of the oldest unacknowledged request */
	uint32_t begun;  /**< one behind the newest request of which a frame was ever sent */
	uint32_t psn;    /**< of the next frame */
	uint32_t una;    /**< oldest unacknowledged */
	uint32_t max;    /**< one behind the newest PSN ever sent */
	uint32_t offset; /**< bytes of request next that were sent */
	uint32_t ssn;    /**< messages begun: sequence number of request next, 24 bits */
	uint32_t limit;  /**< last ssn the peer has a receive for */
	uint32_t silent; /**< frames since the last acknowledge request */
	uint32_t timed_psn;
	uint32_t taken;    /**< rx.taken when requests were sent last (lone.h) */
	uint64_t timed_at; /**< when timed_psn left; 0: no measurement runs */
	uint64_t timeout_at; /**< retransmit when nothing is acknowledged until then; ROCE_NEVER: nothing in flight */
	uint64_t limit_at; /**< local ACK timeout */
	uint64_t heard_until; /**< how long other answers may put off limit_at; 0: none came since the last progress */
	uint64_t rnr_at;      /**< receiver not ready: be silent until then; 0: it is ready */
	uint64_t rto;         /**< retransmission timeout now, ticks */
	uint64_t ack_timeout; /**< local ACK timeout, ticks; 0: none */
	uint32_t srtt;        /**< smoothed round trip, ticks, 0: none measured */
	uint32_t rttvar;
	uint32_t probe; /**< ticks without an answer until una alone is sent again; 0: that is not done */
	uint32_t nak_psn; /**< rewound to by the last sequence NAK */
	uint16_t window;  /**< PSNs that may be in flight now, 1..ROCE_WINDOW */
	uint16_t threshold; /**< below it the window doubles with each round trip, above it grows slowly */
	uint8_t retries; /**< local ACK timeouts left */
	uint8_t rnr_retries;
	bool limited;       /**< the peer gives credits */
	bool credits_known; /**< the peer has said whether it does */
	bool draining;
	bool nak_seen;   /**< nak_psn is valid: nothing was acknowledged since */
	uint8_t listed;  /**< enum roce_listed; atomic */
	bool prot_error; /**< request next is not sent: its memory is gone, or it fails on purpose */
	bool fence_wait; /**< request next waits for the answer to a READ or atomic */
	bool paced;      /**< cold.dcqcn limits what is sent */
	uint8_t probes; /**< not 0: at timeout_at una alone is sent again; at most so many are left (retry.c) */
	bool repairing; /**< cold.repair knows of something */
	bool repeats;   /**< and of something that is to be sent again */
	bool piggyback; /**< the peer takes acknowledgements in requests (piggyback.h) */
	uint8_t lone; /**< visits in a row that sent one frame into an empty window, at most ROCE_LONE_ENOUGH (lone.h) */
	uint8_t quick; /**< acknowledgements in a row that a request followed at once, at most ROCE_QUICK_ENOUGH */
	uint32_t reads; /**< READs and atomics of which a frame was ever sent, not yet answered */
	uint64_t quick_until; /**< a request until then answers what was acknowledged last, or is to be; 0: that was done */
	struct roce_timer timer;
};

/** The rate limiter of a queue pair (dcqcn.h). Rates in bytes per second, times in ticks. */
struct roce_dcqcn {
	uint64_t current;
	uint64_t target;      /**< where the recovery leads */
	uint64_t period_end;  /**< when the next step is due */
	uint64_t reduced_at;  /**< last reduction */
	uint64_t credited_at; /**< what was earned until then is in credit */
	uint64_t resume_at;   /**< no token is left until then; 0: there are some */
	int64_t credit;       /**< bytes that may go now; less than 0: too many went */
	uint32_t sent;        /**< bytes since the last volume was full */
	uint32_t alpha;       /**< how congested, of ROCE_DCQCN_ALPHA_ONE */
	uint8_t periods;      /**< steps of each clock since the last reduction, saturated */
	uint8_t volumes;
};

/** Selective repeat (repair.h): bit i is PSN una + i. All zero: all frames go in order. */
struct roce_repair {
	unsigned __int128 held;     /**< the peer has them */
	unsigned __int128 lost;     /**< to be sent again */
	unsigned __int128 older;    /**< sent again, and not known to have arrived */
	unsigned __int128 newer;    /**< the same, and sent after all of the older ones */
	unsigned __int128 late;     /**< overtaken, and not lost yet (reorder.h) */
	unsigned __int128 later;    /**< overtaken since some are in late */
	unsigned __int128 answered; /**< answers to READs that came ahead of one that is missing */
	unsigned __int128
			numbered; /**< those with a repeat number; it counts where older or newer have the packet */
	uint8_t number[128]; /**< their repeat numbers, by the last bits of the PSN */
	uint8_t last_number; /**< given last, ever; 0: none was */
	uint32_t older_before; /**< one behind the newest PSN when the last one of older was sent again */
	uint32_t newer_before;
	uint32_t newer_last; /**< PSN that was sent last of newer */
	bool older_rises;    /**< they were sent in the order of their PSNs */
	bool newer_rises;
	uint64_t probed_at; /**< when una alone was sent again; 0: not since the last progress */
	uint64_t late_since;
	uint64_t later_since; /**< the newest of them */
	bool blind;           /**< frames were sent again for silence since the last progress */
};

#define ROCE_REORDER_REPEATS 8u

/** Reordering window (reorder.h). */
struct roce_reorder {
	uint32_t repeated
			[ROCE_REORDER_REPEATS]; /**< PSNs sent again last because later ones had arrived */
	uint16_t unheard; /**< duplicates to come until frames are waited for again */
	uint8_t next;     /**< of repeated, the oldest */
	uint8_t quarters; /**< of a round trip, that a frame may be late */
	uint8_t losses; /**< waits in vain, less those that ended well, since the window was narrowed */
};

/** Cost of timeouts (recovery.h); all zero when a connection begins. */
struct roce_recovery {
	uint64_t rate_at;       /**< answers are counted since then */
	uint64_t stalled_since; /**< last progress before the first of the timeouts at psn */
	uint64_t silence;       /**< ticks from there to the next progress */
	uint64_t repeated_at;   /**< last timeout at psn */
	uint64_t lost_at;       /**< when the last loss was known */
	uint32_t answers;       /**< frames of answers to READs counted */
	uint32_t answer_ticks;  /**< that one of them took lately; 0: not measured yet */
	uint32_t behind; /**< of the answer to a READ that came last behind that loss; else where the loss is */
	uint32_t psn;       /**< oldest unacknowledged at the last timeout */
	uint32_t repeats;   /**< timeouts at psn whose repeat did not show that it was needless */
	uint16_t window;    /**< before the first of them */
	uint16_t threshold; /**< the same */
	uint8_t lossy;      /**< samples to come until no loss is expected any more */
	bool silent;        /**< no progress since the last timeout */
};

#endif
