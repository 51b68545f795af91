/* SPDX-License-Identifier: BSD-3-Clause */

#include "cnos.h"

DAT_CNO_HANDLE
make_cno_with(const struct end *end, void (*agent)(DAT_PVOID data, DAT_EVD_HANDLE evd), void *data)
{
	DAT_CNO_HANDLE cno;

	ok(dat_cno_create(end->ia, (DAT_OS_WAIT_PROXY_AGENT){ data, agent }, &cno));
	return cno;
}

DAT_CNO_HANDLE
make_cno(const struct end *end)
{
	return make_cno_with(end, NULL, NULL);
}

DAT_EVD_HANDLE
make_fed(const struct end *end, DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, 32, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	return evd;
}

static void
want_fired(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE fired = cno;

	ok(dat_cno_wait(cno, timeout, &fired));
	assert_ptr_equal(fired, evd);
}

void
want_notified(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
	want_fired(cno, 0, evd);
}

void
want_notification(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
	want_fired(cno, DAT_TIMEOUT_INFINITE, evd);
}

void
want_not_notified(DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE fired = cno;

	want_error(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY, 0);
	assert_null(fired);
}
