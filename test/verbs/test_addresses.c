/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices on one port, each with addresses of its own, and their contexts: the port hears what it says, so one is the
 * peer of the other.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

#define RING "port=net_ring0 "
#define ONE  RING "ip=192.0.2.1/24 ip=2001:db8::1/64"
#define TWO  RING "ip=192.0.2.2/24 ip=2001:db8::2/64"

static const uint8_t ip_b6[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 };

static void
want_refused(const char *params, int want, const char *word)
{
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc = roce_device_open(params, &device, errmsg, sizeof(errmsg));

	if (rc != want || strstr(errmsg, word) == NULL)
		fail_msg("%s: %d %s", params, rc, errmsg);
	assert_null(device);
}

static void
open_end(struct end *end, const char *params, struct roce_cm_id **listener)
{
	end_join(end, open_device(params));
	end->qp = end_qp(end, NULL);
	ok(roce_cm_id_create(end->context, end, &end->id));
	ok(roce_cm_id_create(end->context, end, listener));
	ok(roce_cm_id_listen(*listener, PORT, 4));
}

static void
close_end(struct end *end, struct roce_cm_id *listener)
{
	struct roce_device *device = end->device;

	roce_cm_id_destroy(listener);
	end_leave(end);
	roce_device_close(device);
}

/* From a to b, at that address of b; every event and message is where it belongs. */
static void
talk(struct pair *pair, const uint8_t ip[16])
{
	struct roce_cm_conn_param param = param_of(pair->a.qp, NULL),
				  answer = param_of(pair->b.qp, NULL);
	struct roce_cm_event_info event;

	ok(roce_cm_id_connect(pair->a.id, ip, PORT, &param, UINT64_MAX));
	event = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(event.user, &pair->b);
	/* The source is of the same family, and who asks has one of each. */
	assert_int_equal(event.remote_ip[15], 1);
	assert_memory_equal(event.remote_ip, ip, 12);
	roce_cm_id_destroy(pair->b.id);
	pair->b.id = event.id;
	ok(roce_cm_id_accept(event.id, &answer));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	memset(pair->a.memory, 0x5a, 5000);
	ok(post_recv(&pair->b, pair->b.qp, 1, 8192, 8192));
	ok(post_send(&pair->a,
			(struct roce_wr){ .wr_id = 2,
					.opcode = ROCE_WR_SEND,
					.flags = ROCE_WR_SIGNALED },
			0, 5000));
	assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).byte_len, 5000);
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	assert_memory_equal(pair->b.memory + 8192, pair->a.memory, 5000);
	want_quiet(pair, &pair->a);
}

static void
contexts__have_the_addresses_of_their_devices(void **state)
{
	static const uint8_t *const ways[] = { ip_b, ip_b6 };
	struct roce_cm_id *listener[2];
	struct roce_device_attr attr;
	struct pair pair = { 0 };

	for (unsigned int i = 0; i < 2; i++) {
		open_end(&pair.a, ONE, &listener[0]);
		open_end(&pair.b, TWO, &listener[1]);
		roce_device_query(pair.a.device, &attr);
		assert_memory_equal(attr.ip, ip_a, sizeof(ip_a));
		roce_device_query(pair.b.device, &attr);
		assert_memory_equal(attr.ip, ip_b, sizeof(ip_b));
		talk(&pair, ways[i]);
		/* The end that opened the port may go first: the port stays with the other. */
		close_end(i == 0 ? &pair.a : &pair.b, listener[i]);
		settle(i == 0 ? &(struct pair){ .a = pair.b, .b = pair.b }
			      : &(struct pair){ .a = pair.a, .b = pair.a });
		close_end(i == 0 ? &pair.b : &pair.a, listener[1 - i]);
	}
}

static void
listen__is_at_the_addresses_of_the_context(void **state)
{
	struct roce_cm_id *listener[2], *third = NULL;
	struct pair pair = { 0 };
	struct roce_device *same, *both;
	struct roce_context *context;

	open_end(&pair.a, ONE, &listener[0]);
	open_end(&pair.b, TWO, &listener[1]);
	same = open_device(TWO);
	both = open_device(RING "ip=192.0.2.7/24 ip=192.0.2.1/24");
	ok(roce_context_create(same, &context));
	ok(roce_cm_id_create(context, NULL, &third));
	assert_int_equal(roce_cm_id_listen(third, PORT, 1), -EADDRINUSE);
	ok(roce_cm_id_listen(third, PORT + 1, 1));
	roce_cm_id_destroy(third);
	ok(roce_context_destroy(context));
	ok(roce_context_create(both, &context));
	ok(roce_cm_id_create(context, NULL, &third));
	assert_int_equal(roce_cm_id_listen(third, PORT, 1), -EADDRINUSE);
	roce_cm_id_destroy(listener[0]);
	ok(roce_cm_id_listen(third, PORT, 1));
	roce_cm_id_destroy(third);
	ok(roce_context_destroy(context));
	roce_device_close(same);
	roce_device_close(both);
	close_end(&pair.b, listener[1]);
	close_end(&pair.a, NULL);
}

/* All but the addresses is the port's, and said by everybody in the same words. */
static void
open__says_what_does_not_go_together(void **state)
{
	struct roce_device *one = open_device(RING "ip=192.0.2.1/24 gw=192.0.2.9"), *more[7];
	char params[256];

	want_refused(RING "ip=192.0.2.2/24", -EBUSY, "net_ring0");
	want_refused(RING "ip=192.0.2.2/24 gw=192.0.2.8", -EBUSY, "net_ring0");
	want_refused(RING "ip=192.0.2.2/24 gw=192.0.2.9 mtu=1024", -EBUSY, "net_ring0");
	want_refused(RING "gw=192.0.2.9", -EINVAL, "ip=");
	want_refused(RING "ip=192.0.2.1/25 gw=192.0.2.9", -EBUSY, "prefix");
	want_refused(RING "ip=198.51.100.1/24 gw=192.0.2.9", -EINVAL, "gw=");
	want_refused(RING "ip=192.0.2.9/24 gw=192.0.2.9", -EINVAL, "gw=");
	/* The same addresses are the same device; in another order the first of them is another. */
	more[0] = open_device(RING "ip=192.0.2.1/24 gw=192.0.2.9");
	assert_ptr_equal(more[0], one);
	roce_device_close(more[0]);
	/* Eight are the most, and one that goes makes room. */
	for (unsigned int i = 0; i < 7; i++) {
		snprintf(params, sizeof(params), RING "ip=192.0.2.%u/24 gw=192.0.2.9", 20 + i);
		more[i] = open_device(params);
	}
	want_refused(RING "ip=192.0.2.30/24 gw=192.0.2.9", -EBUSY, "8");
	roce_device_close(more[3]);
	more[3] = open_device(RING "ip=192.0.2.30/24 gw=192.0.2.9");
	for (unsigned int i = 0; i < 7; i++)
		roce_device_close(more[i]);
	roce_device_close(one);
	/* The port is nobody's any more: it is opened with what somebody likes. */
	one = open_device(RING "ip=192.0.2.1/25");
	roce_device_close(one);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts__have_the_addresses_of_their_devices),
		cmocka_unit_test(listen__is_at_the_addresses_of_the_context),
		cmocka_unit_test(open__says_what_does_not_go_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
