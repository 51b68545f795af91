/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/devargs.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "ethdev/fault_args.h"

#define TOKEN_LEN (ROCE_DEVARGS_PORT_LEN + 16)

struct key {
	const char *name;
	/** Read @p value into @p field. @return 0; -EINVAL: not what @c want says; -ENOSPC: too many. */
	int (*take)(const struct key *key, const char *value, void *field);
	size_t offset;
	size_t size;
	uint64_t min;
	uint64_t max;
	bool repeats;
	bool required;
	bool may_be_empty;
	const char *want;
	const char *alias; /**< its name in earlier releases; NULL: none */
};

/* Decimal, or hexadecimal with 0x: a leading zero means nothing, unlike in C. */
static int
read_number(const char *text, uint64_t max, uint64_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long long n;
	char *end;

	if (!(hex ? isxdigit((unsigned char)text[2]) : isdigit((unsigned char)text[0])))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, hex ? 16 : 10);
	if (errno != 0 || *end != '\0' || n > max)
		return -EINVAL;
	*number = n;
	return 0;
}

static int
read_ip(const char *text, struct roce_ip *ip)
{
	struct roce_ip v6;
	rte_be32_t v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*ip = roce_ip_from_v4(v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, v6.b) != 1)
		return -EINVAL;
	*ip = v6;
	return 0;
}

static int
take_number(const struct key *key, const char *value, void *field)
{
	uint64_t number;

	if (read_number(value, key->max, &number) != 0 || number < key->min)
		return -EINVAL;
	if (key->size == sizeof(uint64_t))
		*(uint64_t *)field = number;
	else
		*(uint32_t *)field = (uint32_t)number;
	return 0;
}

/* Of a million, or in percent. */
static int
take_share(const struct key *key, const char *value, void *field)
{
	return strchr(value, '%') != NULL ? roce_fault_percent_read(value, field)
					  : take_number(key, value, field);
}

static int
take_port(const struct key *key, const char *value, void *field)
{
	if (strlen(value) >= key->size || roce_devargs_name_len(value) == 0)
		return -EINVAL;
	memcpy(field, value, strlen(value) + 1);
	return 0;
}

static int
take_mtu(const struct key *key, const char *value, void *field)
{
	uint64_t number;

	if (read_number(value, key->max, &number) != 0 || number < key->min ||
			(number & (number - 1)) != 0)
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)number;
	return 0;
}

static int
take_ip(const struct key *key, const char *value, void *field)
{
	struct roce_devargs *args = container_of(field, struct roce_devargs, ip);
	char text[INET6_ADDRSTRLEN];
	const char *slash = strchr(value, '/');
	struct roce_subnet subnet;
	uint64_t prefix;
	size_t len;

	if (slash == NULL)
		return -EINVAL;
	len = (size_t)(slash - value);
	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, len);
	text[len] = '\0';
	if (read_ip(text, &subnet.addr) != 0 || !roce_ip_is_host(&subnet.addr))
		return -EINVAL;
	if (read_number(slash + 1, roce_ip_is_v4(&subnet.addr) ? 32 : 128, &prefix) != 0)
		return -EINVAL;
	subnet.prefix = (uint32_t)prefix;
	if (roce_subnet_is_reserved(&subnet, &subnet.addr) ||
			roce_subnet_owns(args->ip.at, args->ip.n, &subnet.addr))
		return -EINVAL;
	if (args->ip.n == RTE_DIM(args->ip.at))
		return -ENOSPC;
	/* Member by member: roce_devargs_equal() compares the bytes between them. */
	args->ip.at[args->ip.n].addr = subnet.addr;
	args->ip.at[args->ip.n++].prefix = subnet.prefix;
	return 0;
}

static int
take_progress(const struct key *key, const char *value, void *field)
{
	bool manual = strcmp(value, "manual") == 0;

	if (!manual && strcmp(value, "auto") != 0)
		return -EINVAL;
	*(uint32_t *)field = manual;
	return 0;
}

