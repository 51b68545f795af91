/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "ethdev/devargs.h"
#include "rules.h"

#define BASE "port=loop0 ip=192.0.2.1/24 "

static int
parse(const char *text, const char *override, struct roce_devargs *args, char *sentence, size_t len)
{
	struct roce_errmsg errmsg = { .text = sentence, .len = len };

	sentence[0] = '\0';
	return roce_devargs_parse(text, override, args, &errmsg);
}

static void
parse_good(const char *text, struct roce_devargs *args)
{
	char errmsg[256];

	if (parse(text, NULL, args, errmsg, sizeof(errmsg)) != 0)
		fail_msg("%s: %s", text, errmsg);
	assert_string_equal(errmsg, "");
}

UNIT_RULE_IN(parse__takes_defaults_for_what_is_not_given, NULL, NULL)
{
	struct roce_devargs a;

	parse_good(BASE, &a);
	assert_string_equal(a.port, "loop0");
	assert_fields(a.ip, (n, 1), (at[0].addr.w[3], RTE_BE32(0xc0000201)));
	assert_true(roce_ip_is_v4(&a.ip.at[0].addr));
	assert_int_equal(a.ip.at[0].prefix, 24);
	assert_false(roce_devargs_has(&a, "gw"));
	assert_fields(a, (vlan, 0), (pcp, 0), (dscp, 0), (mtu, 0), (queues, 1), (lcores.n, 0),
			(neigh.n, 0), (qpn, 0), (psn, UINT32_MAX));
	assert_false(roce_devargs_has(&a, "seed"));
	assert_fields(a, (retry, 7), (rnr_retry, 7), (rnr_timer, 12), (timeout, 17));
	for (unsigned int kind = 0; kind < ROCE_FAULT_KINDS; kind++)
		assert_int_equal(a.fault[kind], 0);
	assert_fields(a, (rnr, 0), (ecn, 1));
}

/* A key that has another name since an earlier release is understood by both. */
UNIT_RULE_IN(parse__knows_earlier_names, NULL, NULL)
{
	struct roce_devargs a;

	parse_good(BASE "zcrx=8", &a);
	assert_int_equal(a.zcrx, 8);
	parse_good(BASE "lend=9", &a);
	assert_int_equal(a.zcrx, 9);
	assert_true(roce_devargs_has(&a, "lend") && roce_devargs_has(&a, "zcrx"));
}

UNIT_RULE_IN(parse__understands_every_key, NULL, NULL)
{
	struct roce_devargs a;

	parse_good("  port=net_memif0,role=server,id=0\tip=192.0.2.1/24 ip=2001:db8::1/64 gw=192.0.2.254 "
		   "vlan=100 pcp=5 dscp=26 mtu=1024 queues=2 lcores=1,4-6 neigh=192.0.2.2@02:00:00:00:00:02 "
		   "neigh=2001:db8::2@02:00:00:00:00:03 qpn=0x11 psn=0 seed=18446744073709551615 retry=1 "
		   "rnr_retry=2 rnr_timer=31 timeout=0 loss=10000 duplicate=2 reorder=3 corrupt=4 mark=5 rnr=6 wc_error=7 ecn=0\n",
			&a);
	assert_string_equal(a.port, "net_memif0,role=server,id=0");
	assert_int_equal(roce_devargs_name_len(a.port), 10);
	assert_int_equal(a.ip.n, 2);
	assert_false(roce_ip_is_v4(&a.ip.at[1].addr));
	assert_int_equal(a.ip.at[1].prefix, 64);
	assert_true(roce_devargs_has(&a, "gw"));
	assert_fields(a, (gw.b[15], 254), (vlan, 100), (pcp, 5), (dscp, 26), (mtu, 1024),
			(queues, 2), (lcores.n, 4), (lcores.at[0], 1), (lcores.at[3], 6),
			(neigh.n, 2), (neigh.at[0].mac.addr_bytes[5], 2),
			(neigh.at[1].ip.b[0], 0x20), (qpn, 17), (psn, 0));
	assert_true(a.seed == UINT64_MAX && roce_devargs_has(&a, "seed"));
	assert_fields(a, (retry, 1), (rnr_retry, 2), (rnr_timer, 31), (timeout, 0),
			(fault[ROCE_FAULT_LOSS], 10000), (fault[ROCE_FAULT_DUPLICATE], 2),
			(fault[ROCE_FAULT_REORDER], 3), (fault[ROCE_FAULT_CORRUPT], 4),
			(fault[ROCE_FAULT_MARK], 5), (rnr, 6), (wc_error, 7), (ecn, 0));
}

