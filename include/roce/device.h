/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_H
#define ROCE_DEVICE_H

/**
 * @file
 * RoCEv2 in user space on DPDK: open a device, poll it, close it.
 *
 * A device is a DPDK port with its engines, its connection manager and its
 * neighbour table. Frames that are not RoCEv2 for the device are counted and
 * left alone. No thread is started: engines are polled by roce_device_poll_engine()
 * from the caller's own loop, or by service lcores when `lcores=` asks for it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_device;
struct rte_mbuf;
struct rte_mempool;

/** Attributes of a device. */
struct roce_device_attr {
	char port[64];   /**< DPDK port name */
	char driver[32]; /**< its driver */
	uint8_t mac[6];
	uint8_t ip[16]; /**< first address, IPv6 or IPv4-mapped, network byte order */
	uint32_t mtu;   /**< path MTU, bytes */
	unsigned int engines;
	bool serviced; /**< service lcores poll it, or the program that attached it: nobody else needs to */
	uint8_t retry, rnr_retry, rnr_timer, ack_timeout; /**< of dat.conf: counts and IBTA codes */
	const char *icrc_path;                            /**< how the ICRC is computed */
	const char *dpdk;                                 /**< version of DPDK */
};

#define ROCE_DEVICE_ADDRS_MAX 8 /**< addresses of one device */

/**
 * Open a device, or join it when the same port is open already (then the parameters must be the same, but for `ip=`).
 *
 * Other addresses make another device, on the same port and with the same engines: its contexts connect from them and
 * listen at them, while the port has those of all, eight at most. Of a device that was attached it can be some of those
 * that it was attached with.
 *
 * Starts the EAL when the process has not done so: with UDAPL_ROCE_EAL if set, else with defaults that need
 * neither root nor hugepages. UDAPL_ROCE_PARAMS, when set, holds key=value pairs that override @p params.
 *
 * @param params  blank-separated key=value, as in dat.conf(5); `loss=` (frames of a million) drops frames
 *   that the device sends: a wire between two such devices loses that share both ways.
 * @param errmsg  receives one sentence when the call fails; may be NULL.
 * @return 0; -EINVAL bad parameter; -ENODEV no such port, or the process was forked from one that had
 *   opened a device; -ENOMEM; -EBUSY the port is in use otherwise.
 */
int
roce_device_open(const char *params, struct roce_device **device, char *errmsg, size_t errmsg_len);

/** How a device gets its frames. */
enum roce_attach_mode {
	/** The program configures and starts the port, and leaves one pair of queues an engine to us. */
	ROCE_ATTACH_QUEUES = 1,
	/** The program receives and sends: roce_device_rx() takes what is ours, roce_device_tx() yields what we send. */
	ROCE_ATTACH_HANDOVER
};

#define ROCE_ENGINES_LIMIT 8 /**< engines of one device */

