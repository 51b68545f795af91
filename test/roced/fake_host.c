/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void
fake_host_init(struct fake_host *fake)
{
	memset(fake, 0, sizeof(*fake));
}

int
fake_fd(struct fake_host *fake)
{
	do
		fake->next = fake->next % (FAKE_FDS - 1) + 1;
	while (fake->is_open[fake->next] != 0);
	fake->is_open[fake->next] = 1;
	fake->open++;
	return (int)fake->next;
}

/* @return a descriptor; -EMFILE: it is the one that fails. */
static int
make(struct fake_host *fake)
{
	if (fake->fail > 0 && --fake->fail == 0)
		return -EMFILE;
	return fake_fd(fake);
}

static int
fake_memory(void *arg, const char *name, size_t len)
{
	return make(arg);
}

static bool
fake_is_memory(void *arg, int fd, size_t len)
{
	const struct fake_host *fake = arg;

	return !fake->bells_are_bad && fd >= 0;
}

static int
fake_text(void *arg, const char *text, size_t len)
{
	struct fake_host *fake = arg;

	snprintf(fake->text, sizeof(fake->text), "%.*s", (int)len, text);
	return make(arg);
}

static void
fake_close(void *arg, int fd)
{
	struct fake_host *fake = arg;

	if (fd <= 0 || fd >= FAKE_FDS || fake->is_open[fd] == 0) {
		fake->bad = true;
		return;
	}
	fake->is_open[fd] = 0;
	fake->open--;
}

static int
fake_sockets(void *arg, int *fds)
{
	fds[0] = make(arg);
	if (fds[0] < 0)
		return fds[0];
	fds[1] = make(arg);
	if (fds[1] >= 0)
		return 0;
	fake_close(arg, fds[0]);
	return fds[1];
}

static bool
fake_is_locked(void *arg, uint32_t number)
{
	const struct fake_host *fake = arg;

	return fake->locked[number];
}

static void
fake_note(void *arg, uint32_t number, uint32_t pid)
{
	struct fake_host *fake = arg;

	fake->note[number] = pid;
}

static uint32_t
fake_noted(void *arg, uint32_t number)
{
	const struct fake_host *fake = arg;

	return fake->note[number];
}

static uint64_t
fake_random(void *arg)
{
	return UINT64_C(0x0123456789abcdef);
}

static uint64_t
fake_age(void *arg)
{
	return 77;
}

struct broker_host
fake_host(struct fake_host *fake)
{
	return (struct broker_host){
		.arg = fake,
		.memory = fake_memory,
		.is_memory = fake_is_memory,
		.text = fake_text,
		.sockets = fake_sockets,
		.close = fake_close,
		.close_unknown = fake_close,
		.is_locked = fake_is_locked,
		.note = fake_note,
		.noted = fake_noted,
		.random = fake_random,
		.age = fake_age,
	};
}
