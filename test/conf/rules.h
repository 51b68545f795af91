/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CONF_RULES_H
#define ROCE_TEST_CONF_RULES_H

/**
 * @file
 * Conformance rules as they stand in *.def: data, one rule a paragraph.
 *
 *   rule NAME [REFERENCE]
 *     = what the rule says, in one sentence
 *     STATEMENT ...
 *
 * Lines that begin with # are comments, "== TITLE" begins a section of the page that rules.py writes. play.h describes
 * the statements.
 */

#include <stdbool.h>
#include <stdint.h>

#define RULE_TOKENS 32u
#define RULE_LINES  64u

/** One statement, cut at its blanks. */
struct rule_line {
	unsigned int number; /**< of the line in its file */
	unsigned int tokens;
	const char *token[RULE_TOKENS];
	const char *text; /**< whole, as it was written */
	char *words;      /**< where the tokens stand */
};

struct rule {
	const char *file; /**< without its folder */
	const char *name;
	const char *says;
	unsigned int lines;
	struct rule_line line[RULE_LINES];
};

/**
 * Read a file of rules.
 *
 * A fault of the file ends the program with a sentence: it is never what a test is about.
 *
 * @param count  rules read before; those of this file are counted on top.
 * @param rules  all rules so far; grown, may move. The caller never frees it: it lives as long as the program.
 */
void rules_read(const char *path, struct rule **rules, unsigned int *count);

/**
 * The value of "5", "0x10", "mtu", "2mtu+5", "mem-8": terms in bytes, the MTU and the registered memory of the stage.
 * @return false: not a number.
 */
bool rules_number(const char *text, uint64_t *value);

#endif
