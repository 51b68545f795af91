/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_SCENARIO_H
#define ROCE_MODEL_SCENARIO_H

/**
 * @file
 * The scenarios as tests: each explores a few scenes and holds when no order of any of them fails.
 */

#include <stdbool.h>
#include <stddef.h>

#include "script.h"

/** The end of a list of scenes. */
#define SCENARIO_END         \
	{                    \
		.name = NULL \
	}

/** Lists of scenes of a file; the last is NULL. */
extern const struct script_scene *const scenario_low_scenes[];
extern const struct script_scene *const scenario_resize_scenes[];
extern const struct script_scene *const scenario_query_scenes[];
extern const struct script_scene *const scenario_end_scenes[];

/** The tests of a file. @return how many failed. */
int scenario_low(void);
int scenario_resize(void);
int scenario_query(void);
int scenario_end(void);
int scenario_wait(void);
int scenario_bias(void);
int scenario_complete(void);
int scenario_channel(void);
int scenario_litmus(void);
int scenario_litmus_late(void);

/** Run one order of a scene of scenario_wait() again; null: every order. @return false: there is no such scene. */
bool scenario_wait_replay(const char *name, size_t length, const char *schedule, bool *holds);

/** Scenes that are too long for every day are explored, too. */
extern bool scenario_soak;

/** Explore each scene of a list in every order and print what was seen; fails the test at the first violation. */
void scenario_explore(const struct script_scene *scenes);

#endif
