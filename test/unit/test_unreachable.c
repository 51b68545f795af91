/* SPDX-License-Identifier: BSD-3-Clause */
/* Why there is no route to an address, in one sentence each, file unreachable.c. */

#include <arpa/inet.h>
#include <string.h>

#include <rte_common.h>

#include "neighbour/unreachable.h"
#include "rules.h"

static struct roce_ip
ip(const char *text)
{
	struct roce_ip address = { 0 };
	struct in_addr v4;

	if (text == NULL)
		return address;
	if (inet_pton(AF_INET, text, &v4) == 1)
		return roce_ip_from_v4(v4.s_addr);
	assert_int_equal(inet_pton(AF_INET6, text, address.b), 1);
	return address;
}

#define FAR  "it is in no subnet of ip=192.0.2.1/30, 2001:db8::1/64, and "
#define SAME "on the wire of ip=192.0.2.1/30, and has it the same vlan=?"

/* One row a cause: what failed, the value, what to do. */
UNIT_RULE_IN(words__tell_each_cause, NULL, NULL)
{
	static const struct {
		const char *dst;
		const char *gw;
		uint16_t vlan;
		bool gone;
		bool program_knows;
		const char *want;
	} rows[] = {
		/* clang-format off */
		{ "224.0.0.1", NULL, 0, false, false,
		  "224.0.0.1 is unreachable: it is no host's address" },
		{ "192.0.2.1", NULL, 0, false, false,
		  "192.0.2.1 is unreachable: it is an address of this host, and a connection to it begins at no other one" },
		{ "192.0.2.3", NULL, 0, false, false,
		  "192.0.2.3 is unreachable: it is the broadcast address of ip=192.0.2.1/30" },
		{ "192.0.2.0", NULL, 0, false, false,
		  "192.0.2.0 is unreachable: it is the network address of ip=192.0.2.1/30" },
		{ "192.0.2.9", NULL, 0, false, false,
		  "192.0.2.9 is unreachable: " FAR "there is no gw=; want another prefix, or a gateway" },
		{ "2001:db8:1::1", "192.0.2.2", 0, false, false,
		  "2001:db8:1::1 is unreachable: " FAR "gw=192.0.2.2 is of the other family; want an address of its family" },
		{ "192.0.2.2", NULL, 0, false, false,
		  "192.0.2.2 is unreachable: nobody answers ARP for it on port p, untagged; is it up, " SAME },
		{ "192.0.2.2", NULL, 7, false, false,
		  "192.0.2.2 is unreachable: nobody answers ARP for it on port p, in VLAN 7; is it up, " SAME },
		{ "192.0.2.9", "192.0.2.2", 0, false, false,
		  "192.0.2.9 is unreachable: nobody answers ARP for gw=192.0.2.2 on port p, untagged; is it up, " SAME },
		{ "2001:db8::2", NULL, 0, false, false,
		  "2001:db8::2 is unreachable: nobody answers neighbour solicitations for it on port p, untagged; is it up, "
		  "on the wire of ip=2001:db8::1/64, and has it the same vlan=?" },
		{ "192.0.2.2", NULL, 0, false, true,
		  "192.0.2.2 is unreachable: the program that attached port p has no MAC address for it" },
		{ "192.0.2.9", "192.0.2.2", 0, false, true,
		  "192.0.2.9 is unreachable: the program that attached port p has no MAC address for gw=192.0.2.2" },
		{ "192.0.2.1", NULL, 0, true, false,
		  "192.0.2.1 is unreachable: port p is gone" },
		/* clang-format on */
	};
	const struct roce_subnet own[] = { { .addr = ip("192.0.2.1"), .prefix = 30 },
		{ .addr = ip("2001:db8::1"), .prefix = 64 } };

	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		const struct roce_unreachable u = {
			.own = own,
			.n = RTE_DIM(own),
			.gw = ip(rows[i].gw),
			.port = "p",
			.vlan = rows[i].vlan,
			.gone = rows[i].gone,
			.program_knows = rows[i].program_knows,
		};
		struct roce_ip dst = ip(rows[i].dst);
		char text[768];

		assert_string_equal(
				roce_unreachable_words(&u, &dst, text, sizeof(text)), rows[i].want);
	}
}

/* The missing uplink is the cause, not the resolver, which knows no address. */
UNIT_RULE_IN(words__tell_of_a_shared_adapter_without_an_uplink, NULL, NULL)
{
	const struct roce_subnet own = { .addr = ip("127.0.0.1"), .prefix = 8 };
	const struct roce_unreachable u = {
		.own = &own, .n = 1, .port = "roced", .program_knows = true, .no_uplink = true
	};
	struct roce_ip dst = ip("192.0.2.9");
	char text[768];

	assert_string_equal(roce_unreachable_words(&u, &dst, text, sizeof(text)),
			"192.0.2.9 is unreachable: it is no address of this host, and port roced has no "
			"uplink to others; see --port of roced(1)");
}

/* Eight of the longest addresses fit, and what does not is cut. */
UNIT_RULE_IN(words__fit_whatever_is_said, NULL, NULL)
{
	struct roce_subnet own[ROCE_ADDRS_MAX];
	const struct roce_unreachable u = { .own = own, .n = ROCE_ADDRS_MAX, .port = "p" };
	struct roce_ip dst = ip("192.0.2.9");
	char text[768], brief[16];

	for (size_t i = 0; i < ROCE_ADDRS_MAX; i++)
		own[i] = (struct roce_subnet){
			.addr = ip("2001:1db8:1111:2222:3333:4444:5555:6666"), .prefix = 128
		};
	roce_unreachable_words(&u, &dst, text, sizeof(text));
	assert_non_null(strstr(text, "6666/128, and there is no gw=; want another prefix"));
	assert_string_equal(
			roce_unreachable_words(&u, &dst, brief, sizeof(brief)), "192.0.2.9 is un");
}
