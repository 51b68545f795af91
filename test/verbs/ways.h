/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_VERBS_WAYS_H
#define TEST_VERBS_WAYS_H

/**
 * @file
 * The ways a device may have its port, and what befalls that, for two ends that know nothing of it: a device of its own,
 * a program's queues, a program's hands; frames from pools of the library or of the program.
 *
 * One pair at a time, polled by the test alone.
 */

#include <stdbool.h>

#include <rte_ethdev.h>

#include "rig.h"

enum way_kind {
	WAY_OWN = 1,
	WAY_QUEUES,
	WAY_HANDOVER,
};

/** A way, before a test begins. */
struct way {
	enum way_kind kind;
	bool given;         /**< the program gives the pool of frames to send */
	const char *params; /**< more parameters of both devices */
};

/** The event that befalls it now. A test writes it between two polls. */
struct fate {
	bool cut;     /**< what is sent is lost */
	bool hog;     /**< every free frame of every pool is somebody else's */
	bool b_still; /**< nobody polls b, nor carries to it or from it */
};

extern struct fate fate;

/** For cmocka: *state is a struct way before, and the pair of two ends after. */
int way_open(void **state);
/** Close everything; frames, memory and descriptors are what they were before. */
int way_close(void **state);
/* A test on the static @p way, which its name tells. */
#define way_test(function, way)                                            \
	{                                                                  \
#function ", " #way, function, way_open, way_close, &(way) \
	}
/** For the group: one open and close, so that what stays for ever is there. */
int way_prepare(void **state);

/** The way that the ends' parameters name. */
enum way_kind way_kind(void);
/** Is there a port that ethdev tells of? */
bool way_has_port(void);

/** Frames lost on a wire that is cut. */
unsigned int way_lost(void);
/** Receive bursts of a's port. */
unsigned int way_bursts(void);

/** The driver of a's port says something. */
void way_say(enum rte_eth_event_type event);
/** Both ends' links go down or up: ports say so, and the wire is cut. */
void way_link(bool up);
/** a's port is stopped or started by whose it is; frames that are carried by hand are lost meanwhile. */
void way_start(bool start);
/** a's port is closed by whose it is. */
void way_destroy(void);
/** No room is left on the way from a to b, in frames of nobody's. */
void way_fill(void);

/** Open what a has under its name, once more. @return as roce_device_open(). */
int way_reopen(struct roce_device **device);
/** Both devices anew, after the last user of a's is gone; the pair's ends join it. */
void way_renew(struct pair *pair);

/** All frames that were somebody else's are free again, and nobody takes more. */
void way_release(void);

#endif
