/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_CRC_PATHS_H
#define ROCE_WIRE_CRC_PATHS_H

/** @file The paths of crc.h, each in a file of its own. */

#include "wire/crc.h"

extern const struct roce_crc_path roce_crc_avx512; /**< x86 alone */
extern const struct roce_crc_path roce_crc_avx2;   /**< x86 alone */
extern const struct roce_crc_path roce_crc_clmul;  /**< x86 alone */
extern const struct roce_crc_path roce_crc_isal;

#endif
