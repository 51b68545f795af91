/* SPDX-License-Identifier: BSD-3-Clause */

#include "crowd.h"

#include <assert.h>

struct crowd crowd;

void
crowd_pick(unsigned int i)
{
	a->ep = crowd.client[i];
	b->ep = crowd.server[i];
	b->recv = crowd.evd[i % crowd.evds];
}

void
crowd_open(unsigned int n, DAT_COUNT depth, DAT_COUNT evd_len, unsigned int evds)
{
	const struct end_options options = { .evd_len = evd_len };
	const DAT_EP_ATTR attr = {
		.max_request_dtos = 8, .max_recv_dtos = 8, .max_request_iov = HUGE_PIECES
	};

	assert_true(n <= CROWD_MAX && evds <= EVDS_MAX);
	crowd = (struct crowd){ .n = n, .evds = evds };
	pair_open(&pair, &options, &options);
	ok(dat_ep_free(a->ep));
	ok(dat_ep_free(b->ep));
	b->srq = make_srq(b, depth, HUGE_PIECES);
	crowd.evd[0] = b->recv;
	for (unsigned int i = 1; i < evds; i++)
		crowd.evd[i] = make_dto_evd(b, evd_len);
	for (unsigned int i = 0; i < n; i++) {
		ok(dat_ep_create(a->ia, a->pz, a->recv, a->request, a->connect, &attr,
				&crowd.client[i]));
		b->recv = crowd.evd[i % evds];
		crowd.server[i] = srq_ep(b, &attr);
		crowd_pick(i);
		pair_connect(&pair);
	}
}

void
crowd_join(unsigned int n)
{
	crowd = (struct crowd){ .n = n, .evds = 1, .evd[0] = b->recv };
	for (unsigned int i = 0; i < n; i++) {
		if (i > 0)
			add_connection(&pair);
		crowd.client[i] = a->ep;
		crowd.server[i] = b->ep;
	}
}

unsigned int
crowd_index(DAT_EP_HANDLE ep)
{
	unsigned int i;

	for (i = 0; i < crowd.n && crowd.server[i] != ep; i++)
		;
	assert_true(i < crowd.n);
	return i;
}

void
crowd_send(unsigned int i, uint32_t number, size_t place, DAT_VLEN length)
{
	const uint32_t word[2] = { i, number };

	static_assert(sizeof(word) == NUMBER_LEN, "as long as a numbered message is at least");
	crowd_pick(i);
	memcpy(a->buffer + place, word, sizeof(word));
	ok(post_send(a, place, length, i));
}

unsigned int
crowd_receive(DAT_EVD_HANDLE evd, size_t slot_len, uint32_t *number)
{
	DAT_DTO_COMPLETION_EVENT_DATA data = next_dto(evd);
	size_t slot = data.user_cookie.as_64 * slot_len;
	uint32_t word[2];

	assert_int_equal(data.status, DAT_DTO_SUCCESS);
	assert_true(data.transfered_length >= sizeof(word));
	memcpy(word, b->buffer + slot, sizeof(word));
	assert_int_equal(crowd_index(data.ep_handle), word[0]);
	*number = word[1];
	ok(post_srq(b, slot, slot_len, data.user_cookie.as_64));
	return word[0];
}
