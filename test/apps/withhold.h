/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_WITHHOLD_H
#define TEST_WITHHOLD_H

/**
 * @file
 * A dispatcher that seems empty to the program under test, because this dat_evd_dequeue() takes the place of libdat's. Included by
 * one file of a program.
 */

#include <dlfcn.h>

#include <dat/udat.h>

/** The dispatcher, whose events seem not to have come yet; DAT_HANDLE_NULL: none. */
static DAT_EVD_HANDLE withheld;

DAT_RETURN
dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN (*theirs)(DAT_EVD_HANDLE, DAT_EVENT *);

	if (withheld != DAT_HANDLE_NULL && evd == withheld)
		return DAT_QUEUE_EMPTY;
	*(void **)&theirs = dlsym(RTLD_NEXT, "dat_evd_dequeue");
	return theirs(evd, event);
}

#endif
