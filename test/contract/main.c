/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of every test program that has none of its own. */

#include "rig.h"

int
main(void)
{
	return rig_run();
}