/** To a port of the program's own. Zero is a good value for every field that is not marked as needed. */
struct roce_attach_config {
	const char *name; /**< needed: `port=` of dat.conf and telemetry call it so; no port of DPDK has that name */
	enum roce_attach_mode mode;            /**< needed */
	unsigned int engines;                  /**< 1..ROCE_ENGINES_LIMIT; 0 is 1 */
	uint16_t port_id;                      /**< QUEUES: of ethdev, configured and started */
	uint16_t rx_queue[ROCE_ENGINES_LIMIT]; /**< QUEUES: of engine 0, 1, ... */
	uint16_t tx_queue[ROCE_ENGINES_LIMIT];
	uint8_t mac[6]; /**< HANDOVER, needed: source of our frames. QUEUES: zero is the port's. */
	uint32_t frame_room; /**< HANDOVER: bytes behind the Ethernet header that the way carries; 0 is 1500 */
	/** Ports transmit checksums of IPv4 (RTE_MBUF_F_TX_IP_CKSUM), so that we need not. */
	bool tx_ip_cksum;
	/**
	 * Frames to send come from here, one pool an engine, which may be one and the same: one segment holds the largest
	 * frame. NULL: pools are made. A pool that is empty delays frames, and loses none.
	 */
	struct rte_mempool *pool[ROCE_ENGINES_LIMIT];
	/** `key=value` as of dat.conf(5), without port=, queues= and lcores=. ip= is needed. */
	const char *params;
	/**
	 * Resolve the MAC of the next hop: the peer, or gw= if the peer is in none of the subnets of ip=. Under
	 * the lock of engine 0; of this library it may call roce_device_neighbour_changed() alone. NULL: we ask by ARP
	 * and neighbour discovery, and answer for our addresses.
	 *
	 * @return 0, @p mac is filled; -EAGAIN: roce_device_neighbour_changed() will tell, and it is asked again ten
	 *   times a second, for three seconds; anything else: there is no such host.
	 */
	int (*resolve)(void *arg, const uint8_t ip[16], uint8_t mac[6]);
	/**
	 * QUEUES: frames that came in our queues and are not ours, in order and untouched, ARP and neighbour discovery
	 * among them; they are the program's from here. Called by the thread that polls the engine, or engine 0, under
	 * the engine's lock: it may not call this library. NULL: they are counted and freed.
	 */
	void (*foreign)(void *arg, unsigned int engine, struct rte_mbuf **pkts, uint16_t n);
	void *arg; /**< of both */
	uint32_t flags; /**< HANDOVER: ROCE_ATTACH_*, what is true of all who send our frames; only zero_copy= asks */
};

/** They take frames of several segments, external buffers among them, as RTE_ETH_TX_OFFLOAD_MULTI_SEGS. */
#define ROCE_ATTACH_MULTI_SEGS 0x01
/** They read frames by their addresses, as software does: rte_mbuf.buf_iova of external buffers may mean nothing. */
#define ROCE_ATTACH_NO_IOVA 0x02

/**
 * Make a device of a port that the program has, or of none. The EAL must run; it, the port and its flow rules are left as
 * they are. No thread is started and no signal touched.
 *
 * Such a device is polled by the program alone (lcores= is refused): who waits for an event of it sleeps. Others join
 * it by its name: roce_device_open() with "port=NAME", where other keys may be left out, and dat.conf(5) likewise. The
 * last to close it ends it. Any thread; none of its own.
 *
 * @param config  copied, with its strings; UDAPL_ROCE_PARAMS does not change it, ROCE_FAULTS adds faults.
 * @param errmsg  as for roce_device_open().
 * @return 0; -EINVAL; -ENODEV the EAL does not run, there is no such port or queue, the port is not started, or the
 *   process was forked from one that had opened a device; -EBUSY the name is that of a device or port, or a queue is
 *   that of another device, or the port is a device itself; -ENOMEM.
 */
int roce_device_attach(const struct roce_attach_config *config, struct roce_device **device,
		char *errmsg, size_t errmsg_len);

/**
 * HANDOVER: take what is ours of a burst that the program received. One thread at a time for each engine; it need not be
 * one of the EAL's.
 *
 * Ours are RoCEv2 frames to our addresses, and they are the library's from here on. The others are moved to the front of
 * @p pkts, in order and untouched, ARP and neighbour discovery among them, which we only look at.
 *
 * @param engine  any: a frame for another engine is forwarded to it; RSS or flow rules by UDP port only make that rare.
 * @return how many are left in front; they are the program's. Of a device or engine that is none of HANDOVER: @p n.
 */
uint16_t
roce_device_rx(struct roce_device *device, unsigned int engine, struct rte_mbuf **pkts, uint16_t n);

/**
 * HANDOVER: frames to send, complete from the Ethernet header on. They are the program's from here on, and it sends them
 * in this order, or drops them, as any network does. One thread at a time for each engine. Time passes here: it has to be
 * called also when nothing was received, at the latest at roce_device_deadline(). With @p max 0 only time passes.
 *
 * @return how many, at most @p max; there may be more when it is that many.
 */
