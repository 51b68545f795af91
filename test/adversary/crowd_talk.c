/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a crowd talk to each other (crowd.h): messages, writes and reads, each byte of which is checked. */
#include "crowd.h"

#include <stdlib.h>
#include <string.h>

#include "../limit.h"

#define MAGIC      0x63726f77u
#define RECV_WORK  (UINT64_C(1) << 32) /* in a cookie: a receive buffer; else a slot */
#define READ_WORK  (UINT64_C(1) << 33) /* in a cookie of a slot: the read */
#define SILENCE_S  test_limit_s()      /* without news of the peer: a hang */
#define PARTS      3u                  /* of a slot: message, what is written, what is read */
#define HEAD_BYTES 8u

/* Before the bytes of a message that has room for it. */
struct head {
	uint32_t received; /* messages of the receiver that have come */
	uint32_t wrote;    /* 1: the bytes of this message's write are on the receiver's desk */
};

/* How a message is to be. */
struct plan {
	uint32_t len, write_len, read_at, read_len;
};

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t
word_at(uint64_t key, uint64_t i)
{
	uint64_t x = (key + i) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ x >> 29;
}

static uint64_t
page_key(uint32_t index, uint32_t life)
{
	return mix((uint64_t)index << 32 | life);
}

static uint64_t
key_of(uint32_t from, uint32_t from_life, uint32_t to, uint32_t to_life)
{
	return mix(page_key(from, from_life) + 3 * page_key(to, to_life));
}

/* Short ones are as frequent as long ones. */
static uint32_t
length(uint64_t random)
{
	return 1 + (uint32_t)(random >> 8) % (1u << random % 17);
}

static struct plan
plan_of(uint64_t key, uint32_t seq)
{
	uint64_t a = mix(key + 4ull * seq), b = mix(key + 4ull * seq + 1);
	struct plan plan = { .len = length(a) };

	if (a >> 60 < 3 && plan.len >= HEAD_BYTES)
		plan.write_len = length(b);
	if (a >> 60 == 15) {
		plan.read_len = length(b);
		plan.read_at = (uint32_t)(b >> 32) % (CROWD_MESSAGE - plan.read_len + 1);
	}
	return plan;
}

/* Of message @p seq and of its write. */
static uint64_t
bytes_key(uint64_t key, uint32_t seq, bool written)
{
	return mix(key + 4ull * seq + 2 + written);
}

static void
fill(uint8_t *to, uint64_t key, uint32_t len)
{
	uint32_t at = 0;
	uint64_t word;

	for (; at + 8 <= len; at += 8) {
		word = word_at(key, at / 8);
		memcpy(to + at, &word, 8);
	}
	word = word_at(key, at / 8);
	memcpy(to + at, &word, len - at);
}

/* Bytes @p from up to @p to of a text. @return the first wrong one; @p to: none is. */
static uint32_t
first_wrong(const uint8_t *bytes, uint64_t key, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at < to; at++) {
		uint64_t word = word_at(key, at / 8), have;

		if (at % 8 == 0 && at + 8 <= to) {
			memcpy(&have, bytes + at, 8);
			if (have == word) {
				at += 7;
				continue;
			}
		}
		if (bytes[at] != (uint8_t)(word >> at % 8 * 8))
			return at;
	}
	return to;
}

static void
wrong(const struct crowd_link *link, const char *what, uint32_t seq, uint32_t at, uint32_t len)
{
	printf("wrong %u %u %.6f %s: message %u, byte %u of %u\n", link->peer.index,
			link->peer.life, crowd_now(), what, seq, at, len);
}

/* ---- memory ---- */

static uint8_t *
desk_of(const struct crowd *crowd, uint32_t peer, uint32_t desk)
{
	return crowd->memory + (size_t)(1 + CROWD_DESKS * peer + desk) * CROWD_MESSAGE;
}

static uint8_t *
recv_buffer(const struct crowd *crowd, uint32_t i)
{
	return desk_of(crowd, crowd->count, i);
}

static uint8_t *
slot_memory(const struct crowd *crowd, uint32_t i, uint32_t part)
{
	return recv_buffer(crowd, CROWD_RECVS + PARTS * i + part);
}

static DAT_LMR_TRIPLET
segment(const struct crowd *crowd, const uint8_t *at, uint32_t len)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = crowd->lmr,
		.virtual_address = (uintptr_t)at,
		.segment_length = len,
	};
}

static void
post_recv(struct crowd *crowd, uint32_t i)
{
	DAT_LMR_TRIPLET iov = segment(crowd, recv_buffer(crowd, i), CROWD_MESSAGE);

	crowd_ok(dat_srq_post_recv(crowd->srq, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = RECV_WORK | i }),
			"dat_srq_post_recv");
}

