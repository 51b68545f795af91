/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_ATOMIC_H
#define FRONT_ATOMIC_H

/** @file The extension of the provider's table. */

#include "front/abi.h"

#if DAT_ABI == 12
#include <dat/dat_ib_extensions.h>
#endif

extern const DAT_IB_EXTENSION FRONT(ib_extension);

#endif
