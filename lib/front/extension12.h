/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_EXTENSION12_H
#define FRONT_EXTENSION12_H

/** @file The extension of the provider's table of DAT 1.2. */

#include "front/abi.h"

#include <dat/dat_ib_extensions.h>
#include <roce/dat_ep.h>

extern const DAT_IB_EXTENSION front_ib_extension;

/** Connections without a connection manager: roce/dat_ep.h. */
extern const struct roce_dat_ep_calls front_dat_ep_calls;

#endif
