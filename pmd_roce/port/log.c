/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in front of the suffixes below. */
#define RTE_LOG_DEFAULT_LOGTYPE roce
#include "port/log.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

RTE_LOG_REGISTER_SUFFIX(roce_log_port, port, NOTICE)
RTE_LOG_REGISTER_SUFFIX(roce_log_qp, qp, NOTICE)
RTE_LOG_REGISTER_SUFFIX(roce_log_cm, cm, NOTICE)

void
roce_log_setup(void)
{
	static const struct {
		const char *name;
		uint32_t level;
	} levels[] = {
		{ "error", RTE_LOG_ERR },
		{ "warning", RTE_LOG_WARNING },
		{ "notice", RTE_LOG_NOTICE },
		{ "info", RTE_LOG_INFO },
		{ "debug", RTE_LOG_DEBUG },
	};
	const char *want = secure_getenv("UDAPL_ROCE_LOG");

	if (want == NULL || *want == '\0')
		return;
	for (size_t i = 0; i < RTE_DIM(levels); i++) {
		if (strcmp(want, levels[i].name) == 0) {
			rte_log_set_level_pattern("roce.*", levels[i].level);
			return;
		}
	}
	ROCE_LOG(WARNING,
			"UDAPL_ROCE_LOG=%s is no level: want error, warning, notice, info or debug",
			want);
}
