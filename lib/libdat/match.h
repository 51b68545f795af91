/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_MATCH_H
#define LIBDAT_MATCH_H

/**
 * @file
 * Which entry of the registry answers a dat_ia_openv().
 *
 * Name and major version must be equal. The minor version may be later than the one asked for,
 * since a later table of calls only has more at its end, and never earlier. A thread safe Provider
 * serves both kinds of consumers, the other kind only those that ask for no safety. Among the
 * entries that fit, the exact minor version is best, then the highest; among those, the exact
 * thread safety (uDAPL 1.2 dat_ia_openv(3DAT)).
 */

#include <stdbool.h>

#include "export.h"

/** The version that a consumer asks for. */
struct libdat_wish {
	const char *name;
	DAT_UINT32 major;
	DAT_UINT32 minor;
	bool thread_safe;
};

/** How far an entry agrees with a wish; each value means that all before it agree. */
enum libdat_match {
	LIBDAT_MATCH_NOTHING,
	LIBDAT_MATCH_NAME,
	LIBDAT_MATCH_MAJOR,
	LIBDAT_MATCH_MINOR,
	LIBDAT_MATCH_ALL,
};

/** How far @p have agrees with @p wish. Pure. */
enum libdat_match libdat_match(const struct libdat_wish *wish, const DAT_PROVIDER_INFO *have);

/** Whether @p a serves @p wish better than @p b, where both match it. Pure. */
bool libdat_match_better(const struct libdat_wish *wish, const DAT_PROVIDER_INFO *a,
		const DAT_PROVIDER_INFO *b);

/** The return value of dat_ia_openv() when no entry agrees further than @p best. Pure. */
DAT_RETURN libdat_match_error(enum libdat_match best);

/** Whether the two are the same entry: all fields are equal. Pure. */
bool libdat_match_same(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b);

#endif /* LIBDAT_MATCH_H */