static int
take_gw(const struct key *key, const char *value, void *field)
{
	struct roce_ip gw;

	if (read_ip(value, &gw) != 0 || !roce_ip_is_host(&gw))
		return -EINVAL;
	memcpy(field, &gw, sizeof(gw));
	return 0;
}

static int
take_neigh(const struct key *key, const char *value, void *field)
{
	struct roce_devargs *args = container_of(field, struct roce_devargs, neigh);
	const char *at = strchr(value, '@');
	char text[INET6_ADDRSTRLEN];
	struct rte_ether_addr mac;
	struct roce_ip ip;
	size_t len;

	if (at == NULL)
		return -EINVAL;
	len = (size_t)(at - value);
	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, len);
	text[len] = '\0';
	if (read_ip(text, &ip) != 0 || !roce_ip_is_host(&ip))
		return -EINVAL;
	if (rte_ether_unformat_addr(at + 1, &mac) != 0 || !rte_is_valid_assigned_ether_addr(&mac))
		return -EINVAL;
	if (args->neigh.n == RTE_DIM(args->neigh.at))
		return -ENOSPC;
	args->neigh.at[args->neigh.n].ip = ip;
	args->neigh.at[args->neigh.n++].mac = mac;
	return 0;
}

/* One piece of `lcores=`: a number, or two with a dash between. */
static int
take_lcore_range(struct roce_devargs *args, const char *piece, uint64_t max)
{
	size_t len = strlen(piece);
	uint64_t first, last;
	char text[32];
	char *dash;

	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, piece, len + 1);
	dash = strchr(text, '-');
	if (dash != NULL)
		*dash = '\0';
	if (read_number(text, max, &first) != 0)
		return -EINVAL;
	last = first;
	if (dash != NULL && (read_number(dash + 1, max, &last) != 0 || last < first))
		return -EINVAL;
	for (; first <= last; first++) {
		for (uint32_t i = 0; i < args->lcores.n; i++) {
			if (args->lcores.at[i] == first)
				return -EINVAL;
		}
		if (args->lcores.n == RTE_DIM(args->lcores.at))
			return -ENOSPC;
		args->lcores.at[args->lcores.n++] = (uint32_t)first;
	}
	return 0;
}

static int
take_lcores(const struct key *key, const char *value, void *field)
{
	struct roce_devargs *args = container_of(field, struct roce_devargs, lcores);
	char text[TOKEN_LEN];
	char *piece = text;

	memcpy(text, value, strlen(value) + 1);
	while (text[0] != '\0' && piece != NULL) {
		char *comma = strchr(piece, ',');
		int rc;

		if (comma != NULL)
			*comma++ = '\0';
		rc = take_lcore_range(args, piece, key->max);
		if (rc != 0)
			return rc;
		piece = comma;
	}
	return 0;
}

#define SHARE "a share such as 0.1%, or of a million, 0..1000000"

#define FIELD(member)                                    \
	.offset = offsetof(struct roce_devargs, member), \
	.size = sizeof(((struct roce_devargs *)NULL)->member)

