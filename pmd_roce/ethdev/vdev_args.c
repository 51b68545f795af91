/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/vdev_args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "ethdev/devargs.h"

const char *
roce_vdev_next_arg(const char *p, const char *key, char *value, size_t len)
{
	size_t key_len = strlen(key);

	while ((p = strchr(p, ',')) != NULL) {
		p++;
		if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
			size_t n = strcspn(p + key_len + 1, ",");

			n = RTE_MIN(n, len - 1);
			memcpy(value, p + key_len + 1, n);
			value[n] = '\0';
			return p;
		}
	}
	return NULL;
}

bool
roce_vdev_find_arg(const char *port, const char *key, char *value, size_t len)
{
	return roce_vdev_next_arg(port, key, value, len) != NULL;
}

uint32_t
roce_vdev_find_number(const char *port, const char *key)
{
	char value[16];

	return roce_vdev_find_arg(port, key, value, sizeof(value))
			? (uint32_t)strtoul(value, NULL, 10)
			: 0;
}

int
roce_vdev_append_arg(char *port, const char *key, const char *value)
{
	size_t used = strlen(port);
	int len = snprintf(port + used, ROCE_DEVARGS_PORT_LEN - used, ",%s=%s", key, value);

	if (len >= 0 && (size_t)len < ROCE_DEVARGS_PORT_LEN - used)
		return 0;
	port[used] = '\0';
	return -EINVAL;
}

int
roce_vdev_default_arg(char *port, const char *key, unsigned int number)
{
	char value[16];

	if (roce_vdev_find_arg(port, key, value, sizeof(value)))
		return 0;
	snprintf(value, sizeof(value), "%u", number);
	return roce_vdev_append_arg(port, key, value);
}

void
roce_vdev_remove_arg(char *port, const char *key)
{
	size_t key_len = strlen(key);
	char *p = port;

	while ((p = strchr(p, ',')) != NULL) {
		size_t len = 1 + strcspn(p + 1, ",");

		if (strncmp(p + 1, key, key_len) == 0 && p[1 + key_len] == '=')
			memmove(p, p + len, strlen(p + len) + 1);
		else
			p++;
	}
}
