/* SPDX-License-Identifier: BSD-3-Clause */

#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

/* In the order of registration. Guarded by list_lock. */
static struct libdat_provider *first;

void
libdat_load_lock(void)
{
	pthread_mutex_lock(&load_lock);
}

void
libdat_load_unlock(void)
{
	pthread_mutex_unlock(&load_lock);
}

void
libdat_registry_before_fork(void)
{
	pthread_mutex_lock(&list_lock);
}

void
libdat_registry_after_fork(void)
{
	pthread_mutex_unlock(&list_lock);
}

void
libdat_registry_in_child(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_unlock(&list_lock);
	/* Held while libraries load, which takes long, and may fork: no fork waits for it. */
	load_lock = fresh;
}

/* The link that points to the registration of @p name, or the one at the end of the list. */
static struct libdat_provider **
find_link(const char *name)
{
	struct libdat_provider **link = &first;

	while (*link != NULL && strcmp((*link)->info.ia_name, name) != 0)
		link = &(*link)->next;
	return link;
}

static bool
name_ok(const char *name)
{
	return name[0] != '\0' && memchr(name, '\0', DAT_NAME_MAX_LENGTH) != NULL;
}

static DAT_RETURN
check_arguments(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
	if (provider == NULL)
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	if (info == NULL || !name_ok(info->ia_name))
		return LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	return DAT_SUCCESS;
}

DAT_RETURN
dat_registry_add_provider(
		IN const DAT_PROVIDER *provider, IN const DAT_PROVIDER_INFO *provider_info)
{
	DAT_RETURN ret = check_arguments(provider, provider_info);
	struct libdat_provider *p;
	struct libdat_provider **link;

	if (ret != DAT_SUCCESS)
		return ret;
	p = malloc(sizeof(*p));
	if (p == NULL)
		return LIBDAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	*p = (struct libdat_provider){ .table = provider, .info = *provider_info };

	pthread_mutex_lock(&list_lock);
	link = find_link(p->info.ia_name);
	if (*link == NULL)
		*link = p;
	else
		ret = LIBDAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE);
	pthread_mutex_unlock(&list_lock);

	if (ret == DAT_SUCCESS)
		libdat_log(LIBDAT_LOG_DYNAMIC, "%s is registered.", provider_info->ia_name);
	else
		free(p);
	return ret;
}

DAT_RETURN
dat_registry_remove_provider(
		IN const DAT_PROVIDER *provider, IN const DAT_PROVIDER_INFO *provider_info)
{
	DAT_RETURN ret = check_arguments(provider, provider_info);
	struct libdat_provider *p;
	struct libdat_provider **link;

	if (ret != DAT_SUCCESS)
		return ret;
	pthread_mutex_lock(&list_lock);
	link = find_link(provider_info->ia_name);
	p = *link;
	if (p == NULL || p->table != provider)
		ret = LIBDAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	else if (p->users > 0)
		ret = LIBDAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE);
	else
		*link = p->next;
	pthread_mutex_unlock(&list_lock);

	if (ret == DAT_SUCCESS) {
		libdat_log(LIBDAT_LOG_DYNAMIC, "%s is not registered any more.", p->info.ia_name);
		free(p);
	}
	return ret;
}

struct libdat_provider *
libdat_provider_acquire(const struct libdat_wish *wish, enum libdat_match *best)
{
	struct libdat_provider *p;
	enum libdat_match match;

	pthread_mutex_lock(&list_lock);
	p = *find_link(wish->name);
	if (p != NULL) {
		match = libdat_match(wish, &p->info);
		if (match > *best)
			*best = match;
		if (match == LIBDAT_MATCH_ALL)
			p->users++;
		else
			p = NULL;
	}
	pthread_mutex_unlock(&list_lock);
	return p;
}

void
libdat_provider_release(struct libdat_provider *p)
{
	DAT_PROVIDER_FINI_FUNC fini;
	DAT_PROVIDER_INFO info;

	/* Without a user the entry may be removed by anybody, so it is not looked at after this. */
	pthread_mutex_lock(&list_lock);
	info = p->info;
	fini = --p->users == 0 ? p->fini : NULL;
	pthread_mutex_unlock(&list_lock);
	if (fini != NULL)
		fini(&info);
}

bool
libdat_provider_loaded(const DAT_PROVIDER_INFO *info, DAT_PROVIDER_FINI_FUNC fini)
{
	struct libdat_provider *p;
	bool found;

	pthread_mutex_lock(&list_lock);
	p = *find_link(info->ia_name);
	found = p != NULL && libdat_match_same(&p->info, info);
	if (found)
		p->fini = fini;
	pthread_mutex_unlock(&list_lock);
	return found;
}

size_t
libdat_provider_list(DAT_PROVIDER_INFO *list, size_t have, size_t max)
{
	size_t count = have;

	pthread_mutex_lock(&list_lock);
	for (const struct libdat_provider *p = first; p != NULL; p = p->next) {
		size_t i = 0;

		while (i < have && !libdat_match_same(&list[i], &p->info))
			i++;
		if (i < have)
			continue;
		if (count < max)
			list[count] = p->info;
		count++;
	}
	pthread_mutex_unlock(&list_lock);
	return count;
}
