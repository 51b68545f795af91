/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ROCE_H
#define ROCE_ROCE_H

/**
 * @file
 * RoCEv2 in user space on DPDK: everything of it but DAT.
 */

#include <roce/cm.h>
#include <roce/context.h>
#include <roce/device.h>
#include <roce/verbs.h>

#endif
