/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_LOG_H
#define ROCE_PORT_LOG_H

/**
 * @file
 * Logs of the control path. The data path counts and never logs.
 *
 * The type is "roce.port", at level NOTICE: a program is
 * quiet until UDAPL_ROCE_LOG (a level: error, warning, notice, info, debug)
 * or EAL's --log-level=roce.*:info asks for more.
 */

#include <rte_log.h>

extern int roce_log_port;

/** One line, without the newline: it is added. @p level is EMERG .. DEBUG. */
#define ROCE_LOG(level, format, ...) \
	rte_log(RTE_LOG_##level, (uint32_t)roce_log_port, "roce: " format "\n", ##__VA_ARGS__)

/** Do as UDAPL_ROCE_LOG says, if it is set. */
void roce_log_setup(void);

#endif
