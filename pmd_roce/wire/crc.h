/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_CRC_H
#define ROCE_WIRE_CRC_H

/**
 * @file
 * CRC-32 (IEEE 802.3, reflected) of a frame some of whose header bytes count as ones, by the widest carry-less
 * multiplication that the CPU has. Header, mask and payload take one pass, and a payload may be copied in the same
 * pass, into a frame or out of one; for everything else there is ISA-L.
 *
 * The ICRC begins with eight bytes of ones, and the first four and the initial value of a CRC cancel out. So a stream
 * begins with the other four and an initial value of zero. Zeros in front of it change nothing, so it is read in whole
 * blocks that end where it ends.
 */

#include <stdbool.h>
#include <stdint.h>

/** The bits that count as ones: 64 zeros, the mask of a header of at most 64 bytes, zeros. */
#define ROCE_CRC_MASK_AT  64
#define ROCE_CRC_MASK_LEN 192

/** One way of computing it. All of them yield the same. */
struct roce_crc_path {
	const char *name;
	bool (*supported)(void);

	/**
	 * @param stream four bytes that the mask turns into ones, and what follows; the ten bytes in front of it belong
	 *   to the caller as well.
	 * @param len    a multiple of 4, at least 44.
	 * @param mask   of ROCE_CRC_MASK_LEN bytes.
	 * @return the CRC with final inversion.
	 */
	uint32_t (*crc)(const uint8_t *stream, uint32_t len, const uint8_t *mask);

	/**
	 * The same for a stream whose bytes from @p head on are yet to come from @p payload: copies them on the way.
	 *
	 * @param head at least 44.
	 * @param len  of the stream: @p payload_len and up to three bytes of pad, which are zero already, follow the head.
	 */
	uint32_t (*crc_copy_in)(uint8_t *stream, uint32_t head, uint32_t len,
			const uint8_t *payload, uint32_t payload_len, const uint8_t *mask);

	/**
	 * The same for a whole stream: copies the payload in it to @p to on the way.
	 *
	 * @param head at least 44.
	 * @param len  of the stream: @p payload_len and up to three bytes of pad, whatever they are, follow the head.
	 */
	uint32_t (*crc_copy_out)(const uint8_t *stream, uint32_t head, uint32_t len, uint8_t *to,
			uint32_t payload_len, const uint8_t *mask);
};

/** From the widest to the one that every CPU has. NULL: not for this kind of CPU. */
#define ROCE_CRC_PATHS 4
extern const struct roce_crc_path *const roce_crc_paths[ROCE_CRC_PATHS];

/** The first of them that this CPU supports. Chosen when the program starts. */
extern const struct roce_crc_path *roce_crc_best;

#endif
