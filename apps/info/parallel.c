/* SPDX-License-Identifier: BSD-3-Clause */
#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define STACK_BYTES (256u << 10)

struct task {
	void (*work)(void *arg, size_t i);
	void *arg;
	size_t i;
	pthread_t thread;
	bool has_thread;
};

static void *
run(void *arg)
{
	const struct task *task = arg;

	task->work(task->arg, task->i);
	return NULL;
}

static void
start_all(struct task *task, size_t n)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (size_t i = 0; i < n; i++)
		task[i].has_thread = pthread_create(&task[i].thread, &attr, run, &task[i]) == 0;
	pthread_attr_destroy(&attr);
}

void
info_parallel(size_t n, void (*work)(void *arg, size_t i), void *arg)
{
	struct task *task = n > 1 ? calloc(n, sizeof(*task)) : NULL;

	for (size_t i = 0; task != NULL && i < n; i++)
		task[i] = (struct task){ .work = work, .arg = arg, .i = i };
	if (task != NULL)
		start_all(task, n);
	for (size_t i = 0; i < n; i++)
		if (task == NULL || !task[i].has_thread)
			work(arg, i);
	for (size_t i = 0; task != NULL && i < n; i++)
		if (task[i].has_thread)
			pthread_join(task[i].thread, NULL);
	free(task);
}
