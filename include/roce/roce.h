/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ROCE_H
#define ROCE_ROCE_H

/**
 * @file
 * RoCEv2 in user space on DPDK: open a device, turn it, close it.
 *
 * A device is a DPDK port with its engines, its connection manager and its
 * neighbour table. Frames that are not RoCEv2 for the device are counted and
 * left alone. No thread is started: engines are turned by roce_device_turn()
 * from the caller's own loop, or by service lcores when `lcores=` asks for it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_device;
struct roce_domain;
struct roce_cm;

/** What a device is. */
struct roce_device_attr {
	char port[64];   /**< DPDK port name */
	char driver[32]; /**< its driver */
	uint8_t mac[6];
	uint8_t ip[16]; /**< first address, IPv6 or IPv4-mapped, network byte order */
	uint32_t mtu;   /**< path MTU, bytes */
	unsigned int engines;
	bool serviced; /**< service lcores turn it: nobody else needs to */
	uint8_t retry, rnr_retry, rnr_timer, ack_timeout; /**< of dat.conf: counts and IBTA codes */
	const char *icrc_path;                            /**< how the ICRC is computed */
	const char *dpdk;                                 /**< version of DPDK */
};

/**
 * Called under the lock of the engine concerned; see engine/engine.h and cm/cm.h for what may be done inside.
 * A device has one set of upcalls for its whole life: the first opener's.
 */
struct roce_device_upcalls {
	void (*notify)(void *arg, int kind, void *owner, int status); /**< enum roce_notice_kind */
	int (*cm_notify)(void *arg, const void *event);               /**< struct roce_cm_event */
	void *arg;                                                    /**< handed to all */
	void (*wake)(void *arg); /**< behind a notice ROCE_NOTICE_CQ_EVENTS, when the lock was dropped */
};

/**
 * Open a device, or join it when the same port is open already (then the parameters must be the same).
 *
 * Starts the EAL when the process has not done so: with UDAPL_ROCE_EAL if set, else with defaults that need
 * neither root nor hugepages. UDAPL_ROCE_PARAMS, when set, holds key=value pairs that override @p params.
 *
 * @param params  blank-separated key=value, as in dat.conf(5); `loss=` (frames of a million) drops frames
 *   that the device sends: a wire between two such devices loses that share both ways.
 * @param upcalls copied; NULL, and NULL members: nobody wants to know. Ignored when the device is joined.
 * @param why     receives one sentence when the call fails; may be NULL.
 * @return 0; -EINVAL bad parameter; -ENODEV no such port; -ENOMEM; -EBUSY the port is in use otherwise.
 */
int roce_device_open(const char *params, const struct roce_device_upcalls *upcalls,
		struct roce_device **device, char *why, size_t why_len);

/**
 * Leave a device; the last one out stops the port and frees everything. All its objects must be gone, and nobody
 * may be turning it. What the engines still have to say is sent if the device takes it at once.
 */
void roce_device_close(struct roce_device *device);

void roce_device_query(const struct roce_device *device, struct roce_device_attr *attr);

/**
 * A counter of the device, summed over its engines; the names are those of telemetry.
 *
 * @param index 0, 1, ...: the counters in a fixed order.
 * @return false: there is none with this index, and nothing was written.
 */
bool roce_device_counter(const struct roce_device *device, unsigned int index, const char **name,
		uint64_t *value);

/**
 * Turn one engine once: receive a burst, let the engine work, send a burst. Returns at once when another
 * thread is turning it.
 *
 * @return frames moved; 0: there was nothing to do.
 */
unsigned int roce_device_turn(struct roce_device *device, unsigned int engine);

/** Turn until something moved, at most every engine once. @return as roce_device_turn(). */
unsigned int roce_device_poll(struct roce_device *device);

/** Next time (ticks of roce_device_now()) at which a turn is useful without new frames; UINT64_MAX never. */
uint64_t roce_device_deadline(struct roce_device *device);

/** The clock of the device, and its ticks per second. */
uint64_t roce_device_now(const struct roce_device *device);
uint64_t roce_device_hz(const struct roce_device *device);

struct roce_domain *roce_device_domain(struct roce_device *device);
struct roce_cm *roce_device_cm(struct roce_device *device);

#ifdef __cplusplus
}
#endif

#endif
