/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_OPEN_DEVICE_H
#define ROCE_TEST_OPEN_DEVICE_H

/** @file Open a device of libroce in a test of cmocka. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "roce/device.h"

/** @return the device, the caller's. A failure fails the test, and says why. */
static inline struct roce_device *
open_device(const char *params)
{
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc = roce_device_open(params, &device, errmsg, sizeof(errmsg));

	if (rc != 0)
		fail_msg("%s: %d %s", params, rc, errmsg);
	return device;
}

#endif
