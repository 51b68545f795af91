/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd.h"

#include "cli.h"

int
cli_evd_create(DAT_IA_HANDLE ia, uint64_t qlen, DAT_EVD_FLAGS flags, const char *whose,
		DAT_EVD_HANDLE *evd)
{
	DAT_RETURN ret = dat_evd_create(ia, (DAT_COUNT)qlen, DAT_HANDLE_NULL, flags, evd);

	if (ret == DAT_SUCCESS)
		return 0;
	*evd = DAT_HANDLE_NULL;
	cli_say_dat(ret, "dat_evd_create for %s", whose);
	return -1;
}

int
cli_evd_take(DAT_EVD_HANDLE evd, const char *whose, DAT_EVENT *event)
{
	DAT_RETURN ret = dat_evd_dequeue(evd, event);

	if (ret == DAT_SUCCESS)
		return 1;
	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
		return 0;
	cli_say_dat(ret, "dat_evd_dequeue for %s", whose);
	return -1;
}