static const struct key keys[] = {
	/* clang-format off */
	{ "port", take_port, FIELD(port), .required = true,
	  .want = "a DPDK port name, PCI address, loop0, loop1, or virtual device with its arguments" },
	{ "ip", take_ip, FIELD(ip), .required = true, .repeats = true,
	  .want = "address/prefix, the address of one host in its subnet, given once" },
	{ "gw", take_gw, FIELD(gw), .want = "a host address" },
	{ "vlan", take_number, FIELD(vlan), .max = 4094, .want = "a tag 1..4094, or 0 for none" },
	{ "pcp", take_number, FIELD(pcp), .max = 7, .want = "a priority 0..7" },
	{ "dscp", take_number, FIELD(dscp), .max = 63, .want = "0..63" },
	{ "ecn", take_number, FIELD(ecn), .max = 1, .want = "0 or 1" },
	{ "mtu", take_mtu, FIELD(mtu), .min = 256, .max = 4096,
	  .want = "256, 512, 1024, 2048 or 4096" },
	{ "zero_copy", take_number, FIELD(zero_copy), .max = 4096, .want = "bytes, 0..4096" },
	{ "zcrx", take_number, FIELD(zcrx), .alias = "lend", .max = 65536,
	  .want = "frames, 0..65536" },
	{ "queues", take_number, FIELD(queues), .min = 1, .max = ROCE_ENGINES_MAX, .want = "1..8" },
	{ "lcores", take_lcores, FIELD(lcores), .max = RTE_MAX_LCORE - 1, .may_be_empty = true,
	  .want = "lcore numbers with commas, each once" },
	{ "neigh", take_neigh, FIELD(neigh), .repeats = true, .want = "address@mac" },
	{ "qpn", take_number, FIELD(qpn), .min = 2, .max = 0xffffff, .want = "2..0xffffff" },
	{ "psn", take_number, FIELD(psn), .max = 0xffffff, .want = "0..0xffffff" },
	{ "seed", take_number, FIELD(seed), .max = UINT64_MAX, .want = "a number of 64 bits" },
	{ "retry", take_number, FIELD(retry), .max = 7, .want = "0..7" },
	{ "rnr_retry", take_number, FIELD(rnr_retry), .max = 7, .want = "0..7" },
	{ "rnr_timer", take_number, FIELD(rnr_timer), .max = 31, .want = "a code 0..31" },
	{ "timeout", take_number, FIELD(timeout), .max = 31, .want = "a code 0..31" },
	{ "progress", take_progress, FIELD(manual), .want = "auto or manual" },
	{ "loss", take_share, FIELD(fault[ROCE_FAULT_LOSS]), .max = 1000000, .want = SHARE },
	{ "duplicate", take_share, FIELD(fault[ROCE_FAULT_DUPLICATE]), .max = 1000000, .want = SHARE },
	{ "reorder", take_share, FIELD(fault[ROCE_FAULT_REORDER]), .max = 1000000, .want = SHARE },
	{ "corrupt", take_share, FIELD(fault[ROCE_FAULT_CORRUPT]), .max = 1000000, .want = SHARE },
	{ "mark", take_share, FIELD(fault[ROCE_FAULT_MARK]), .max = 1000000, .want = SHARE },
	{ "rnr", take_share, FIELD(rnr), .max = 1000000, .want = SHARE },
	{ "wc_error", take_share, FIELD(wc_error), .max = 1000000, .want = SHARE },
	/* clang-format on */
};

static_assert(ROCE_ENGINES_MAX == 8, "the sentence of queues= says 1..8");
static_assert(RTE_DIM(keys) <= 32, "struct roce_devargs::given has a bit per key");

static bool
is_name(const char *known, const char *name, size_t len)
{
	return known != NULL && strlen(known) == len && strncmp(known, name, len) == 0;
}

static const struct key *
find_key(const char *name, size_t len)
{
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		if (is_name(keys[i].name, name, len) || is_name(keys[i].alias, name, len))
			return &keys[i];
	}
	return NULL;
}

/* One `key=value`; the token is ours and ends with a zero. */
static int
take_token(const char *token, struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	size_t name_len = strcspn(token, "=");
	const char *value = token + name_len + 1;
	const struct key *key = find_key(token, name_len);
	uint32_t bit;
	int rc;

	if (key == NULL)
		return roce_errmsg_set(errmsg, -EINVAL, "unknown key '%.*s'", (int)name_len, token);
	bit = UINT32_C(1) << (key - keys);
	if (token[name_len] == '\0' || (*value == '\0' && !key->may_be_empty))
		return roce_errmsg_set(
				errmsg, -EINVAL, "%s= has no value: want %s", key->name, key->want);
	if ((args->given & bit) != 0 && !key->repeats)
		return roce_errmsg_set(errmsg, -EINVAL, "%s= is given twice", key->name);
	rc = key->take(key, value, (char *)args + key->offset);
	if (rc == -ENOSPC)
		return roce_errmsg_set(errmsg, -EINVAL, "%s= is given too many times", key->name);
	if (rc != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "%s=%.200s is invalid: want %s", key->name,
				value, key->want);
	args->given |= bit;
	return 0;
}

