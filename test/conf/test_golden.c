/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames that scapy made (golden.py), against our parser, our ICRC and our builder.
 *
 * golden.tsv says what each frame of golden.pcap is. Rows with "rebuild 1" follow our own
 * conventions, and the builder must make them again byte for byte: nothing may differ. Rows with
 * "rebuild 0" are what peers may send and we do not (MigReq 0, ECN, an IP id, no DF, another flow
 * label, a UDP checksum, reserved bits, bytes behind the datagram); those are only read.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "unit.h"
#include "wire/frame.h"
#include "wire/icrc.h"

/* In the order of the columns of golden.tsv. */
enum column {
	COL_NAME,
	COL_REBUILD,
	COL_OPCODE,
	COL_V6,
	COL_VLAN,
	COL_SPORT,
	COL_TOS,
	COL_TTL,
	COL_DEST_QP,
	COL_PSN,
	COL_ACK_REQ,
	COL_SOLICITED,
	COL_BECN,
	COL_EXT,
	COL_PAYLOAD_LEN,
	COL_PAD,
	COLUMNS,
};

#define EXT_MAX      32
#define GOLDEN_COUNT 194

struct golden {
	char name[80];
	uint32_t value[COLUMNS]; /* the columns that are numbers */
	uint8_t ext[EXT_MAX];
	uint32_t ext_len;
};

static const char *golden_dir;

