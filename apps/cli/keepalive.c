/* SPDX-License-Identifier: BSD-3-Clause */
#include "keepalive.h"

#include <stddef.h>

DAT_RETURN
cli_keepalive_ask(DAT_EP_HANDLE ep, uint64_t cookie)
{
	const DAT_RMR_TRIPLET nowhere = { .segment_length = 0 };
	const DAT_DTO_COOKIE user_cookie = { .as_64 = cookie };

	return dat_ep_post_rdma_write(
			ep, 0, NULL, user_cookie, &nowhere, DAT_COMPLETION_DEFAULT_FLAG);
}
