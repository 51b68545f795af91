/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Regions of shared memory. Which memory is shared, and by which name, is agreed upon by processes among themselves; here it
 * is seen to that the memory is shared at all, and that one name means one piece of memory.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_spinlock.h>

#include "dapl/shared.h"

static LIST_HEAD(shared_list, dapl_shared) shared = LIST_HEAD_INITIALIZER(shared);
static rte_spinlock_t shared_lock = RTE_SPINLOCK_INITIALIZER;

/** A line of /proc/self/maps. */
struct mapping {
	uint64_t start, end;
	struct dapl_backing backing; /**< of its first byte */
	bool is_shared;
};

/* A number, and what must stand behind it. @return where the next begins; NULL: it is not so, or @p at is NULL already. */
static const char *
number(const char *at, int base, char behind, uint64_t *value)
{
	char *end;

	if (at == NULL)
		return NULL;
	*value = strtoull(at, &end, base);
	return end != at && *end == behind ? end + 1 : NULL;
}

/* start-end rights offset major:minor inode name, all but the inode in base 16. */
static bool
parse(const char *line, struct mapping *map)
{
	uint64_t major, minor;
	const char *at = number(line, 16, '-', &map->start);

	at = number(at, 16, ' ', &map->end);
	if (at == NULL || strlen(at) < 5)
		return false;
	map->is_shared = at[3] == 's';
	at = number(at + 5, 16, ' ', &map->backing.offset);
	at = number(at, 16, ':', &major);
	at = number(at, 16, ' ', &minor);
	if (at == NULL)
		return false;
	/* Behind the inode is a blank, or the end of the line. */
	map->backing.inode = strtoull(at, NULL, 10);
	map->backing.device = major << 32 | minor;
	return true;
}

/* The lines are in the order of their addresses: from one to the next there may be no gap. */
static bool
all_shared(FILE *maps, uint64_t addr, uint64_t end, struct dapl_backing *backing)
{
	uint64_t at = addr;
	char *line = NULL;
	size_t room = 0;

	while (at < end && getline(&line, &room, maps) >= 0) {
		struct mapping map;

		if (!parse(line, &map) || map.end <= at)
			continue;
		if (map.start > at || !map.is_shared)
			break;
		if (at == addr) {
			*backing = map.backing;
			backing->offset += addr - map.start;
		}
		at = map.end;
	}
	free(line);
	return at >= end;
}

bool
dapl_shared_find_backing(uint64_t addr, uint64_t length, struct dapl_backing *backing)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool yes;

	*backing = (struct dapl_backing){ .inode = 0 };
	/* Where there is no such file nobody can tell: the consumer's word is taken. */
	if (maps == NULL)
		return true;
	yes = all_shared(maps, addr, addr + length, backing);
	fclose(maps);
	return yes;
}

static bool
same_place(const struct dapl_shared *a, const struct dapl_shared *b)
{
	return a->length == b->length && a->backing.device == b->backing.device &&
			a->backing.inode == b->backing.inode &&
			a->backing.offset == b->backing.offset;
}

bool
dapl_shared_add(struct dapl_shared *entry)
{
	const struct dapl_shared *other;
	bool agreed = true;

	rte_spinlock_lock(&shared_lock);
	LIST_FOREACH(other, &shared, link)
		/* All of its bytes count, behind a zero, too. */
		if (memcmp(other->cookie, entry->cookie, sizeof(entry->cookie)) == 0 &&
				!same_place(other, entry))
			agreed = false;
	if (agreed)
		LIST_INSERT_HEAD(&shared, entry, link);
	rte_spinlock_unlock(&shared_lock);
	return agreed;
}

void
dapl_shared_remove(struct dapl_shared *entry)
{
	rte_spinlock_lock(&shared_lock);
	LIST_REMOVE(entry, link);
	rte_spinlock_unlock(&shared_lock);
}
