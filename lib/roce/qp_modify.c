/* SPDX-License-Identifier: BSD-3-Clause */

/* A queue pair moved step by step: the engine's part, and the path to the peer, which is the device's. */

#include <errno.h>
#include <string.h>

#include "user.h"

static struct roce_user *
user_of(const struct roce_qp *qp)
{
	struct roce_qp_made made;

	roce_qp_describe(qp, &made);
	/* The queue pair only looks at it; it is the caller's own. */
	return roce_user_of((struct roce_context *)(uintptr_t)made.context);
}

static int
find_path(const struct roce_user *user, const struct roce_qp_mod *mod, struct roce_path *path)
{
	struct roce_ip remote, local;

	memcpy(remote.b, mod->remote_ip, sizeof(remote.b));
	memcpy(local.b, mod->local_ip, sizeof(local.b));
	return roce_device_resolve(user->device, &user->joined.context, &remote, &local, path);
}

int
roce_qp_modify(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	struct roce_user *user = user_of(qp);
	struct roce_path path = { 0 };
	int rc;

	roce_engine_lock(user->engine0);
	roce_user_lock_qp(user, qp);
	rc = roce_qp_may_modify(qp, mod, mask);
	if (rc == 0 && (mask & ROCE_QP_MOD_AV))
		rc = find_path(user, mod, &path);
	if (rc == 0)
		rc = roce_qp_do_modify(qp, mod, mask, &path);
	roce_user_unlock_qp(user, qp);
	roce_engine_unlock(user->engine0);
	return rc;
}

void
roce_qp_query(struct roce_qp *qp, struct roce_qp_mod *mod)
{
	struct roce_user *user = user_of(qp);

	roce_engine_lock(user->engine0);
	roce_user_lock_qp(user, qp);
	roce_qp_show(qp, mod);
	roce_user_unlock_qp(user, qp);
	roce_engine_unlock(user->engine0);
}