void
crowd_make_memory(struct crowd *crowd)
{
	const size_t parts = 1 + (size_t)CROWD_DESKS * crowd->count + CROWD_RECVS +
			(size_t)PARTS * CROWD_SLOTS;
	DAT_SRQ_ATTR attr = { .max_recv_dtos = CROWD_RECVS, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_HANDLE lmr;

	crowd->memory = malloc(parts * CROWD_MESSAGE);
	if (crowd->memory == NULL)
		crowd_fail("no memory");
	/* From the beginning all of it is there: what grows later has leaked. */
	memset(crowd->memory, 1, parts * CROWD_MESSAGE);
	fill(crowd->memory, page_key(crowd->index, crowd->life), CROWD_MESSAGE);
	region.for_va = crowd->memory;
	crowd_ok(dat_lmr_create(crowd->ia, DAT_MEM_TYPE_VIRTUAL, region, parts * CROWD_MESSAGE,
				 crowd->pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &crowd->lmr, &crowd->rmr,
				 NULL, NULL),
			"dat_lmr_create");
	crowd_ok(dat_srq_create(crowd->ia, crowd->pz, &attr, &crowd->srq), "dat_srq_create");
	for (uint32_t i = 0; i < CROWD_RECVS; i++)
		post_recv(crowd, i);
}

/* One that no other link to the peer has. */
static uint32_t
free_desk(const struct crowd *crowd, const struct crowd_link *self)
{
	unsigned int used = 0;

	for (const struct crowd_link *link = crowd->links; link != NULL; link = link->next)
		used |= link != self && link->peer.index == self->peer.index ? 1u << link->desk : 0;
	for (uint32_t desk = 0; desk < CROWD_DESKS; desk++) {
		if ((used & 1u << desk) == 0)
			return desk;
	}
	crowd_fail("%u connections to process %u do not break", CROWD_DESKS, self->peer.index);
}

struct crowd_hello
crowd_introduce(const struct crowd *crowd, struct crowd_link *link)
{
	link->desk = free_desk(crowd, link);
	return (struct crowd_hello){
		.magic = MAGIC,
		.index = crowd->index,
		.life = crowd->life,
		.key = crowd->rmr,
		.page = (uintptr_t)crowd->memory,
		.desk = (uintptr_t)desk_of(crowd, link->peer.index, link->desk),
	};
}

bool
crowd_recognise(const struct crowd *crowd, const void *data, DAT_COUNT len,
		struct crowd_hello *hello)
{
	if (data == NULL || len < (DAT_COUNT)sizeof(*hello))
		return false;
	memcpy(hello, data, sizeof(*hello));
	return hello->magic == MAGIC && hello->index < crowd->count && hello->index != crowd->index;
}

void
crowd_talk_begin(const struct crowd *crowd, struct crowd_link *link)
{
	const struct crowd_hello *peer = &link->peer;

	link->key_out = key_of(crowd->index, crowd->life, peer->index, peer->life);
	link->key_in = key_of(peer->index, peer->life, crowd->index, crowd->life);
}

/* ---- sending ---- */

static void
post_write(struct crowd *crowd, struct crowd_link *link, uint32_t i, uint32_t len)
{
	DAT_LMR_TRIPLET here = segment(crowd, slot_memory(crowd, i, 1), len);
	const DAT_RMR_TRIPLET there = { .rmr_context = link->peer.key,
		.target_address = link->peer.desk,
		.segment_length = len };

	fill(slot_memory(crowd, i, 1), bytes_key(link->key_out, link->sent, true), len);
	crowd_ok(dat_ep_post_rdma_write(link->ep, 1, &here, (DAT_DTO_COOKIE){ .as_64 = i }, &there,
				 DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_write");
	crowd->slot[i].work++;
	link->write_at = link->sent + 1;
	crowd->writes++;
}

static void
post_read(struct crowd *crowd, struct crowd_link *link, uint32_t i, const struct plan *plan)
{
	DAT_LMR_TRIPLET here = segment(crowd, slot_memory(crowd, i, 2), plan->read_len);
	const DAT_RMR_TRIPLET there = { .rmr_context = link->peer.key,
		.target_address = link->peer.page + plan->read_at,
		.segment_length = plan->read_len };

	crowd_ok(dat_ep_post_rdma_read(link->ep, 1, &here,
				 (DAT_DTO_COOKIE){ .as_64 = READ_WORK | i }, &there,
				 DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_read");
	crowd->slot[i].work++;
	crowd->slot[i].read_at = plan->read_at;
	crowd->slot[i].read_len = plan->read_len;
	crowd->reads++;
}

static void
post_message(struct crowd *crowd, struct crowd_link *link, uint32_t i)
{
	const struct plan plan = plan_of(link->key_out, link->sent);
	const bool writes = plan.write_len > 0 && link->write_at <= link->told;
	const struct head head = { .received = link->received, .wrote = writes };
	uint8_t *bytes = slot_memory(crowd, i, 0);
	DAT_LMR_TRIPLET iov = segment(crowd, bytes, plan.len);

	crowd->slot[i] = (struct crowd_slot){ .link = link, .work = 1 };
	if (writes)
		post_write(crowd, link, i, plan.write_len);
	if (plan.read_len > 0)
		post_read(crowd, link, i, &plan);
	fill(bytes, bytes_key(link->key_out, link->sent, false), plan.len);
	if (plan.len >= HEAD_BYTES)
		memcpy(bytes, &head, sizeof(head));
	crowd_ok(dat_ep_post_send(link->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = i },
				 DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	link->under_way++;
	link->sent++;
	if (link->waits == 0)
		link->waits = crowd_now();
	crowd->messages++;
}

static void
watch_silence(const struct crowd *crowd)
{
	double now = crowd_now();

	for (struct crowd_link *link = crowd->links; link != NULL; link = link->next) {
		if (link->state < LINK_UP || link->waits == 0 || now - link->waits < SILENCE_S)
			continue;
		printf("hang %u %u %.6f sent %u, told %u, received %u, under way %u\n",
				link->peer.index, link->peer.life, now, link->sent, link->told,
				link->received, link->under_way);
		link->waits = now;
	}
}

void
crowd_talk(struct crowd *crowd)
{
	uint32_t i = 0;

	watch_silence(crowd);
	for (unsigned int tries = 0; tries < crowd->burst; tries++) {
		struct crowd_link *link = crowd->current[crowd_below(crowd, crowd->count)];

		if (link == NULL || link->state != LINK_UP || link->error != 0 ||
				link->under_way == CROWD_WINDOW)
			continue;
		while (i < CROWD_SLOTS && crowd->slot[i].link != NULL)
			i++;
		if (i == CROWD_SLOTS)
			return;
		post_message(crowd, link, i);
	}
}

/* ---- what comes ---- */

static void
take_head(struct crowd_link *link, const struct head *head)
{
	if (head->received < link->told || head->received > link->sent) {
		wrong(link, "a count", link->received, head->received, link->sent);
		return;
	}
	if (head->received == link->told)
		return;
	link->told = head->received;
	link->waits = link->told < link->sent ? crowd_now() : 0;
}

static void
take_message(struct crowd *crowd, struct crowd_link *link, const uint8_t *bytes, uint32_t len)
{
	const uint32_t seq = link->received++;
	const struct plan plan = plan_of(link->key_in, seq);
	const uint32_t from = plan.len >= HEAD_BYTES ? HEAD_BYTES : 0;
	struct head head = { .wrote = 0 };
	uint32_t at;

	crowd->received++;
	crowd->bytes += len;
	if (len != plan.len) {
		wrong(link, "a length", seq, len, plan.len);
		return;
	}
	at = first_wrong(bytes, bytes_key(link->key_in, seq, false), from, len);
	if (at < len)
		wrong(link, "a message", seq, at, len);
	if (from == 0)
		return;
	memcpy(&head, bytes, sizeof(head));
	take_head(link, &head);
	if (head.wrote == 0)
		return;
	at = first_wrong(desk_of(crowd, link->peer.index, link->desk),
			bytes_key(link->key_in, seq, true), 0, plan.write_len);
	if (at < plan.write_len)
		wrong(link, "a write", seq, at, plan.write_len);
}

static void
take_read(const struct crowd *crowd, const struct crowd_link *link, uint32_t i)
{
	const struct crowd_slot *slot = &crowd->slot[i];
	const uint64_t key = page_key(link->peer.index, link->peer.life);
	const uint8_t *bytes = slot_memory(crowd, i, 2);

	for (uint32_t n = 0; n < slot->read_len; n++) {
		uint32_t at = slot->read_at + n;

		if (bytes[n] == (uint8_t)(word_at(key, at / 8) >> at % 8 * 8))
			continue;
		wrong(link, "a read", slot->read_at, n, slot->read_len);
		return;
	}
}

static void
note_status(struct crowd_link *link, int status)
{
	if (link->error == 0)
		link->error = status;
}

static void
recv_completed(struct crowd *crowd, const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const uint32_t i = (uint32_t)data->user_cookie.as_64;
	struct crowd_link *link = crowd_link_of(data->ep_handle);

	if (data->status != DAT_DTO_SUCCESS)
		note_status(link, (int)data->status);
	else
		take_message(crowd, link, recv_buffer(crowd, i), (uint32_t)data->transfered_length);
	post_recv(crowd, i);
}

void
crowd_completed(struct crowd *crowd, const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const uint64_t cookie = data->user_cookie.as_64;
	const uint32_t i = (uint32_t)cookie;
	struct crowd_link *link;
	struct crowd_slot *slot;

	if (cookie & RECV_WORK) {
		recv_completed(crowd, data);
		return;
	}
	slot = &crowd->slot[i];
	link = crowd_link_of(data->ep_handle);
	if (slot->work == 0 || slot->link != link)
		crowd_fail("a completion of no work: cookie %llu", (unsigned long long)cookie);
	if (data->status != DAT_DTO_SUCCESS)
		note_status(link, (int)data->status);
	else if (cookie & READ_WORK)
		take_read(crowd, link, i);
	if (--slot->work > 0)
		return;
	link->under_way--;
	slot->link = NULL;
	if (link->state == LINK_ENDED)
		crowd_drop(crowd, link);
}
