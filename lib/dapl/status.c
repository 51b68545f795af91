/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/status.h"

enum dapl_status
dapl_post_error(int rc)
{
	switch (rc) {
	case 0:
		return DAPL_OK;
	case -ENOSPC:
		return DAPL_NO_ROOM;
	case -EACCES:
		return DAPL_PRIVILEGES;
	case -EPERM:
		return DAPL_PROTECTION;
	case -ERANGE:
	case -EMSGSIZE:
		return DAPL_BAD_SEGMENT;
	case -EINVAL:
		return DAPL_BAD_COUNT;
	case -ENOMEM:
		return DAPL_NO_MEMORY;
	case -EOPNOTSUPP:
		return DAPL_NOT_IMPLEMENTED;
	default:
		return DAPL_INTERNAL;
	}
}
