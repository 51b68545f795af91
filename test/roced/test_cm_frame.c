/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the connection manager, as far as roced looks into them: those that Linux has put on a wire, and those that
 * are none.
 */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_file.h"
#include "local/cm_frame.h"
#include "frames.h"
#include "unit/rules.h"

#define ATTRS 7

static pcap_t *
open_capture(const char *name)
{
	char path[512], error[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/mtu1500/%s.pcap.xz", getenv("ROCE_CAPTURES"), name);
	pcap = capture_file_open(path, error);
	assert_non_null(pcap);
	return pcap;
}

/* Messages of each kind in a capture, and the frames that are none. */
struct tally {
	unsigned int of[ATTRS];
	unsigned int others;
};

static struct tally
count(const char *name)
{
	struct tally tally = { .others = 0 };
	struct pcap_pkthdr *header;
	const u_char *bytes;
	struct roce_cm_frame frame;
	pcap_t *pcap = open_capture(name);

	while (pcap_next_ex(pcap, &header, &bytes) == 1) {
		if (roce_cm_frame_parse(bytes, header->caplen, &frame))
			tally.of[frame.attr - ROCE_CM_ATTR_REQ]++;
		else
			tally.others++;
	}
	pcap_close(pcap);
	return tally;
}

#define REQ 0
#define REJ 2
#define REP 3
#define RTU 4
#define DRQ 5
#define DRP 6

/* test/captures/README.md says what is in them. */
UNIT_RULE_IN(frames__of_linux_are_found_and_no_others, NULL, NULL)
{
	assert_fields(count("cm-private-data"), (of[REQ], 1), (of[REP], 1), (of[RTU], 1),
			(of[DRQ], 1), (of[DRP], 1), (others, 2));
	assert_fields(count("cm-rping"), (of[REQ], 1), (of[REP], 1), (of[RTU], 1), (of[DRQ], 1),
			(of[DRP], 1), (others, 128));
	assert_fields(count("cm-reject-no-listener"), (of[REQ], 1), (of[REJ], 1), (others, 1));
	assert_fields(count("cm-ipv6"), (of[REQ], 1), (of[REP], 1), (of[RTU], 1), (of[DRQ], 1),
			(of[DRP], 1), (others, 26));
}

/* The ids are those of test/unit/cm_golden.h, which are of the same conversation. */
UNIT_RULE_IN(frame__of_linux_is_read, NULL, NULL)
{
	static const uint8_t client[4] = { 10, 77, 0, 11 }, server[4] = { 10, 77, 0, 12 };
	struct pcap_pkthdr *header;
	const u_char *bytes;
	struct roce_cm_frame frame;
	pcap_t *pcap = open_capture("cm-private-data");
	unsigned int seen = 0;

	while (pcap_next_ex(pcap, &header, &bytes) == 1) {
		if (!roce_cm_frame_parse(bytes, header->caplen, &frame))
			continue;
		seen++;
		if (frame.attr == ROCE_CM_ATTR_REQ) {
			assert_fields(frame, (local_id, 0x0593d566), (remote_id, 0), (qpn, 0x14),
					(service_id, 0x01061d2f));
			assert_memory_equal(frame.src + 12, client, 4);
			assert_memory_equal(frame.dst + 12, server, 4);
		} else if (frame.attr == ROCE_CM_ATTR_REP) {
			assert_fields(frame, (local_id, 0x7136afc1), (remote_id, 0x0593d566),
					(qpn, 0x12));
			assert_memory_equal(frame.src + 12, server, 4);
		}
	}
	assert_int_equal(seen, 5);
	pcap_close(pcap);
}

/* ---- none ---- */

static struct roce_msg
good_frame(bool v6)
{
	static const uint8_t ip[16] = { 0xfe, 0x80, [15] = 1 };
	const struct frame_spec spec = {
		.src = v6 ? ip : NULL,
		.dst = v6 ? ip : NULL,
		.attr = ROCE_CM_ATTR_REQ,
		.local_id = 0x12345678,
		.qpn = 0x4567,
	};

	return frame_message(&spec);
}

/* In memory of its own size, so that a sanitizer sees a read beyond. */
static bool
parses(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct roce_cm_frame frame;
	bool rc;

	assert_non_null(copy);
	memcpy(copy + 1, bytes, len);
	rc = roce_cm_frame_parse(copy + 1, len, &frame);
	free(copy);
	return rc;
}

UNIT_RULE_IN(frame__that_is_shorter_or_longer_is_none, NULL, NULL)
{
	for (int v6 = 0; v6 < 2; v6++) {
		const struct roce_msg msg = good_frame(v6 != 0);

		assert_true(parses(msg.frame.data, msg.frame.len));
		for (size_t len = 0; len <= ROCE_PROTO_FRAME_MAX; len++) {
			if (len != msg.frame.len)
				assert_false(parses(msg.frame.data, len));
		}
	}
}

/* All lengths agree, but that of the datagram is none of a MAD. */
UNIT_RULE_IN(frame__with_another_payload_than_a_mad_is_none, NULL, NULL)
{
	for (int more = -4; more <= 4; more += 4) {
		struct roce_msg msg = good_frame(false);

		msg.frame.data[17] = (uint8_t)(msg.frame.data[17] + more);
		msg.frame.data[39] = (uint8_t)(msg.frame.data[39] + more);
		assert_int_equal(parses(msg.frame.data, msg.frame.len + (size_t)more), more == 0);
	}
}

/* The bytes of an IPv4 frame that decide, and one value of each that makes it none. */
UNIT_RULE_IN(frame__of_another_protocol_version_or_length_is_none, NULL, NULL)
{
	static const struct {
		const char *what;
		unsigned int at;
		uint8_t value;
	} rule[] = {
		{ "VLAN tag", 12, 0x81 },
		{ "IP version", 14, 0x65 },
		{ "IP options", 14, 0x46 },
		{ "IP header of 16 bytes", 14, 0x44 },
		{ "total length", 17, 0xff },
		{ "more fragments", 20, 0x20 },
		{ "fragment offset", 21, 0x01 },
		{ "TCP", 23, 6 },
		{ "UDP port", 37, 0x53 },
		{ "UDP length", 39, 0 },
		{ "opcode", 42, 0x04 },
		{ "pad", 43, 0x10 },
		{ "transport version", 43, 0x01 },
		{ "queue pair", 49, 2 },
		{ "queue key", 54, 0 },
		{ "source queue pair", 61, 2 },
		{ "base version", 62, 2 },
		{ "class", 63, 1 },
		{ "class version", 64, 1 },
		{ "method", 65, 1 },
		{ "attribute below", 79, 0x0f },
		{ "attribute above", 79, 0x17 },
		{ "attribute, upper byte", 78, 1 },
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct roce_msg msg = good_frame(false);

		msg.frame.data[rule[i].at] = rule[i].value;
		if (parses(msg.frame.data, msg.frame.len))
			fail_msg("%s", rule[i].what);
	}
}

UNIT_RULE_IN(frame__of_ipv6_with_another_version_length_or_header_is_none, NULL, NULL)
{
	static const struct {
		unsigned int at;
		uint8_t value;
	} rule[] = { { 14, 0x40 }, { 19, 0 }, { 20, 0 } };

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct roce_msg msg = good_frame(true);

		msg.frame.data[rule[i].at] = rule[i].value;
		assert_false(parses(msg.frame.data, msg.frame.len));
	}
}