static int
take_pairs(const char *text, struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	char token[TOKEN_LEN];

	while (*text != '\0') {
		size_t len = 0;
		int rc;

		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		while (text[len] != '\0' && !isspace((unsigned char)text[len]))
			len++;
		if (len >= sizeof(token))
			return roce_errmsg_set(errmsg, -EINVAL, "%.*s... is too long", 32, text);
		memcpy(token, text, len);
		token[len] = '\0';
		rc = take_token(token, args, errmsg);
		if (rc != 0)
			return rc;
		text += len;
	}
	return 0;
}

static void
set_defaults(struct roce_devargs *args)
{
	memset(args, 0, sizeof(*args));
	args->queues = 1;
	args->ecn = 1;
	args->psn = UINT32_MAX;
	args->retry = 7;
	args->rnr_retry = 7;
	args->rnr_timer = 12;
	/* 0.54 s, eight times with the retries: a peer may be stopped for four seconds. */
	args->timeout = 17;
}

int
roce_devargs_read(const char *text, const char *override, struct roce_devargs *args,
		struct roce_errmsg *errmsg)
{
	struct roce_devargs base, over;
	int rc;

	set_defaults(&base);
	set_defaults(&over);
	rc = take_pairs(text, &base, errmsg);
	if (rc == 0 && override != NULL)
		rc = take_pairs(override, &over, errmsg);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		const struct key *key = &keys[i];
		uint32_t bit = UINT32_C(1) << i;

		if ((over.given & bit) != 0)
			memcpy((char *)&base + key->offset, (char *)&over + key->offset, key->size);
		base.given |= over.given & bit;
	}
	memcpy(args, &base, sizeof(base));
	return 0;
}

int
roce_devargs_complete(const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		if (keys[i].required && (args->given & (UINT32_C(1) << i)) == 0)
			return roce_errmsg_set(errmsg, -EINVAL, "%s= is missing: want %s",
					keys[i].name, keys[i].want);
	}
	return 0;
}

int
roce_devargs_parse(const char *text, const char *override, struct roce_devargs *args,
		struct roce_errmsg *errmsg)
{
	struct roce_devargs read;
	int rc = roce_devargs_read(text, override, &read, errmsg);

	if (rc == 0)
		rc = roce_devargs_complete(&read, errmsg);
	if (rc == 0)
		memcpy(args, &read, sizeof(read));
	return rc;
}

void
roce_devargs_set_port(struct roce_devargs *args, const char *name)
{
	const struct key *port = find_key("port", 4);

	memcpy(args->port, name, strlen(name) + 1);
	args->given |= UINT32_C(1) << (port - keys);
}

bool
roce_devargs_has(const struct roce_devargs *args, const char *key)
{
	const struct key *k = find_key(key, strlen(key));

	return k != NULL && (args->given & (UINT32_C(1) << (k - keys))) != 0;
}

bool
roce_devargs_equal(const struct roce_devargs *a, const struct roce_devargs *b)
{
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		const struct key *key = &keys[i];

		if (memcmp((const char *)a + key->offset, (const char *)b + key->offset,
				    key->size) != 0)
			return false;
	}
	return a->given == b->given;
}

const char *
roce_devargs_differ(const struct roce_devargs *a, const struct roce_devargs *b)
{
	for (size_t i = 0; i < RTE_DIM(keys); i++) {
		const struct key *key = &keys[i];

		if ((b->given & (UINT32_C(1) << i)) != 0 &&
				memcmp((const char *)a + key->offset, (const char *)b + key->offset,
						key->size) != 0)
			return key->name;
	}
	return NULL;
}

size_t
roce_devargs_name_len(const char *port)
{
	return strcspn(port, ",");
}
