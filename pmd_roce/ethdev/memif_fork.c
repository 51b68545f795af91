/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A channel ends when nobody has its descriptor any more. A child of fork(2) would have it, too, and hide from the peer
 * that the parent has died, so the proxy's descriptors are closed there.
 */

#include "ethdev/fork.h"
#include "ethdev/memif_pvt.h"

int
roce_memif_close_in_children(int fd)
{
	if (fd >= 0)
		roce_fork_close(fd);
	return fd;
}
