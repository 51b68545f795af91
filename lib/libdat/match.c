/* SPDX-License-Identifier: BSD-3-Clause */

#include "match.h"

#include <string.h>

enum libdat_match
libdat_match(const struct libdat_wish *wish, const DAT_PROVIDER_INFO *have)
{
	if (strcmp(wish->name, have->ia_name) != 0)
		return LIBDAT_MATCH_NOTHING;
	if (wish->major != have->dapl_version_major)
		return LIBDAT_MATCH_NAME;
	if (wish->minor > have->dapl_version_minor)
		return LIBDAT_MATCH_MAJOR;
	if (wish->thread_safe && have->is_thread_safe == DAT_FALSE)
		return LIBDAT_MATCH_MINOR;
	return LIBDAT_MATCH_ALL;
}

bool
libdat_match_better(const struct libdat_wish *wish, const DAT_PROVIDER_INFO *a,
		const DAT_PROVIDER_INFO *b)
{
	if (a->dapl_version_minor != b->dapl_version_minor) {
		if (a->dapl_version_minor == wish->minor || b->dapl_version_minor == wish->minor)
			return a->dapl_version_minor == wish->minor;
		return a->dapl_version_minor > b->dapl_version_minor;
	}
	return (a->is_thread_safe != DAT_FALSE) == wish->thread_safe &&
			(b->is_thread_safe != DAT_FALSE) != wish->thread_safe;
}

DAT_RETURN
libdat_match_error(enum libdat_match best)
{
	static const DAT_RETURN_SUBTYPE missing[] = {
		[LIBDAT_MATCH_NOTHING] = DAT_NAME_NOT_REGISTERED,
		[LIBDAT_MATCH_NAME] = DAT_MAJOR_NOT_FOUND,
		[LIBDAT_MATCH_MAJOR] = DAT_MINOR_NOT_FOUND,
		[LIBDAT_MATCH_MINOR] = DAT_THREAD_SAFETY_NOT_FOUND,
		/* There was an entry, so what failed is its library. */
		[LIBDAT_MATCH_ALL] = DAT_NO_SUBTYPE,
	};

	return LIBDAT_ERROR(DAT_PROVIDER_NOT_FOUND, missing[best]);
}

bool
libdat_match_same(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return strcmp(a->ia_name, b->ia_name) == 0 &&
			a->dapl_version_major == b->dapl_version_major &&
			a->dapl_version_minor == b->dapl_version_minor &&
			a->is_thread_safe == b->is_thread_safe;
}
