/* SPDX-License-Identifier: BSD-3-Clause */
/* /roce/help: what each counter of /roce/stats and, with cm_ before their names, of /roce/cm means. */

#include <stdio.h>

#include "observe/telemetry_pvt.h"

static void
add(struct rte_tel_data *dict, const char *name, const char *unit, const char *meaning)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	snprintf(text, sizeof(text), "%s (%s)", meaning, unit);
	rte_tel_data_add_dict_string(dict, name, text);
}

static int
answer_help(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const char *name, *unit, *meaning;

	rte_tel_data_start_dict(data);
	for (unsigned int i = 0; roce_telemetry_source->meaning(i, &name, &unit, &meaning); i++)
		add(data, name, unit, meaning);
#define STAT(name, unit, meaning) add(data, "cm_" #name, unit, meaning);
#include "cm/cm_stats.def"
#undef STAT
	return 0;
}

void
roce_telemetry_help_setup(void)
{
	rte_telemetry_register_cmd("/roce/help", answer_help,
			"What each counter means, and its unit; those of /roce/cm begin with cm_. Takes no parameters");
}
