/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_H
#define ROCE_TEST_FIXTURE_H

/**
 * @file
 * The smallest world an engine can live in: memory that is counted and can fail, a clock that is a variable,
 * a log of async events, and hands to put frames in and take frames out.
 *
 * An end is a domain with one of everything. A test of one end plays its peer itself (struct fx_peer makes
 * the peer's frames); a test of a conversation opens two ends and lets them exchange frames.
 */

#include "fixture_end.h"
#include "fixture_frames.h"
#include "fixture_memory.h"
#include "fixture_post.h"
#include "fixture_qp.h"

#endif
