/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_LOG_H
#define ROCE_OBSERVE_LOG_H

/**
 * @file
 * Logs of the control path. The data path counts and never logs.
 *
 * The types are "roce.port" (devices), "roce.qp" (what engines tell of queue
 * pairs and their queues) and "roce.cm" (connections), all at level NOTICE: a
 * program is quiet until UDAPL_ROCE_LOG (a level: error, warning, notice, info,
 * debug) or EAL's --log-level=roce.*:info asks for more. Of the last two an
 * address without a route is NOTICE, a pair that breaks INFO, the rest of what is
 * rare DEBUG.
 */

#include <rte_log.h>

#include "observe/errmsg.h"

extern int roce_log_port;
extern int roce_log_qp;
extern int roce_log_cm;

/** One line of a type (port, qp, cm), without the newline: it is added. @p level is EMERG .. DEBUG. */
#define ROCE_LOG_OF(type, level, format, ...) \
	rte_log(RTE_LOG_##level, (uint32_t)roce_log_##type, "roce: " format "\n", ##__VA_ARGS__)

/** The same of type port. */
#define ROCE_LOG(level, format, ...) ROCE_LOG_OF(port, level, format, ##__VA_ARGS__)

/** Is UDAPL_ROCE_LOG one of the levels, or not set? @return 0; -EINVAL. */
int roce_log_check(struct roce_errmsg *errmsg);

/** Do as UDAPL_ROCE_LOG says, if it is set. */
void roce_log_setup(void);

#endif
