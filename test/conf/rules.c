/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules out of text: lines, tokens, numbers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rules.h"

#define TEXT_MAX 256

/* Where the reader is. */
struct place {
	const char *path;
	const char *file;
	unsigned int number;
};

static _Noreturn void
give_up(const struct place *at, const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", at->path, at->number, what);
	exit(EXIT_FAILURE);
}

static char *
copy(const struct place *at, const char *text)
{
	char *s = strdup(text);

	if (s == NULL)
		give_up(at, "out of memory");
	return s;
}

static struct rule *
new_rule(const struct place *at, char *words, struct rule **rules, unsigned int *count)
{
	const char *name = strtok(words, " \t");
	struct rule *rule;

	if (name == NULL)
		give_up(at, "a rule without a name");
	for (unsigned int i = 0; i < *count; i++) {
		if (strcmp((*rules)[i].name, name) == 0)
			give_up(at, "a second rule of this name");
	}
	*rules = realloc(*rules, (*count + 1) * sizeof(**rules));
	if (*rules == NULL)
		give_up(at, "out of memory");
	rule = &(*rules)[(*count)++];
	*rule = (struct rule){ .file = at->file, .name = copy(at, name), .says = "" };
	return rule;
}

static void
new_line(const struct place *at, struct rule *rule, const char *text)
{
	struct rule_line *line = &rule->line[rule->lines];
	char *words = copy(at, text);

	if (rule->lines++ == RULE_LINES)
		give_up(at, "too many statements");
	*line = (struct rule_line){ .number = at->number, .text = copy(at, text), .words = words };
	for (char *w = strtok(words, " \t"); w != NULL; w = strtok(NULL, " \t")) {
		if (line->tokens == RULE_TOKENS)
			give_up(at, "too many words");
		line->token[line->tokens++] = w;
	}
}

static void
take_line(const struct place *at, char *text, struct rule **rules, unsigned int *count)
{
	text += strspn(text, " \t");
	text[strcspn(text, "\n")] = '\0';
	if (text[0] == '\0' || text[0] == '#' || strncmp(text, "==", 2) == 0)
		return;
	if (strncmp(text, "rule ", 5) == 0) {
		(void)new_rule(at, text + 5, rules, count);
		return;
	}
	if (*count == 0 || (*rules)[*count - 1].file != at->file)
		give_up(at, "a statement outside of a rule");
	if (text[0] == '=')
		(*rules)[*count - 1].says = copy(at, text + 1 + strspn(text + 1, " "));
	else
		new_line(at, &(*rules)[*count - 1], text);
}

void
rules_read(const char *path, struct rule **rules, unsigned int *count)
{
	const char *slash = strrchr(path, '/');
	struct place at = { .path = path };
	char text[TEXT_MAX];
	FILE *f = fopen(path, "r");

	at.file = slash != NULL ? slash + 1 : path;
	if (f == NULL)
		give_up(&at, "cannot be read");
	while (fgets(text, sizeof(text), f) != NULL) {
		at.number++;
		if (strchr(text, '\n') == NULL)
			give_up(&at, "a line too long");
		take_line(&at, text, rules, count);
	}
	fclose(f);
}

static bool
unit_of(const char **text, uint64_t *value)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} unit[] = { { "mtu", FX_MTU }, { "mem", FX_MEMORY } };

	for (size_t i = 0; i < RTE_DIM(unit); i++) {
		if (strncmp(*text, unit[i].name, 3) == 0) {
			*text += 3;
			*value *= unit[i].bytes;
			return true;
		}
	}
	return false;
}

bool
rules_number(const char *text, uint64_t *value)
{
	uint64_t sum = 0;

	do {
		bool minus = *text == '-';
		uint64_t term = 1;
		char *end;

		if (*text == '-' || *text == '+')
			text++;
		if (*text >= '0' && *text <= '9') {
			term = strtoull(text, &end, 0);
			text = end;
			(void)unit_of(&text, &term);
		} else if (!unit_of(&text, &term)) {
			return false;
		}
		sum += minus ? -term : term;
	} while (*text == '+' || *text == '-');
	*value = sum;
	return *text == '\0';
}
