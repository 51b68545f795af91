/* SPDX-License-Identifier: BSD-3-Clause */
/* The take is inline: it is compiled here, as the engine's sources are, so that its steps are seen. */

#include "world.h"

bool
model_take(struct roce_srq *srq, struct roce_recv *recv)
{
	return roce_srq_take(srq, recv);
}
