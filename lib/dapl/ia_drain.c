/* SPDX-License-Identifier: BSD-3-Clause */

/* Poll until something has ended: the connections of an adapter that is closed, frames that hold memory. */

#include <time.h>

#include "cm/cm.h"
#include "dapl/ia.h"
#include "dapl/ia_drain.h"
#include "dapl/ia_list.h"
#include "roce/device.h"

/** Disconnect drain of a closing adapter: polls to send its DREQs, and time that peers get to answer them. */
#define LAST_POLLS          64
#define DISCONNECT_DRAIN_US 250000u
#define NAP_NS              20000L

/* A poll of the device and, where a nap is allowed, of the others; the nap follows when nothing moves. @return frames of our own device. */
static unsigned int
poll_or_nap(const struct dapl_ia *ia, bool nap)
{
	const struct timespec ns = { .tv_nsec = NAP_NS };
	unsigned int moved = ia->attr.serviced ? 0 : roce_device_poll(ia->device);

	if (nap && moved + dapl_ia_poll_others(NULL) == 0)
		nanosleep(&ns, NULL);
	return moved;
}

bool
dapl_ia_await(const struct dapl_ia *ia, bool (*done)(void *arg), void *arg)
{
	uint64_t end = roce_device_now(ia->device) +
			roce_device_hz(ia->device) / US_PER_S * DISCONNECT_DRAIN_US;

	while (!done(arg)) {
		if (roce_device_now(ia->device) >= end)
			return false;
		poll_or_nap(ia, true);
	}
	return true;
}

/* The peers of this process answer only if a thread polls them. */
void
dapl_ia_drain(const struct dapl_ia *ia)
{
	uint64_t end = roce_device_now(ia->device) +
			roce_device_hz(ia->device) / US_PER_S * DISCONNECT_DRAIN_US;
	unsigned int moved, polls = 0;

	do {
		moved = poll_or_nap(ia, roce_cm_leaving(ia->cm) > 0);
	} while ((moved > 0 && ++polls < LAST_POLLS) ||
			(roce_cm_leaving(ia->cm) > 0 && roce_device_now(ia->device) < end));
}