/* Unknown key, bad or missing value, a key given twice: refused, and the sentence names it. */
static const struct {
	const char *text;
	const char *word;
} refused[] = {
	{ "", "port=" },
	{ "ip=192.0.2.1/24", "port=" },
	{ "port=loop0", "ip=" },
	{ BASE "color=red", "'color'" },
	{ BASE "Mtu=1024", "'Mtu'" },
	{ BASE "mt", "'mt'" },
	{ BASE "=1", "''" },
	{ BASE "mtu", "mtu=" },
	{ BASE "mtu=", "mtu=" },
	{ BASE "mtu=1500", "mtu=1500" },
	{ BASE "mtu=128", "mtu=128" },
	{ BASE "mtu=8192", "mtu=8192" },
	{ BASE "mtu=1024 mtu=1024", "mtu= is given twice" },
	{ BASE "zcrx=8 lend=8", "zcrx= is given twice" },
	{ BASE "port=loop1", "port= is given twice" },
	{ "port=, ip=192.0.2.1/24", "port=," },
	{ BASE "ip=192.0.2.1/25", "ip=192.0.2.1/25" },
	{ BASE "ip=192.0.2.2", "ip=192.0.2.2" },
	{ BASE "ip=192.0.2.2/33", "/33" },
	{ BASE "ip=192.0.2.2/", "ip=" },
	{ BASE "ip=192.0.2.2/-1", "ip=" },
	{ BASE "ip=2001:db8::1/129", "/129" },
	{ BASE "ip=198.51.100.0/24", "198.51.100.0/24" },
	{ BASE "ip=198.51.100.255/24", "198.51.100.255/24" },
	{ BASE "ip=10.1.255.255/16", "10.1.255.255/16" },
	{ BASE "ip=198.51.100.4/30", "198.51.100.4/30" },
	{ BASE "ip=198.51.100.7/30", "198.51.100.7/30" },
	{ BASE "ip=192.0.2.256/24", "ip=" },
	{ BASE "ip=224.0.0.1/24", "ip=224" },
	{ BASE "ip=127.0.0.1/8", "ip=127" },
	{ BASE "ip=::1/128", "ip=::1" },
	{ BASE "ip=ff02::1/64", "ip=ff02" },
	{ BASE "ip=1111111111111111111111111111111111111111111111111/1", "ip=" },
	{ BASE "gw=0.0.0.0", "gw=" },
	{ BASE "gw=192.0.2.1 gw=192.0.2.3", "gw= is given twice" },
	{ BASE "vlan=4095", "vlan=4095" },
	{ BASE "pcp=8", "pcp=8" },
	{ BASE "dscp=64", "dscp=64" },
	{ BASE "queues=0", "queues=0" },
	{ BASE "queues=9", "queues=9" },
	{ BASE "lcores=1,1", "lcores=1,1" },
	{ BASE "lcores=1,", "lcores=1," },
	{ BASE "lcores=3-1", "lcores=3-1" },
	{ BASE "lcores=1000000", "lcores=" },
	{ BASE "neigh=192.0.2.2", "neigh=" },
	{ BASE "neigh=192.0.2.2@", "neigh=" },
	{ BASE "neigh=@02:00:00:00:00:02", "neigh=" },
	{ BASE "neigh=192.0.2.2@ff:ff:ff:ff:ff:ff", "neigh=" },
	{ BASE "neigh=192.0.2.2@00:00:00:00:00:00", "neigh=" },
	{ BASE "qpn=1", "qpn=1" },
	{ BASE "qpn=0x1000000", "qpn=" },
	{ BASE "psn=16777216", "psn=" },
	{ BASE "psn=-1", "psn=-1" },
	{ BASE "seed=18446744073709551616", "seed=" },
	{ BASE "seed=0x", "seed=0x" },
	{ BASE "seed=1x", "seed=1x" },
	{ BASE "retry=8", "retry=8" },
	{ BASE "rnr_retry=8", "rnr_retry=8" },
	{ BASE "rnr_timer=32", "rnr_timer=32" },
	{ BASE "timeout=32", "timeout=32" },
	{ BASE "progress=never", "progress=never is invalid: want auto or manual" },
	{ BASE "progress=", "progress=" },
	{ BASE "progress=auto progress=manual", "progress" },
	{ BASE "loss=1000001", "loss=1000001" },
	{ BASE "ecn=2", "ecn=2" },
	{ BASE "mark=1000001", "mark=1000001" },
};

UNIT_RULE_IN(parse__refuses_and_names_the_key, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(refused); i++) {
		struct roce_devargs a = { .mtu = 42 };
		char errmsg[256];
		int rc = parse(refused[i].text, NULL, &a, errmsg, sizeof(errmsg));

		if (rc != -EINVAL || strstr(errmsg, refused[i].word) == NULL ||
				strchr(errmsg, '\n') != NULL)
			fail_msg("'%s': %d '%s'", refused[i].text, rc, errmsg);
		assert_int_equal(a.mtu, 42);
	}
}

