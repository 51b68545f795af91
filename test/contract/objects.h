/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_OBJECTS_H
#define TEST_CONTRACT_OBJECTS_H

/** @file One object of each kind: good, freed, and of another instance; and all that can be seen of the good ones. */

#include "answers.h"
#include "rig.h"

/** Kinds of objects behind handles. Dispatchers differ by the events they take; from IN_EVD on all are dispatchers. */
enum kind {
	IN_IA,
	IN_PZ,
	IN_LMR,
	IN_RMR,
	IN_SRQ,
	IN_EP,
	IN_PSP,
	IN_RSP,
	IN_CR,
	IN_CNO,
	IN_EVD,
	IN_EVD_DTO = IN_EVD,
	IN_EVD_CONNECTION,
	IN_EVD_CR,
	IN_EVD_SOFTWARE,
	KINDS,
};

extern const char *const kind_names[KINDS];

struct objects {
	DAT_HANDLE good[KINDS];  /**< of a */
	DAT_HANDLE other[KINDS]; /**< of b */
	DAT_HANDLE freed[KINDS]; /**< were of a; the instance was another one on a's device */
	/** The instances as their provider knows them, which are not their consumer's under DAT 2.0. */
	struct {
		DAT_HANDLE good, other, freed;
	} provider;
};

void objects_open(struct objects *objects);

/** The answers of the queries about all good objects. */
struct view {
	DAT_EP_PARAM ep;
	DAT_EP_STATE state;
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_COUNT receives;
	DAT_SRQ_PARAM srq;
	DAT_EVD_PARAM evd[KINDS - IN_EVD];
	DAT_LMR_PARAM lmr;
	DAT_RMR_PARAM rmr;
	DAT_PZ_PARAM pz;
	DAT_PSP_PARAM psp;
	DAT_RSP_PARAM rsp;
	DAT_CR_PARAM cr;
	DAT_CNO_PARAM cno;
	DAT_CONTEXT context[KINDS];
};

void objects_look(const struct objects *objects, struct view *view);

/** @return what differs in two views, NULL: nothing. */
const char *view_difference(const struct view *now, const struct view *before);

#endif
