/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls libibverbs with any arguments, with any objects alive and in any order: but for pointers to nothing,
 * which no library can judge. No call does harm, each refuses by an errno and changes nothing then, and each request that was
 * accepted completes once.
 */

#include <fcntl.h>

#include "verbs_world.h"

struct vw vw;

int
vw_result(int rc)
{
	BASE_MUST(rc >= 0 && rc < 134 && rc != ENOSYS, "a call returns 0 or an errno of its own");
	return rc;
}

void *
vw_given(void *object)
{
	BASE_MUST(object != NULL || (errno > 0 && errno < 134 && errno != ENOSYS),
			"an object that is not given has a reason");
	return object;
}

struct vw_object *
vw_some(enum vw_kind kind, uint8_t slot)
{
	for (unsigned int i = 0; i < VW_SLOTS; i++) {
		struct vw_object *object = &vw.objects[kind][(slot + i) % VW_SLOTS];

		if (object->any != NULL)
			return object;
	}
	return NULL;
}

static void
open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	vw.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	BASE_MUST(vw.context != NULL, "the device opens");
	(void)fcntl(vw.context->async_fd, F_SETFL, O_NONBLOCK);
}

static void
make(const uint8_t *r)
{
	vw_make((enum vw_kind)(r[15] % VW_KINDS), r);
}

#define MAKE(kind)                                \
	static void make_##kind(const uint8_t *r) \
	{                                         \
		vw_make(kind, r);                 \
	}
MAKE(VW_PD)
MAKE(VW_CQ)
MAKE(VW_MR)
MAKE(VW_MW)
MAKE(VW_SRQ)
MAKE(VW_QP)

static void
end(const uint8_t *r)
{
	const enum vw_kind kind = (enum vw_kind)(r[1] % VW_KINDS);
	struct vw_object *object = vw_some(kind, r[2]);

	if (object != NULL)
		vw_end(kind, object);
}

static void
poll_device(const uint8_t *r)
{
	vw_poll(1 + r[1] % 16u);
}

static void
poll_all(const uint8_t *r)
{
	vw_poll(1 + r[1] % 4u);
	vw_drain();
}

/* All objects, those first that use others: each ends. */
static void
end_all(void)
{
	static const enum vw_kind order[] = { VW_QP, VW_SRQ, VW_CQ, VW_CHANNEL, VW_MW, VW_MR,
		VW_AH };

	for (unsigned int i = 0; i < RTE_DIM(order) * VW_SLOTS; i++) {
		struct vw_object *object = &vw.objects[order[i / VW_SLOTS]][i % VW_SLOTS];

		if (object->any != NULL)
			vw_end(order[i / VW_SLOTS], object);
	}
	/* Parent domains before their domains, whose thread domains come last. */
	for (unsigned int i = 0; i < VW_SLOTS * VW_SLOTS; i++) {
		struct vw_object *object = &vw.objects[VW_PD][i % VW_SLOTS];

		if (object->any != NULL)
			vw_end(VW_PD, object);
	}
	for (unsigned int i = 0; i < VW_SLOTS; i++) {
		if (vw.objects[VW_TD][i].any != NULL)
			vw_end(VW_TD, &vw.objects[VW_TD][i]);
	}
	BASE_MUST(vw_left() == 0, "a program that has ended its objects has none");
}

/* The context is closed with what is left of them: events that were fetched need not be acknowledged. */
static void
close_context(void)
{
	BASE_MUST(ibv_close_device(vw.context) == 0, "a context is closed with all its objects");
	vw.context = NULL;
	memset(vw.objects, 0, sizeof(vw.objects));
	vw.pendings = 0;
	for (uint32_t i = 0; i < vw.posted; i++)
		vw.requests[i].state = VW_GONE;
}

static void
reopen(const uint8_t *r)
{
	if (r[1] & 3)
		return;
	close_context();
	open_context();
}

static const base_step steps[BASE_STEPS] = { make, make_VW_PD, make_VW_CQ, make_VW_MR, make_VW_MW,
	make_VW_SRQ, make_VW_QP, end, end, vw_modify_qp, vw_modify_qp, vw_connect, vw_modify_srq,
	vw_query, vw_query_device, vw_post_send, vw_post_send, vw_post_send, vw_post_recv,
	vw_post_recv, vw_post_srq_recv, vw_wr, vw_wr, vw_bind, vw_poll_cq, vw_notify, vw_get_event,
	vw_ack, vw_async, vw_resize, poll_device, poll_all };

static void
step(const uint8_t *r)
{
	if (r[0] == 0xff)
		reopen(r);
	else
		steps[r[0] % BASE_STEPS](r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_script script;

	if (!base_script_open(&script, data, size))
		return 0;
	vw.posted = 0;
	vw.tight = data[1] & 1;
	vw.dead_key = 0;
	open_context();
	if (data[2] & 1)
		vw_make_pair();
	for (uint32_t i = 1; i < script.records; i++)
		step(base_script_record(&script, i));
	vw_settle();
	if (data[3] & 1)
		close_context();
	else
		end_all();
	if (vw.context != NULL)
		close_context();
	return 0;
}
