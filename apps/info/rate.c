/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate.h"

#include <stdio.h>

uint64_t
info_distance(uint64_t before, uint64_t now, unsigned int bits)
{
	uint64_t mask = UINT64_MAX >> (64 - bits);
	uint64_t distance = (now - before) & mask;

	return distance > mask / 2 ? 0 : distance;
}

const char *
info_rate_text(double rate, char *text)
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	/* 999.95 would be printed as 1000. */
	while (rate >= 999.5 && unit < sizeof(units) - 2) {
		rate /= 1000;
		unit++;
	}
	if (rate == 0)
		snprintf(text, 16, "0");
	else if (unit == 0)
		snprintf(text, 16, rate < 9.95 ? "%.1f" : "%.0f", rate);
	else
		snprintf(text, 16, "%.*f%c",
				rate < 9.995                   ? 2
						: rate < 99.95 ? 1
							       : 0,
				rate, units[unit]);
	return text;
}