/* Two hex digits a byte; "-" is empty. */
static uint32_t
read_hex(const char *text, uint8_t *to)
{
	uint32_t n = 0;

	for (; text[0] != '-' && text[0] != '\0' && n < EXT_MAX; text += 2) {
		const char digits[] = { text[0], text[1], '\0' };

		to[n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

static void
read_row(FILE *table, struct golden *g)
{
	char line[512];
	char *rest = line;
	int column;

	if (fgets(line, sizeof(line), table) == NULL)
		fail_msg("golden.tsv has fewer rows than golden.pcap frames");
	*g = (struct golden){ 0 };
	for (column = 0; column < COLUMNS; column++) {
		const char *field = strsep(&rest, "\t\n");

		if (field == NULL)
			fail_msg("golden.tsv: a row is short");
		else if (column == COL_NAME)
			snprintf(g->name, sizeof(g->name), "%s", field);
		else if (column == COL_EXT)
			g->ext_len = read_hex(field, g->ext);
		else
			g->value[column] = (uint32_t)strtoul(field, NULL, 10);
	}
}

/* The payload that golden.py makes for this length. */
static void
fill_payload(uint8_t *to, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		to[i] = (uint8_t)(len + 7 * i);
}

#define check_equal(g, what, got, want)                                                         \
	do {                                                                                    \
		if ((uint64_t)(got) != (uint64_t)(want))                                        \
			fail_msg("%s: %s is %llu, expected %llu", (g)->name, what,              \
					(unsigned long long)(got), (unsigned long long)(want)); \
	} while (0)

static void
check_parse(const struct golden *g, const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	uint8_t payload[4096];
	struct roce_pkt pkt;

	check_equal(g, "verdict", roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	check_equal(g, "opcode", pkt.opcode, g->value[COL_OPCODE]);
	check_equal(g, "v6", pkt.v6, g->value[COL_V6]);
	check_equal(g, "vlan_tci", pkt.vlan_tci, g->value[COL_VLAN]);
	check_equal(g, "ecn", pkt.ecn, g->value[COL_TOS] & 3);
	check_equal(g, "dest_qp", pkt.dest_qp, g->value[COL_DEST_QP]);
	check_equal(g, "psn", pkt.psn, g->value[COL_PSN]);
	check_equal(g, "ack_req", pkt.ack_req, g->value[COL_ACK_REQ]);
	check_equal(g, "solicited", pkt.solicited, g->value[COL_SOLICITED]);
	check_equal(g, "becn", pkt.becn, g->value[COL_BECN]);
	check_equal(g, "payload_len", pkt.payload_len, g->value[COL_PAYLOAD_LEN]);
	check_equal(g, "pad", pkt.pad, g->value[COL_PAD]);
	check_equal(g, "header_len", pkt.op->header_len, sizeof(struct roce_bth) + g->ext_len);
	assert_memory_equal(pkt.bth + sizeof(struct roce_bth), g->ext, g->ext_len);
	fill_payload(payload, pkt.payload_len);
	assert_memory_equal(bytes + pkt.payload_off, payload, pkt.payload_len);
	check_equal(g, "ICRC", roce_icrc_ok(&pkt), true);
	unit_mbuf_exact_free(m);
}

static struct roce_path
path_of(const struct golden *g)
{
	struct roce_path path = {
		.src_mac = { { 0x02, 0, 0, 0, 0, 0x0b } },
		.dst_mac = { { 0x02, 0, 0, 0, 0, 0x0a } },
		.src_ip = roce_ip_from_v4(RTE_BE32(0xc0000201)),
		.dst_ip = roce_ip_from_v4(RTE_BE32(0xc0000202)),
		.udp_sport = (uint16_t)g->value[COL_SPORT],
		.vlan_tci = (uint16_t)g->value[COL_VLAN],
		.tos = (uint8_t)g->value[COL_TOS],
		.ttl = (uint8_t)g->value[COL_TTL],
		.mtu_code = 5,
	};

	if (g->value[COL_V6]) {
		path.src_ip = (struct roce_ip){ .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } };
		path.dst_ip = (struct roce_ip){ .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(2) } };
	}
	return path;
}

static void
check_build(const struct golden *g, const uint8_t *bytes, uint32_t len)
{
	const struct roce_frame_spec spec = {
		.psn = g->value[COL_PSN],
		.opcode = (uint8_t)g->value[COL_OPCODE],
		.ack_req = g->value[COL_ACK_REQ],
		.solicited = g->value[COL_SOLICITED],
		.payload_len = g->value[COL_PAYLOAD_LEN],
	};
	const struct roce_path path = path_of(g);
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	struct roce_template t;
	const uint8_t *made;
	uint32_t at;
	uint8_t *ext;

	memset(rte_pktmbuf_mtod(m, void *), 0xee, rte_pktmbuf_tailroom(m));
	roce_template_init(&t, &path, g->value[COL_DEST_QP], false);
	ext = roce_frame_build(m, &t, &spec);
	memcpy(ext, g->ext, g->ext_len);
	fill_payload(ext + g->ext_len, spec.payload_len);
	roce_icrc_put(m, &t);

	check_equal(g, "data_len", m->data_len, len);
	check_equal(g, "pkt_len", m->pkt_len, len);
	made = rte_pktmbuf_mtod(m, const uint8_t *);
	for (at = 0; at < len; at++)
		if (made[at] != bytes[at])
			fail_msg("%s: byte %u is 0x%02x, expected 0x%02x", g->name, at, made[at],
					bytes[at]);
	rte_pktmbuf_free(m);
}

static FILE *
open_table(void)
{
	char path[4096];
	char line[512];
	FILE *table;

	snprintf(path, sizeof(path), "%s/golden.tsv", golden_dir);
	table = fopen(path, "r");
	/* The first line names the columns. */
	if (table == NULL || fgets(line, sizeof(line), table) == NULL)
		fail_msg("cannot read %s", path);
	return table;
}

static pcap_t *
open_frames(void)
{
	char error[PCAP_ERRBUF_SIZE];
	char path[4096];
	pcap_t *frames;

	snprintf(path, sizeof(path), "%s/golden.pcap", golden_dir);
	frames = pcap_open_offline(path, error);
	if (frames == NULL)
		fail_msg("%s", error);
	return frames;
}

static void
golden__frames_are_read_and_made_again(void **state)
{
	FILE *table = open_table();
	pcap_t *frames = open_frames();
	struct pcap_pkthdr *head;
	const uint8_t *bytes;
	uint32_t count = 0;

	(void)state;
	while (pcap_next_ex(frames, &head, &bytes) == 1) {
		struct golden g;

		read_row(table, &g);
		check_parse(&g, bytes, head->caplen);
		if (g.value[COL_REBUILD])
			check_build(&g, bytes, head->caplen);
		count++;
	}
	assert_int_equal(count, GOLDEN_COUNT);
	assert_true(unit_pool_is_full());
	pcap_close(frames);
	fclose(table);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden__frames_are_read_and_made_again),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY-OF-GOLDEN-FRAMES\n", argv[0]);
		return 2;
	}
	golden_dir = argv[1];
	unit_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