uint16_t roce_device_tx(struct roce_device *device, unsigned int engine, struct rte_mbuf **pkts,
		uint16_t max);

/**
 * The program's answer to resolve() is another now: what waits for one asks again when engine 0 is polled next, which
 * roce_device_deadline() says is due. Takes no lock. Any thread.
 */
void roce_device_neighbour_changed(struct roce_device *device);

/**
 * Leave a device; the last one out stops the port, unless it was attached, and frees everything. All its objects must
 * be gone, and no thread may be polling it. Frames that the engines still have are sent if the device takes them at
 * once; with ROCE_ATTACH_HANDOVER they are lost, unless roce_device_tx() was called until it had no more.
 */
void roce_device_close(struct roce_device *device);

void roce_device_query(const struct roce_device *device, struct roce_device_attr *attr);

/**
 * The addresses of a device in the order of `ip=`; of the shared adapter 127.0.0.1 is the last. They stay the same until it
 * is closed. Any thread.
 *
 * @param ip  room for @p max addresses: IPv6 or IPv4-mapped, network byte order.
 * @return how many there are, also when @p max is less: then the first were written.
 */
unsigned int
roce_device_addrs(const struct roce_device *device, uint8_t (*ip)[16], unsigned int max);

/**
 * Does a connection to that address lead back to the device? To its own addresses it does; on the shared adapter also to
 * 127.0.0.0/8, ::1, and the addresses of the host's network interfaces outside the subnets of the uplink. Asks the
 * kernel for the last ones. Any thread.
 *
 * @param ip  as of roce_device_addrs().
 */
bool roce_device_owns_addr(const struct roce_device *device, const uint8_t ip[16]);

/**
 * A counter of the device, summed over its engines; the names are those of telemetry.
 *
 * @param index 0, 1, ...: the counters in a fixed order.
 * @return false: there is none with this index, and nothing was written.
 */
bool roce_device_counter(const struct roce_device *device, unsigned int index, const char **name,
		uint64_t *value);

/**
 * Poll one engine once: receive a burst, let the engine work, send a burst. Returns at once when another
 * thread is polling it, or when there is nothing to receive from: a device of ROCE_ATTACH_HANDOVER.
 *
 * @return frames moved; 0: there was nothing to do.
 */
unsigned int roce_device_poll_engine(struct roce_device *device, unsigned int engine);

/** The former name of roce_device_poll_engine(): an alias, kept for one release. */
unsigned int roce_device_turn(struct roce_device *device, unsigned int engine);

/**
 * Poll one engine until nothing moves or @p budget frames have moved; the last burst may exceed it.
 *
 * @return frames moved.
 */
unsigned int roce_device_work(struct roce_device *device, unsigned int engine, unsigned int budget);

/** Poll until something moved, at most every engine once. @return as roce_device_poll_engine(). */
unsigned int roce_device_poll(struct roce_device *device);

/** Next time (ticks of roce_device_now()) at which a poll is useful without new frames; UINT64_MAX never. */
uint64_t roce_device_deadline(struct roce_device *device);

/**
 * About to sleep until a frame comes: have the device tell of the next, on a descriptor that is readable then (poll(2)).
 * A thread that armed polls the device once more, since a frame that is there already raises no interrupt. Then it
 * sleeps, at the latest until roce_device_deadline(), and disarms in the end. Any thread, any number of them, without locks.
 *
 * @return -1: the device cannot, and there is nothing to disarm; else a descriptor, which stays the device's.
 */
int roce_device_rx_arm(struct roce_device *device);

/** Awake again: count the interrupts. Once for each descriptor that was got. */
void roce_device_rx_disarm(struct roce_device *device);

/** @return true: requests that other threads post end such a sleep, too; else it has to be short. */
bool roce_device_tells_posts(const struct roce_device *device);

/** The clock of the device, and its ticks per second. */
uint64_t roce_device_now(const struct roce_device *device);
uint64_t roce_device_hz(const struct roce_device *device);

#ifdef __cplusplus
}
#endif

#endif
