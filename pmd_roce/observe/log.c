/* SPDX-License-Identifier: BSD-3-Clause */
/* The prefix of the suffixes below. */
#define RTE_LOG_DEFAULT_LOGTYPE roce
#include "observe/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

RTE_LOG_REGISTER_SUFFIX(roce_log_port, port, NOTICE)
RTE_LOG_REGISTER_SUFFIX(roce_log_qp, qp, NOTICE)
RTE_LOG_REGISTER_SUFFIX(roce_log_cm, cm, NOTICE)

static const struct level {
	const char *name;
	uint32_t level;
} levels[] = {
	{ "error", RTE_LOG_ERR },
	{ "warning", RTE_LOG_WARNING },
	{ "notice", RTE_LOG_NOTICE },
	{ "info", RTE_LOG_INFO },
	{ "debug", RTE_LOG_DEBUG },
};

/* NULL when it is not set. */
static const char *
wanted(void)
{
	const char *want = secure_getenv("UDAPL_ROCE_LOG");

	return want != NULL && *want != '\0' ? want : NULL;
}

static const struct level *
find_level(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(levels); i++) {
		if (strcmp(name, levels[i].name) == 0)
			return &levels[i];
	}
	return NULL;
}

int
roce_log_check(struct roce_errmsg *errmsg)
{
	const char *want = wanted();

	if (want == NULL || find_level(want) != NULL)
		return 0;
	return roce_errmsg_set(errmsg, -EINVAL,
			"UDAPL_ROCE_LOG=%.100s: must be error, warning, notice, info or debug",
			want);
}

void
roce_log_setup(void)
{
	const char *want = wanted();
	const struct level *level = want != NULL ? find_level(want) : NULL;

	if (level != NULL)
		rte_log_set_level_pattern("roce.*", level->level);
}
