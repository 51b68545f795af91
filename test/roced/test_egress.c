/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions of processes for neighbours (apps/roced/uplink/egress.c), as frames from outside our code: the host is
 * 02:00:00:00:00:07 with 192.0.2.1 and 2001:db8::1.
 */
#include <string.h>

#include "unit/rules.h"
#include "roced/uplink/uplink.h"

static const struct rte_ether_addr mac = { { 2, 0, 0, 0, 0, 7 } };
static const struct roce_subnet own[] = {
	{ .addr = { .b = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1 } }, .prefix = 24 },
	{ .addr = { .b = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } }, .prefix = 64 },
};

/* RFC 826: who has 192.0.2.9? Tell 192.0.2.1. */
static const uint8_t arp[60] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7, 0x08, 0x06,
	0x00, 0x01, 0x08, 0x00, 6, 4, 0, 1, 2, 0, 0, 0, 0, 7, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 192,
	0, 2, 9 };
#define ARP_ETHER_SRC 11
#define ARP_OPERATION 21
#define ARP_MAC       27
#define ARP_SENDER    31

/*
 * RFC 4861 4.3: a solicitation for 2001:db8::9 from 2001:db8::1 to ff02::1:ff00:9, with the link-layer address of the
 * source. The checksum is that of scapy: IPv6()/ICMPv6ND_NS()/ICMPv6NDOptSrcLLAddr().
 */
static const uint8_t solicitation[86] = { 0x33, 0x33, 0xff, 0, 0, 9, 2, 0, 0, 0, 0, 7, 0x86, 0xdd,
	0x60, 0, 0, 0, 0, 32, 58, 255, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 9, 135, 0, 0x1c, 0x13, 0, 0, 0, 0,
	0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 1, 2, 0, 0, 0, 0, 7 };

static bool
may_ask(const uint8_t *frame, uint32_t len)
{
	return uplink_may_ask(frame, len, &mac, own, RTE_DIM(own));
}

UNIT_RULE_IN(ask__names_the_host_alone, NULL, NULL)
{
	static const uint8_t at[] = { ARP_ETHER_SRC, ARP_MAC, ARP_SENDER };
	uint8_t frame[sizeof(arp)];

	assert_true(may_ask(arp, sizeof(arp)));
	for (size_t i = 0; i < RTE_DIM(at); i++) {
		memcpy(frame, arp, sizeof(frame));
		frame[at[i]] ^= 1;
		assert_false(may_ask(frame, sizeof(frame)));
	}
}

/* RFC 5227: a probe, before an address is used. */
UNIT_RULE_IN(ask__without_an_address_passes, NULL, NULL)
{
	uint8_t frame[sizeof(arp)];

	memcpy(frame, arp, sizeof(frame));
	memset(frame + ARP_SENDER - 3, 0, 4);
	assert_true(may_ask(frame, sizeof(frame)));
}

UNIT_RULE_IN(ask__is_no_answer_and_whole, NULL, NULL)
{
	uint8_t frame[sizeof(arp)];

	memcpy(frame, arp, sizeof(frame));
	frame[ARP_OPERATION] = 2;
	assert_false(may_ask(frame, sizeof(frame)));
	for (uint32_t len = 0; len < 42; len++)
		assert_false(may_ask(arp, len));
}

UNIT_RULE_IN(solicitation__names_the_host_alone, NULL, NULL)
{
	uint8_t frame[sizeof(solicitation)];

	assert_true(may_ask(solicitation, sizeof(solicitation)));
	/* Two words that change by the same amount keep the sum: 2001:db8::2 for ::9 - 1 is no address of the host. */
	memcpy(frame, solicitation, sizeof(frame));
	frame[37] = 2;
	frame[77] = 8;
	assert_false(may_ask(frame, sizeof(frame)));
	/* Another link-layer address, by the same trick. */
	memcpy(frame, solicitation, sizeof(frame));
	frame[85] = 8;
	frame[77] = 8;
	assert_false(may_ask(frame, sizeof(frame)));
}
