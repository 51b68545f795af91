/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The layouts of librdmacm that programs of Debian 12 were compiled with (rdma-core 44, amd64), as those of verbs in
 * ../layout.c.
 */

#include <assert.h>
#include <stddef.h>

#include <rdma/rdma_cma.h>

#define SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), "size of struct " #type)

SIZE(rdma_cm_id, 416);
SIZE(rdma_cm_event, 80);
SIZE(rdma_addrinfo, 96);
