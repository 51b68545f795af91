/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of the uplink for processes that are not there (apps/roced/uplink/answer.c): messages as Linux has put them on a
 * wire.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture_file.h"
#include "local/cm_frame.h"
#include "roced/uplink/uplink.h"
#include "unit/rules.h"
#include "unit/unit.h"
#include "wire/icrc.h"

static struct uplink uplink;
static struct roce_port port;

static int
setup(void **state)
{
	struct roce_errmsg errmsg;

	port.tx_pool[0] = unit_pool();
	uplink = (struct uplink){ .port = &port };
	assert_int_equal(uplink_open_cm(&uplink, &errmsg), 0);
	return 0;
}

static int
teardown(void **state)
{
	roce_cm_destroy(uplink.cm);
	assert_true(unit_pool_is_full());
	return 0;
}

/* The first message of a kind in a capture. */
static struct rte_mbuf *
message(const char *name, uint16_t attr)
{
	char path[512], error[PCAP_ERRBUF_SIZE] = "";
	struct rte_mbuf *m = NULL;
	struct pcap_pkthdr *header;
	struct roce_cm_frame frame;
	const u_char *bytes;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/mtu1500/%s.pcap.xz", getenv("ROCE_CAPTURES"), name);
	pcap = capture_file_open(path, error);
	assert_non_null(pcap);
	while (m == NULL && pcap_next_ex(pcap, &header, &bytes) == 1) {
		if (roce_cm_frame_parse(bytes, header->caplen, &frame) && frame.attr == attr)
			m = unit_mbuf(bytes, header->caplen);
	}
	pcap_close(pcap);
	assert_non_null(m);
	return m;
}

static struct roce_cm_frame
read(const struct rte_mbuf *m)
{
	struct roce_cm_frame frame;

	assert_true(roce_cm_frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &frame));
	return frame;
}

/* @return the answer; NULL: there is none. */
static struct rte_mbuf *
answer(struct rte_mbuf *m)
{
	struct rte_mbuf *pkts[2];
	uint16_t n;

	uplink_answer(&uplink, m, 1);
	n = uplink.gsi.tx(uplink.gsi.arg, pkts, RTE_DIM(pkts), 1);
	assert_true(n <= 1);
	return n == 1 ? pkts[0] : NULL;
}

/* Back to where it came from, about the same connection. */
static void
check_answer(const char *name, uint16_t attr, uint16_t want, uint32_t local_id)
{
	struct rte_mbuf *m = message(name, attr), *back = answer(m);
	const struct roce_cm_frame asked = read(m);
	struct roce_cm_frame said;
	struct roce_pkt pkt;

	assert_non_null(back);
	said = read(back);
	assert_int_equal(said.attr, want);
	assert_int_equal(said.tid, asked.tid);
	assert_int_equal(said.local_id, local_id);
	assert_int_equal(said.remote_id, asked.local_id);
	assert_memory_equal(said.src, asked.dst, sizeof(said.src));
	assert_memory_equal(said.dst, asked.src, sizeof(said.dst));
	assert_memory_equal(rte_pktmbuf_mtod(back, const uint8_t *),
			rte_pktmbuf_mtod_offset(m, const uint8_t *, 6), 6);
	assert_int_equal(roce_frame_parse(back, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	rte_pktmbuf_free(back);
	rte_pktmbuf_free(m);
}

UNIT_RULE(disconnect_request__is_answered)
{
	static const char *const name[] = { "cm-rping", "cm-ipv6" };

	for (size_t i = 0; i < RTE_DIM(name); i++) {
		struct rte_mbuf *m = message(name[i], ROCE_CM_ATTR_DREQ);
		uint32_t local_id = read(m).remote_id;

		rte_pktmbuf_free(m);
		check_answer(name[i], ROCE_CM_ATTR_DREQ, ROCE_CM_ATTR_DREP, local_id);
	}
}

/* IBTA Vol 1, 12.6.7: service id and communication id that there are not. */
UNIT_RULE(request_and_reply__are_rejected)
{
	check_answer("cm-ipv6", ROCE_CM_ATTR_REQ, ROCE_CM_ATTR_REJ, 0);
	check_answer("cm-rping", ROCE_CM_ATTR_REP, ROCE_CM_ATTR_REJ, 0);
}

UNIT_RULE(other_messages__have_no_answer)
{
	static const uint16_t attr[] = { ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_DREP };

	for (size_t i = 0; i < RTE_DIM(attr); i++) {
		struct rte_mbuf *m = message("cm-rping", attr[i]);

		assert_null(answer(m));
		rte_pktmbuf_free(m);
	}
}

UNIT_RULE(frame__that_is_damaged_or_cut_has_no_answer)
{
	struct rte_mbuf *m = message("cm-rping", ROCE_CM_ATTR_DREQ);
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);

	bytes[m->data_len - 1] ^= 1;
	assert_null(answer(m));
	bytes[m->data_len - 1] ^= 1;
	m->data_len = m->pkt_len = 60;
	assert_null(answer(m));
	rte_pktmbuf_free(m);
}
