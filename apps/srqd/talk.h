/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_TALK_H
#define SRQD_TALK_H

/**
 * @file
 * The messages of clients: sending them within the window, and checking the answers.
 */

#include <stdint.h>

#include <dat/udat.h>

#include "clients.h"

/** Post the receives of one client, as many as answers may come. @return 0; -1 on error; the error was printed. */
int talk_prepare(struct clients *clients, uint32_t index);

/** Send as much as the window allows; after the last message, disconnect. @return 0; -1 on error; the error was printed. */
int talk_go_on(struct clients *clients, uint32_t index);

/** Deal with one completion. @return 0; -1: failed, or a wrong answer; the error was printed. */
int talk_completion(struct clients *clients, const DAT_DTO_COMPLETION_EVENT_DATA *dto);

#endif /* SRQD_TALK_H */
