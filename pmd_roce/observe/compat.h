/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_COMPAT_H
#define ROCE_OBSERVE_COMPAT_H

/**
 * @file
 * Differences between DPDK 22.11 and later releases.
 */

#include <rte_telemetry.h>
#include <rte_version.h>

/* rte_tel_data_add_dict_u64() got this name in 23.03 and lost the old one in 25.11. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* net_bonding calls its devices so since 23.11, in its arguments and its functions, and knows no other name. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
#define ROCE_BOND_MEMBER                "slave"
#define rte_eth_bond_active_members_get rte_eth_bond_active_slaves_get
#else
#define ROCE_BOND_MEMBER "member"
#endif

#endif
