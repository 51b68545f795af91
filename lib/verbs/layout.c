/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The layouts that programs of Debian 12 were compiled with (rdma-core 44, amd64). Headers with others do not compile here:
 * programs that run on this machine have theirs, too.
 */

#include <assert.h>
#include <stddef.h>

#include <infiniband/verbs.h>

#define SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), "size of struct " #type)

SIZE(ibv_device, 664);
SIZE(ibv_context, 328);
SIZE(ibv_context_ops, 256);
SIZE(verbs_context, 648);
SIZE(ibv_pd, 16);
SIZE(ibv_mr, 48);
SIZE(ibv_cq, 128);
SIZE(ibv_cq_ex, 288);
SIZE(ibv_qp, 160);
SIZE(ibv_qp_ex, 352);
SIZE(ibv_srq, 128);
SIZE(ibv_ah, 24);
SIZE(ibv_comp_channel, 16);
SIZE(ibv_port_attr, 52);
SIZE(ibv_device_attr, 232);
SIZE(ibv_device_attr_ex, 400);
SIZE(ibv_gid_entry, 32);
SIZE(ibv_wc, 48);
static_assert(offsetof(struct verbs_context, context) == 320, "the context ends the extended one");
static_assert(offsetof(struct verbs_context, sz) == 312, "its size stands before it");
