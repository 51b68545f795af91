/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

#include <dirent.h>
#include <sched.h>
#include <string.h>

#define PARAMS "UDAPL_ROCE_PARAMS"
/* By default an adapter stands still between the calls of its consumer. For DAT 2.0 held.c sees to that. */
#define DEFAULT_PARAMS BY_ABI("progress=manual", "")

/* One lcore, on the CPU this runs on. */
#define NO_HUGEPAGES                                                                           \
	"--no-huge -m 512 --no-pci --no-shconf --log-level=*:error --log-level=roce.*:notice " \
	"--file-prefix=roce --lcores 0@%d"

/* The parameters of this form of the test (meson.build): every adapter has them. */
static char form_params[64];

struct pair pair;
struct end *const a = &pair.a, *const b = &pair.b;

int
rig_run(void)
{
	const char *params = getenv(PARAMS);
	size_t n = 0;

	snprintf(form_params, sizeof(form_params), "%s", params != NULL ? params : DEFAULT_PARAMS);
	while (tests[n].name != NULL)
		n++;
	return _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
}

int
rig_begin(void **state)
{
	pair = (struct pair){ .psp = DAT_HANDLE_NULL };
	return ends_sweep(state);
}

int
rig_begin_end(void **state)
{
	rig_begin(state);
	end_open(a, "loop0", NULL);
	return 0;
}

int
rig_begin_pair(void **state)
{
	rig_begin(state);
	pair_open(&pair, NULL, NULL);
	return 0;
}

int
rig_begin_up(void **state)
{
	rig_begin(state);
	pair_up(&pair);
	return 0;
}

int
rig_begin_srq(void **state)
{
	const struct srq_size *size = *state;

	rig_begin(state);
	srq_pair_open(&pair, size->depth, size->iov);
	return 0;
}

int
rig_begin_srq_up(void **state)
{
	rig_begin_srq(state);
	pair_connect(&pair);
	return 0;
}

int
rig_sweep(void **state)
{
	set_params(NULL);
	pair_close(&pair);
	return ends_sweep(state);
}

void
set_params(const char *params)
{
	char all[128];

	snprintf(all, sizeof(all), "%s %s", params != NULL ? params : "", form_params);
	assert_int_equal(setenv(PARAMS, all, 1), 0);
}

bool
form_has(const char *param)
{
	return strstr(form_params, param) != NULL;
}

void
use_no_hugepages(void)
{
	char eal[160];

	snprintf(eal, sizeof(eal), NO_HUGEPAGES, sched_getcpu());
	setenv("UDAPL_ROCE_EAL", eal, 1);
}

unsigned int
entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int n = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

pthread_t
start(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	return thread;
}

void
join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}
