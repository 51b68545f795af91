/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_COMPAT_H
#define ROCE_PORT_COMPAT_H

/**
 * @file
 * What differs between DPDK 22.11 and later releases.
 */

#include <rte_telemetry.h>
#include <rte_version.h>

/* rte_tel_data_add_dict_u64() got this name in 23.03 and lost the old one in 25.11. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

#endif
