/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/fault_args.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#define VARIABLE "ROCE_FAULTS"

/** Parts of a million in a percent, and the decimals of a percent that make them. */
#define PPM_PERCENT 10000u
#define DECIMALS    4u

#define TEXT_MAX 512u

#define SHARE(key, member)                                 \
	{                                                  \
		key, offsetof(struct roce_devargs, member) \
	}

static const struct share {
	const char *key;
	size_t offset;
} shares[] = {
	SHARE("loss", fault[ROCE_FAULT_LOSS]),
	SHARE("duplicate", fault[ROCE_FAULT_DUPLICATE]),
	SHARE("reorder", fault[ROCE_FAULT_REORDER]),
	SHARE("corrupt", fault[ROCE_FAULT_CORRUPT]),
	SHARE("mark", fault[ROCE_FAULT_MARK]),
	SHARE("rnr", rnr),
	SHARE("wc_error", wc_error),
};

int
roce_fault_percent_read(const char *text, uint32_t *ppm)
{
	uint32_t value = 0, digits = 0, decimals = 0;

	for (; isdigit((unsigned char)*text) && value <= 100; digits++)
		value = value * 10 + (uint32_t)(*text++ - '0');
	value *= PPM_PERCENT;
	if (digits > 0 && *text == '.') {
		uint32_t scale = PPM_PERCENT;

		for (text++; isdigit((unsigned char)*text) && decimals < DECIMALS; decimals++) {
			scale /= 10;
			value += (uint32_t)(*text++ - '0') * scale;
		}
		digits = decimals;
	}
	if (digits == 0 || strcmp(text, "%") != 0 || value > 100 * PPM_PERCENT)
		return -EINVAL;
	*ppm = value;
	return 0;
}

static bool
is_fault(const char *word, size_t len)
{
	const size_t name = RTE_MIN(strcspn(word, "="), len);

	for (size_t i = 0; i < RTE_DIM(shares); i++) {
		if (strlen(shares[i].key) == name && memcmp(shares[i].key, word, name) == 0)
			return true;
	}
	return name == strlen("seed") && memcmp(word, "seed", name) == 0;
}

/* An instance string of the same pairs. */
static int
to_pairs(const char *text, char pairs[TEXT_MAX], struct roce_errmsg *errmsg)
{
	static const char between[] = ", \t\n";
	size_t used = 0;

	if (strlen(text) >= TEXT_MAX)
		return roce_errmsg_set(errmsg, -EINVAL, VARIABLE " is too long: %.32s...", text);
	while (*(text += strspn(text, between)) != '\0') {
		const size_t len = strcspn(text, between);

		if (!is_fault(text, len))
			return roce_errmsg_set(errmsg, -EINVAL,
					VARIABLE
					": %.*s is unknown: want seed=, loss=, duplicate=, "
					"reorder=, corrupt=, mark=, rnr= or wc_error=",
					(int)len, text);
		memcpy(pairs + used, text, len);
		used += len;
		text += len;
		pairs[used++] = ' ';
	}
	pairs[used] = '\0';
	return 0;
}

int
roce_fault_args_add(const char *text, struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	char pairs[TEXT_MAX + 1], why[256] = "";
	struct roce_devargs faults;
	int rc;

	if (text == NULL || *text == '\0')
		return 0;
	rc = to_pairs(text, pairs, errmsg);
	if (rc != 0)
		return rc;
	rc = roce_devargs_read(pairs, NULL, &faults,
			&(struct roce_errmsg){ .text = why, .len = sizeof(why) });
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, VARIABLE ": %s", why);
	for (size_t i = 0; i < RTE_DIM(shares); i++) {
		if (!roce_devargs_has(args, shares[i].key))
			memcpy((char *)args + shares[i].offset, (char *)&faults + shares[i].offset,
					sizeof(uint32_t));
	}
	if (!roce_devargs_has(args, "seed")) {
		args->fault_seed =
				roce_devargs_has(&faults, "seed") ? faults.seed : ROCE_FAULT_SEED;
		args->fault_seeded = true;
	}
	return 0;
}

struct roce_fault_config
roce_fault_config(const struct roce_devargs *args, uint64_t seed)
{
	return (struct roce_fault_config){
		.seed = seed,
		.rnr = roce_fault_threshold(args->rnr),
		.wc_error = roce_fault_threshold(args->wc_error),
	};
}
