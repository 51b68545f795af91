/* SPDX-License-Identifier: BSD-3-Clause */

/* roce_device_rx() looks at most frames of others only for a moment: it finds all that is ours, and what neighbours say. */

#include <rte_common.h>

#include "device/device.h"
#include "device/user.h"
#include "embed.h"
#include "wire/frame.h"

/* RoCEv2 to the device, perhaps behind a tag, perhaps with an option of IP. */
static void
write_ours(struct rte_mbuf *m, bool tagged, bool option)
{
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);

	at[14 + 19] = 2;
	if (option) {
		memmove(at + 38, at + 34, 26);
		memset(at + 34, 1, 4);
		at[14]++;
	}
	if (tagged) {
		memmove(at + 18, at + 14, 46);
		memcpy(at + 12, (uint8_t[6]){ 0x81, 0, 0, 7, 8, 0 }, 6);
	}
}

/* Some bytes are others, mostly such as matter at another place, and it may be shorter. */
static void
spoil(struct rte_mbuf *m)
{
	static const uint8_t matters[] = { 0x00, 0x06, 0x08, 0x11, 0x12, 0x3a, 0x45, 0x46, 0x60,
		0x81, 0x86, 0xb7, 0xdd };
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);

	for (uint32_t n = embed_dice(4); n > 0; n--)
		at[12 + embed_dice(36)] = embed_dice(4) > 0 ? matters[embed_dice(RTE_DIM(matters))]
							    : (uint8_t)embed_dice(256);
	if (embed_dice(8) == 0) {
		m->data_len = (uint16_t)embed_dice(64);
		m->pkt_len = m->data_len;
	}
	if (embed_dice(8) == 0)
		m->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
}

/* As some devices deliver: the headers end in another segment than they begin in. */
static void
cut(struct rte_mbuf *m)
{
	uint16_t first = (uint16_t)(1 + embed_dice(m->data_len - 1u));
	struct rte_mbuf *rest = rte_pktmbuf_alloc(embed_foreign);
	uint8_t *at = rte_pktmbuf_mtod_offset(m, uint8_t *, first);

	assert_non_null(rest);
	rest->data_len = (uint16_t)(m->data_len - first);
	memcpy(rte_pktmbuf_mtod(rest, void *), at, rest->data_len);
	memset(at, 0x5a, rest->data_len);
	m->data_len = first;
	m->next = rest;
	m->nb_segs = 2;
}

/* As the parser and the addresses of the device say it. */
static bool
is_for(const struct roce_device *device, struct rte_mbuf *m)
{
	struct roce_pkt pkt;
	struct roce_ip dst;

	if (roce_frame_parse(m, &pkt) == ROCE_FRAME_FOREIGN || !roce_frame_destination(m, &dst))
		return false;
	/* The device has no VLAN: what is tagged for one is somebody else's. */
	if ((pkt.vlan_tci & ROCE_VID_MASK) != 0)
		return false;
	for (uint32_t i = 0; i < device->args.ip.n; i++) {
		if (roce_ip_equal(&dst, &device->args.ip.at[i].addr))
			return true;
	}
	return false;
}

/* The quick look of roce_device_rx() at a frame decides as a thorough one would. */
static void
rx__takes_what_the_parser_knows_as_ours(void **state)
{
	const struct roce_attach_config config = embed_handover(2);
	struct roce_device *device = embed_attach(&config);
	uint32_t ours = 0;

	for (uint32_t i = 0; i < 200000; i++) {
		enum embed_kind kind = embed_dice(EMBED_KINDS);
		struct rte_mbuf *m = embed_frame(embed_foreign, kind, i);
		struct embed_shadow shadow;
		bool want;

		if (kind == EMBED_ELSEWHERE || kind == EMBED_BROKEN)
			write_ours(m, embed_dice(2) > 0, embed_dice(4) == 0);
		spoil(m);
		if (m->data_len > 1 && embed_dice(4) == 0)
			cut(m);
		want = is_for(device, m);
		ours += want;
		embed_remember(&shadow, m);
		assert_int_equal(roce_device_rx(device, 0, &m, 1), want ? 0 : 1);
		if (want)
			continue;
		embed_compare(&shadow, m);
		rte_pktmbuf_free(m);
	}
	assert_true(ours > 1000);
	assert_int_equal(rte_mempool_in_use_count(embed_foreign), 0);
	roce_device_close(device);
}

static int
hear_nothing(void *arg, const struct roce_cm_event *event)
{
	*(int *)arg = event->kind;
	return 0;
}

/* One asks for the other's address, whose answer comes back. */
static void
ask_and_answer(const char *more, unsigned int address)
{
	struct roce_attach_config config[2] = { embed_handover(1), embed_handover(2) };
	struct roce_device *device[2];
	int heard = 0, owner;
	struct roce_device_user user = { .cm_notify = hear_nothing, .arg = &heard };
	struct roce_engine *engine;
	struct roce_cm_conn *conn;
	struct rte_mbuf *pkts[16];
	char params[2][128];

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(params[i], sizeof(params[i]), "%s %s", config[i].params, more);
		config[i].params = params[i];
		device[i] = embed_attach(&config[i]);
	}
	engine = device[0]->port->queue[0].engine;
	roce_device_join(device[0], &user);
	roce_engine_lock(engine);
	assert_int_equal(roce_cm_find_path(roce_device_cm(device[0]), &user.context,
					 &device[1]->args.ip.at[address].addr, &owner,
					 roce_device_now(device[0]), &conn),
			0);
	roce_engine_unlock(engine);
	for (unsigned int i = 0; heard != ROCE_CM_PATH; i++) {
		unsigned int from = i % 2;
		uint16_t n = roce_device_tx(device[from], 0, pkts, RTE_DIM(pkts));

		/* The program's all the same. */
		assert_int_equal(roce_device_rx(device[!from], 0, pkts, n), n);
		rte_pktmbuf_free_bulk(pkts, n);
		assert_true(i < 1000000);
	}
	assert_true(embed_counter(device[0], "port_rx_neighbour") > 0);
	assert_true(embed_counter(device[1], "port_rx_neighbour") > 0);
	roce_engine_lock(engine);
	roce_cm_release(conn, roce_device_now(device[0]));
	roce_engine_unlock(engine);
	roce_device_leave(device[0], &user);
	roce_device_close(device[0]);
	roce_device_close(device[1]);
}

/* ARP and neighbour discovery are heard among what is the program's, behind tags, too. */
static void
rx__hears_neighbours(void **state)
{
	for (unsigned int address = 0; address < 2; address++) {
		ask_and_answer("", address);
		ask_and_answer("vlan=7", address);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rx__takes_what_the_parser_knows_as_ours),
		cmocka_unit_test(rx__hears_neighbours),
	};

	return cmocka_run_group_tests(tests, embed_start_foreign, embed_end_foreign);
}
