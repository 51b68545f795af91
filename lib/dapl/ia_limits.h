/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_IA_LIMITS_H
#define DAPL_IA_LIMITS_H

/**
 * @file
 * Limits that dat_ia_query() reports and creation enforces, and the defaults of attributes.
 */

#include <stdint.h>

#include "cm/cm.h"
#include "engine/verbs.h"

#define DAPL_MAX_EPS            16384
#define DAPL_MAX_DTOS           32768 /**< of an endpoint, each direction */
#define DAPL_MAX_IOV            ROCE_SGE_MAX
#define DAPL_MAX_EVD_LEN        (1 << 20)
#define DAPL_MAX_SRQ_LEN        (1 << 20)
#define DAPL_MAX_MESSAGE        INT32_MAX
#define DAPL_MAX_RDMA_READS     64 /**< of an endpoint, each direction */
#define DAPL_DEFAULT_RDMA_READS 4
#define DAPL_MAX_PRIVATE        ROCE_CM_PRIVATE_MAX_REQ
#define DAPL_DEFAULT_DTOS       256
#define DAPL_DEFAULT_IOV        4
#define DAPL_INFINITE           UINT32_MAX /**< timeout */

#endif
