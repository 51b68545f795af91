/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_EP_CALLS_H
#define TEST_CONTRACT_EP_CALLS_H

/** @file The calls of ep_states.def, each on the endpoint of the stage. */

#include "stage.h"

#define COOKIE 77 /**< of whatever is posted */

#define EP_CALL(name, ...) DAT_RETURN call_##name(void);
#include "ep_states.def"
#undef EP_CALL

#endif
