/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Opening, closing and listing Interface Adapters: where dat.conf and the registered Providers come
 * together.
 */

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "loader.h"
#include "log.h"
#include "match.h"
#include "registry.h"
#include "statics.h"

/* An open instance. That it is on the list is what makes a handle valid for dat_ia_close(). */
struct open_ia {
	struct open_ia *next;
	DAT_IA_HANDLE handle;
	struct libdat_provider *provider;
};

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_ia *open_first;

static void
before_fork(void)
{
	pthread_mutex_lock(&open_lock);
	libdat_registry_before_fork();
}

static void
after_fork(void)
{
	libdat_registry_after_fork();
	pthread_mutex_unlock(&open_lock);
}

static void
in_child(void)
{
	libdat_registry_in_child();
	pthread_mutex_unlock(&open_lock);
}

/* Before anybody can have a lock. */
static void __attribute__((constructor)) watch_forks(void)
{
	(void)pthread_atfork(before_fork, after_fork, in_child);
}

static DAT_PROVIDER_INFO
info_of(const struct libdat_conf_entry *e)
{
	DAT_PROVIDER_INFO info = {
		.dapl_version_major = e->api_major,
		.dapl_version_minor = e->api_minor,
		.is_thread_safe = e->thread_safe ? DAT_TRUE : DAT_FALSE,
	};

	static_assert(sizeof(info.ia_name) == sizeof(e->ia_name), "a name fits into a name");
	memcpy(info.ia_name, e->ia_name, sizeof(info.ia_name));
	return info;
}

/* The best entry of dat.conf for a wish, or null; the first of equals. */
static struct libdat_conf_entry *
best_entry(const struct libdat_wish *wish, const struct libdat_statics *s, enum libdat_match *best)
{
	struct libdat_conf_entry *found = NULL;
	DAT_PROVIDER_INFO found_info;

	for (size_t i = 0; i < s->count; i++) {
		DAT_PROVIDER_INFO info = info_of(&s->entry[i]);
		enum libdat_match match = libdat_match(wish, &info);

		if (match > *best)
			*best = match;
		if (match != LIBDAT_MATCH_ALL)
			continue;
		if (found == NULL || libdat_match_better(wish, &info, &found_info)) {
			found = &s->entry[i];
			found_info = info;
		}
	}
	return found;
}

/* Load the library of an entry and let it register itself. Failures are told in the log only. */
static void
load_entry(const struct libdat_conf_entry *e, const char *origin)
{
	DAT_PROVIDER_INFO info = info_of(e);
	struct libdat_library library;

	libdat_log(LIBDAT_LOG_STATIC, "%s: %s needs %s.", origin, e->ia_name, e->library);
	if (libdat_library_load(e->library, &library) != 0)
		return;
	library.init(&info, e->instance);
	/* A program with libdat.a that does not export it has two: that of the library's libdat.so, too. */
	if (!libdat_provider_loaded(&info, library.fini))
		libdat_log(LIBDAT_LOG_ERROR | LIBDAT_LOG_STATIC,
				"The library %s did not register %s with this copy of libdat.",
				e->library, e->ia_name);
}

/*
 * Find the best Provider, loading libraries as long as dat.conf has something better than what is
 * registered. An entry is tried once: when its library does not load, the next best has its turn.
 */
static struct libdat_provider *
choose_provider(const struct libdat_wish *wish, struct libdat_statics *s, enum libdat_match *best)
{
	for (;;) {
		struct libdat_provider *p = libdat_provider_acquire(wish, best);
		struct libdat_conf_entry *e = best_entry(wish, s, best);
		DAT_PROVIDER_INFO info;

		if (e == NULL)
			return p;
		info = info_of(e);
		if (p != NULL && !libdat_match_better(wish, &info, &p->info))
			return p;
		if (p != NULL)
			libdat_provider_release(p);
		load_entry(e, s->origin);
		e->ia_name[0] = '\0'; /* no wish has an empty name */
	}
}

/* Why a name is not found although the file has it: once, since the file may be shared with other registries. */
static void
say_passed_over(const struct libdat_wish *wish, const struct libdat_statics *s)
{
	for (size_t i = 0; i < s->passed_count; i++) {
		const struct libdat_conf_entry *e = &s->passed[i];

		if (strcmp(e->ia_name, wish->name) != 0)
			continue;
		libdat_say_news("%s, line %u, has %s as %c%u.%u %s: programs of DAT 1.2 want u1.2 "
				"default, and a library for that, like libdaplroce.so.1.",
				s->file, e->line, e->ia_name, e->api, e->api_major, e->api_minor,
				e->is_default ? "default" : "nondefault");
		return;
	}
}

static void
log_not_found(const struct libdat_wish *wish, DAT_RETURN ret, const char *origin)
{
	const char *type;
	const char *subtype;

	if (dat_strerror(ret, &type, &subtype) != DAT_SUCCESS)
		return;
	libdat_log(LIBDAT_LOG_ERROR, "No provider opens %s, version %u.%u%s: %s (looked in %s).",
			wish->name, wish->major, wish->minor,
			wish->thread_safe ? ", thread safe" : "",
			DAT_GET_SUBTYPE(ret) == DAT_NO_SUBTYPE ? "its library failed" : subtype,
			origin);
}

