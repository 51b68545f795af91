/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_MEMBARRIER_H
#define ROCE_DEVICE_MEMBARRIER_H

/** Let locks be biased to threads (queue/bias.h), where the system can. Any thread, any number of times. */
void roce_port_use_membarrier(void);

#endif