UNIT_RULE_IN(parse__refuses_more_than_there_is_room_for, NULL, NULL)
{
	char text[16384] = BASE;
	char errmsg[64];
	struct roce_devargs a;

	for (int i = 0; i < ROCE_ADDRS_MAX - 1; i++)
		snprintf(text + strlen(text), 64, "ip=198.51.100.%d/24 ", i + 1);
	assert_int_equal(parse(text, NULL, &a, errmsg, sizeof(errmsg)), 0);
	snprintf(text + strlen(text), 64, "ip=203.0.113.1/24");
	assert_int_equal(parse(text, NULL, &a, errmsg, sizeof(errmsg)), -EINVAL);
	assert_string_equal(errmsg, "ip= is given too many times");

	memset(text, 'x', sizeof(text));
	memcpy(text, "port=", 5);
	text[5 + ROCE_DEVARGS_PORT_LEN - 1] = '\0';
	assert_int_equal(parse(text, " ip=192.0.2.1/24", &a, errmsg, sizeof(errmsg)), 0);
	text[5 + ROCE_DEVARGS_PORT_LEN - 1] = 'x';
	text[5 + ROCE_DEVARGS_PORT_LEN] = '\0';
	assert_int_equal(parse(text, " ip=192.0.2.1/24", &a, errmsg, sizeof(errmsg)), -EINVAL);
	text[5 + ROCE_DEVARGS_PORT_LEN] = 'x';
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(parse(text, NULL, &a, errmsg, sizeof(errmsg)), -EINVAL);
	assert_non_null(strstr(errmsg, "too long"));
}

UNIT_RULE_IN(parse__takes_an_empty_list_of_lcores, NULL, NULL)
{
	struct roce_devargs a;

	parse_good(BASE "lcores=", &a);
	assert_int_equal(a.lcores.n, 0);
	assert_true(roce_devargs_has(&a, "lcores"));
}

/* Pairs that override replace all values of their key and leave the others alone. */
UNIT_RULE_IN(parse__lets_pairs_override_by_key, NULL, NULL)
{
	struct roce_devargs a;
	char errmsg[256];

	assert_int_equal(parse(BASE "ip=192.0.2.3/24 mtu=512 retry=2",
					 "ip=198.51.100.7/28 mtu=2048 loss=5", &a, errmsg,
					 sizeof(errmsg)),
			0);
	assert_string_equal(a.port, "loop0");
	assert_fields(a, (ip.n, 1), (ip.at[0].addr.b[15], 7), (mtu, 2048), (retry, 2),
			(fault[ROCE_FAULT_LOSS], 5));
	assert_int_equal(parse(BASE, "mtu=7", &a, errmsg, sizeof(errmsg)), -EINVAL);
	assert_int_equal(parse("", BASE, &a, errmsg, sizeof(errmsg)), 0);
}

/* Whether two strings mean the same, however they are written. */
UNIT_RULE_IN(equal__compares_the_meaning, NULL, NULL)
{
	struct roce_devargs a, b;

	memset(&a, 0x55, sizeof(a));
	memset(&b, 0xaa, sizeof(b));
	parse_good("port=loop0  ip=192.0.2.1/24 mtu=0x400 neigh=192.0.2.2@02:00:00:00:00:02", &a);
	parse_good("neigh=192.0.2.2@0200:0000:0002 mtu=1024 ip=192.0.2.1/24\tport=loop0", &b);
	assert_true(roce_devargs_equal(&a, &b));
	b.neigh.at[0].mac.addr_bytes[5]++;
	assert_false(roce_devargs_equal(&a, &b));
	parse_good(BASE "retry=7", &a);
	parse_good(BASE, &b);
	assert_false(roce_devargs_equal(&a, &b));
}

/* Any string may be given: all short ones of an alphabet that matters, and cut and bent versions of a good one. */
UNIT_RULE_IN(parse__survives_any_string, NULL, NULL)
{
	static const char good[] = BASE "lcores=1,4-6 neigh=192.0.2.2@02:00:00:00:00:02 seed=0x1";
	static const char odd[] = "=,/@- 0x:.";
	struct roce_devargs a;
	char text[sizeof(good)], errmsg[64];

	for (size_t cut = 0; cut < sizeof(good); cut++) {
		memcpy(text, good, sizeof(good));
		text[cut] = '\0';
		parse(text, NULL, &a, errmsg, sizeof(errmsg));
		for (size_t i = 0; i < sizeof(odd); i++) {
			memcpy(text, good, sizeof(good));
			text[RTE_MIN(cut, sizeof(good) - 2)] = odd[i];
			parse(text, NULL, &a, errmsg, sizeof(errmsg));
			assert_true(strlen(errmsg) < sizeof(errmsg));
		}
	}
	assert_int_equal(roce_devargs_parse("", NULL, &a, &(struct roce_errmsg){ 0 }), -EINVAL);
}