static DAT_RETURN
find_provider(const struct libdat_wish *wish, struct libdat_provider **provider)
{
	enum libdat_match best = LIBDAT_MATCH_NOTHING;
	struct libdat_statics statics;
	DAT_RETURN ret = DAT_SUCCESS;

	libdat_load_lock();
	if (libdat_statics_read(LIBDAT_SYSTEM_CONF, &statics) != 0) {
		libdat_load_unlock();
		return LIBDAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	}
	*provider = choose_provider(wish, &statics, &best);
	if (*provider == NULL) {
		ret = libdat_match_error(best);
		if (best == LIBDAT_MATCH_NOTHING)
			say_passed_over(wish, &statics);
		log_not_found(wish, ret, statics.origin);
	}
	libdat_statics_free(&statics);
	libdat_load_unlock();
	return ret;
}

static void
release_provider(struct libdat_provider *p)
{
	libdat_load_lock();
	libdat_provider_release(p);
	libdat_load_unlock();
}

static void
put_open(struct open_ia *ia)
{
	pthread_mutex_lock(&open_lock);
	ia->next = open_first;
	open_first = ia;
	pthread_mutex_unlock(&open_lock);
}

static struct open_ia *
take_open(DAT_IA_HANDLE handle)
{
	struct open_ia **link = &open_first;
	struct open_ia *ia;

	pthread_mutex_lock(&open_lock);
	while (*link != NULL && (*link)->handle != handle)
		link = &(*link)->next;
	ia = *link;
	if (ia != NULL)
		*link = ia->next;
	pthread_mutex_unlock(&open_lock);
	return ia;
}

/* NOLINTBEGIN(readability-function-size): the standard decides how many arguments a call has. */
DAT_RETURN
dat_ia_openv(IN const DAT_NAME_PTR name, IN DAT_COUNT async_evd_min_qlen,
		INOUT DAT_EVD_HANDLE *async_evd_handle, OUT DAT_IA_HANDLE *ia_handle,
		IN DAT_UINT32 major, IN DAT_UINT32 minor, IN DAT_BOOLEAN thread_safety)
{
	const struct libdat_wish wish = { name, major, minor, thread_safety != DAT_FALSE };
	struct open_ia *ia;
	DAT_RETURN ret;

	if (name == NULL || name[0] == '\0')
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	if (async_evd_min_qlen < 0)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (async_evd_handle == NULL)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (ia_handle == NULL)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	/* Before the open, so that nothing can fail after it. */
	ia = malloc(sizeof(*ia));
	if (ia == NULL)
		return LIBDAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ret = find_provider(&wish, &ia->provider);
	if (ret != DAT_SUCCESS)
		goto free_ia;
	ret = ia->provider->table->ia_open_func(
			name, async_evd_min_qlen, async_evd_handle, &ia->handle);
	if (ret != DAT_SUCCESS)
		goto release;
	*ia_handle = ia->handle;
	put_open(ia);
	return DAT_SUCCESS;

release:
	release_provider(ia->provider);
free_ia:
	free(ia);
	return ret;
}
/* NOLINTEND(readability-function-size) */

/*
 * The instance leaves the list before the Provider frees it: afterwards another thread may be given
 * a handle of the same value.
 */
DAT_RETURN
dat_ia_close(IN DAT_IA_HANDLE ia_handle, IN DAT_CLOSE_FLAGS close_flags)
{
	struct open_ia *ia = take_open(ia_handle);
	DAT_RETURN ret;

	if (ia == NULL)
		return LIBDAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = DAT_IA_CLOSE(ia_handle, close_flags);
	if (ret != DAT_SUCCESS) {
		put_open(ia);
		return ret;
	}
	release_provider(ia->provider);
	free(ia);
	return DAT_SUCCESS;
}

/* The names that can be opened, each once: dat.conf in its order, then what else is registered. */
static int
collect(DAT_PROVIDER_INFO **list, size_t *count)
{
	struct libdat_statics statics;
	size_t room;
	int rc;

	libdat_load_lock();
	rc = libdat_statics_read(LIBDAT_SYSTEM_CONF, &statics);
	libdat_load_unlock();
	if (rc != 0)
		return rc;
	*list = NULL;
	*count = 0;
	do {
		DAT_PROVIDER_INFO *more;

		/* Others may register while we count, so ask again until all fit. */
		room = *count + statics.count + 8;
		more = realloc(*list, room * sizeof(*more));
		if (more == NULL) {
			free(*list);
			rc = -ENOMEM;
			break;
		}
		*list = more;
		*count = 0;
		for (size_t i = 0; i < statics.count; i++) {
			size_t seen = 0;

			/* The new one is its own sentinel: it stays if the search ends at it. */
			more[*count] = info_of(&statics.entry[i]);
			while (!libdat_match_same(&more[seen], &more[*count]))
				seen++;
			if (seen == *count)
				(*count)++;
		}
		*count = libdat_provider_list(more, *count, room);
	} while (*count > room);
	libdat_statics_free(&statics);
	return rc;
}

DAT_RETURN
dat_registry_list_providers(IN DAT_COUNT max_to_return, OUT DAT_COUNT *entries_returned,
		OUT DAT_PROVIDER_INFO *(list[]))
{
	DAT_RETURN ret = DAT_SUCCESS;
	DAT_PROVIDER_INFO *found;
	size_t count;

	if (entries_returned == NULL)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (collect(&found, &count) != 0)
		return LIBDAT_ERROR(DAT_INTERNAL_ERROR, DAT_RESOURCE_MEMORY);
	*entries_returned = (DAT_COUNT)count;
	if (max_to_return <= 0 || (size_t)max_to_return < count)
		ret = LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	else if (list == NULL)
		ret = LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	for (size_t i = 0; i < count && ret == DAT_SUCCESS; i++) {
		if (list[i] == NULL)
			ret = LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
		else
			*list[i] = found[i];
	}
	free(found);
	return ret;
}
