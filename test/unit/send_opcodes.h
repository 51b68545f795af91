/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SEND_OPCODES_H
#define ROCE_TEST_SEND_OPCODES_H

/**
 * @file
 * Opcodes of the packets of a SEND, by the names that a test of nothing but SENDs has for them.
 */

#include "wire/opcode.h"

#define FIRST    IBV_OPCODE_RC_SEND_FIRST
#define MIDDLE   IBV_OPCODE_RC_SEND_MIDDLE
#define LAST     IBV_OPCODE_RC_SEND_LAST
#define LAST_IMM IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE
#define ONLY     IBV_OPCODE_RC_SEND_ONLY
#define ONLY_IMM IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE

#endif
