/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_TEXT_H
#define INFO_TEXT_H

/**
 * @file
 * Writing metrics: the text format of Prometheus, version 0.0.4, or OpenMetrics 1.0.
 *
 * Of one family all samples stand together behind its head. The two formats differ in where _total stands, and in
 * the mark of the end.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum info_kind {
	INFO_GAUGE = 1,
	INFO_COUNTER,
};

struct info_text {
	FILE *out;
	bool openmetrics;
	char name[96]; /**< of the family, with what it has of _total */
	bool first;    /**< no label of the sample was written yet */
};

/** Begin a family. @p name without _total; characters that no name may have become underlines. */
void
info_text_family(struct info_text *text, enum info_kind kind, const char *name, const char *help);

/** A sample of it: its beginning, a label (any text), its end. */
void info_text_sample(struct info_text *text);
void info_text_label(struct info_text *text, const char *label, const char *value);
void info_text_value(struct info_text *text, uint64_t value);

/** Behind the last family. */
void info_text_end(struct info_text *text);

#endif /* INFO_TEXT_H */
