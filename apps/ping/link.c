/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/evd.h"
#include "cli/ia.h"
#include "cli/keepalive.h"
#include "cli/words.h"

/* A few receives, so that one is always posted while another is looked at. */
#define RECEIVES           4
#define QLEN               16
#define ALIGN              256u
#define CONNECT_TIMEOUT_US 10000000u
/* Cookie of sends; receives carry their buffer's number. */
#define SENT  UINT64_MAX
#define MAGIC 0x64415469u /* dATi */

/* Private data of a connection request, big endian. */
struct hello {
	uint32_t magic;
	uint32_t size;
};

static int
failed(const struct link *link, DAT_RETURN ret, const char *call)
{
	cli_say_dat(ret, "%s on %s", call, link->name);
	return -1;
}

int
link_open(struct link *link, const char *ia, uint16_t port)
{
	DAT_RETURN ret;

	*link = (struct link){ .name = ia, .held = -1 };
	if (cli_ia_open(ia, &link->async_evd, &link->ia) != 0)
		return -1;
	ret = dat_pz_create(link->ia, &link->pz);
	if (ret != DAT_SUCCESS)
		return failed(link, ret, "dat_pz_create");
	if (cli_evd_create(link->ia, QLEN, DAT_EVD_CONNECTION_FLAG, link->name, &link->conn_evd) !=
					0 ||
			cli_evd_create(link->ia, QLEN, DAT_EVD_DTO_FLAG, link->name,
					&link->dto_evd) != 0)
		return -1;
	if (port == 0)
		return 0;
	if (cli_evd_create(link->ia, QLEN, DAT_EVD_CR_FLAG, link->name, &link->cr_evd) != 0)
		return -1;
	ret = dat_psp_create(link->ia, port, link->cr_evd, DAT_PSP_CONSUMER_FLAG, &link->psp);
	if (ret != DAT_SUCCESS)
		return failed(link, ret, "dat_psp_create");
	link->listens = true;
	return 0;
}

int
link_address(const struct link *link, struct sockaddr_storage *address)
{
	const struct sockaddr *own;
	struct cli_ia_attrs attrs;

	if (cli_ia_query(link->ia, &attrs) != 0)
		return -1;
	own = attrs.ia.ia_address_ptr;
	if (own == NULL) {
		cli_say("%s has no address", link->name);
		return -1;
	}
	memset(address, 0, sizeof(*address));
	memcpy(address, own,
			own->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						   : sizeof(struct sockaddr_in));
	return 0;
}

static DAT_LMR_TRIPLET
buffer(const struct link *link, const uint8_t *at)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = link->lmr_context,
		.virtual_address = (DAT_VADDR)(uintptr_t)at,
		.segment_length = link->size,
	};
}

static int
post_receive(struct link *link, uint64_t slot)
{
	DAT_LMR_TRIPLET iov = buffer(link, link->memory + slot * link->stride);
	DAT_DTO_COOKIE cookie = { .as_64 = slot };
	DAT_RETURN ret;

	ret = dat_ep_post_recv(link->ep, link->size > 0, link->size > 0 ? &iov : NULL, cookie,
			DAT_COMPLETION_DEFAULT_FLAG);
	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "dat_ep_post_recv");
}

static int
make_memory(struct link *link, uint32_t size)
{
	DAT_REGION_DESCRIPTION region;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VADDR address;
	DAT_VLEN length;
	DAT_RETURN ret;
	size_t bytes;

	link->size = size;
	link->stride = (size + ALIGN - 1) / ALIGN * ALIGN + (size == 0 ? ALIGN : 0);
	bytes = (size_t)link->stride * (RECEIVES + 1);
	link->memory = aligned_alloc(ALIGN, bytes);
	if (link->memory == NULL) {
		cli_say("no memory for messages of %u bytes", size);
		return -1;
	}
	memset(link->memory, 0, bytes);
	link->outgoing = link->memory + (size_t)RECEIVES * link->stride;
	region.for_va = link->memory;
	ret = dat_lmr_create(link->ia, DAT_MEM_TYPE_VIRTUAL, region, bytes, link->pz,
			DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &link->lmr,
			&link->lmr_context, &rmr_context, &length, &address);
	if (ret == DAT_SUCCESS)
		return 0;
	link->lmr = DAT_HANDLE_NULL;
	return failed(link, ret, "dat_lmr_create");
}

int
link_prepare(struct link *link, uint32_t size)
{
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = size,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = RECEIVES,
		/* One more for link_ask(). */
		.max_request_dtos = RECEIVES + 1,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
	};
	DAT_RETURN ret;

	link->held = -1;
	if (make_memory(link, size) != 0)
		return -1;
	ret = dat_ep_create(link->ia, link->pz, link->dto_evd, link->dto_evd, link->conn_evd, &attr,
			&link->ep);
	if (ret != DAT_SUCCESS) {
		link->ep = DAT_HANDLE_NULL;
		return failed(link, ret, "dat_ep_create");
	}
	for (uint64_t slot = 0; slot < RECEIVES; slot++)
		if (post_receive(link, slot) != 0)
			return -1;
	return 0;
}

int
link_connect(struct link *link, const struct sockaddr_storage *address, uint16_t port)
{
	struct hello hello = { .magic = htobe32(MAGIC), .size = htobe32(link->size) };
	struct sockaddr_storage copy = *address;
	DAT_RETURN ret;

	ret = dat_ep_connect(link->ep, (DAT_IA_ADDRESS_PTR)&copy, port, CONNECT_TIMEOUT_US,
			sizeof(hello), &hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "dat_ep_connect");
}

int
link_accept(struct link *link)
{
	DAT_RETURN ret = dat_cr_accept(link->request, link->ep, 0, NULL);

	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "dat_cr_accept");
}

void
link_reject(struct link *link)
{
	dat_cr_reject(link->request);
}

int
link_send(struct link *link)
{
	DAT_LMR_TRIPLET iov = buffer(link, link->outgoing);
	DAT_DTO_COOKIE cookie = { .as_64 = SENT };
	DAT_RETURN ret;

	ret = dat_ep_post_send(link->ep, link->size > 0, link->size > 0 ? &iov : NULL, cookie,
			DAT_COMPLETION_DEFAULT_FLAG);
	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "dat_ep_post_send");
}

bool
link_ask(struct link *link)
{
	return cli_keepalive_ask(link->ep, SENT) == DAT_SUCCESS;
}

int
link_disconnect(struct link *link)
{
	DAT_RETURN ret = dat_ep_disconnect(link->ep, DAT_CLOSE_GRACEFUL_FLAG);

	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "dat_ep_disconnect");
}

static enum link_news
take_dto(struct link *link, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	if (dto->status == DAT_DTO_ERR_FLUSHED)
		return LINK_QUIET;
	if (dto->status != DAT_DTO_SUCCESS) {
		cli_say("a transfer on %s failed with %s", link->name, cli_dto_status(dto->status));
		return LINK_LOST;
	}
	if (dto->user_cookie.as_64 == SENT)
		return LINK_SENT;
	if (dto->transfered_length != link->size) {
		cli_say("a message of %llu bytes came to %s instead of %u",
				(unsigned long long)dto->transfered_length, link->name, link->size);
		return LINK_LOST;
	}
	link->held = (int)dto->user_cookie.as_64;
	link->message = link->memory + (size_t)link->held * link->stride;
	return LINK_MESSAGE;
}

static enum link_news
take_connection(const struct link *link, DAT_EVENT_NUMBER number)
{
	if (number == DAT_CONNECTION_EVENT_ESTABLISHED)
		return LINK_UP;
	if (number == DAT_CONNECTION_EVENT_DISCONNECTED)
		return LINK_DOWN;
	cli_say("no connection on %s: %s", link->name, cli_connection_words(number));
	return LINK_LOST;
}

static enum link_news
take_request(struct link *link, const DAT_CR_ARRIVAL_EVENT_DATA *arrival)
{
	struct hello hello = { 0 };
	DAT_CR_PARAM param;
	DAT_RETURN ret;

	ret = dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS) {
		failed(link, ret, "dat_cr_query");
		return LINK_FAILED;
	}
	if (param.private_data != NULL && param.private_data_size >= (DAT_COUNT)sizeof(hello))
		memcpy(&hello, param.private_data, sizeof(hello));
	/* Only ours: the size sets how much memory is taken. */
	if (be32toh(hello.magic) != MAGIC || be32toh(hello.size) > (8u << 20)) {
		dat_cr_reject(arrival->cr_handle);
		return LINK_QUIET;
	}
	link->request = arrival->cr_handle;
	link->asked = be32toh(hello.size);
	return LINK_REQUEST;
}

enum link_news
link_step(struct link *link)
{
	DAT_EVENT event;
	int n;

	if (link->held >= 0) {
		n = post_receive(link, (uint64_t)link->held);
		link->held = -1;
		if (n != 0)
			return LINK_FAILED;
	}
	n = cli_evd_take(link->dto_evd, link->name, &event);
	if (n > 0)
		return take_dto(link, &event.event_data.dto_completion_event_data);
	if (n == 0)
		n = cli_evd_take(link->conn_evd, link->name, &event);
	if (n > 0)
		return take_connection(link, event.event_number);
	if (n == 0 && link->listens)
		n = cli_evd_take(link->cr_evd, link->name, &event);
	if (n > 0)
		return take_request(link, &event.event_data.cr_arrival_event_data);
	/* Without a connection nothing else tells that the adapter is lost. */
	if (n == 0 && link->ep == DAT_HANDLE_NULL)
		n = cli_evd_take(link->async_evd, link->name, &event);
	if (n > 0)
		cli_say("asynchronous event 0x%x on %s: the adapter is lost",
				(unsigned int)event.event_number, link->name);
	return n == 0 ? LINK_QUIET : LINK_FAILED;
}

int
link_release(struct link *link)
{
	DAT_RETURN ret = DAT_SUCCESS;
	DAT_EVENT event;

	if (link->ep != DAT_HANDLE_NULL)
		ret = dat_ep_free(link->ep);
	link->ep = DAT_HANDLE_NULL;
	/* Events of the old endpoint must not be taken for those of its successor. */
	while (cli_evd_take(link->dto_evd, link->name, &event) > 0 ||
			cli_evd_take(link->conn_evd, link->name, &event) > 0)
		;
	if (ret == DAT_SUCCESS && link->lmr != DAT_HANDLE_NULL)
		ret = dat_lmr_free(link->lmr);
	link->lmr = DAT_HANDLE_NULL;
	free(link->memory);
	link->memory = NULL;
	link->held = -1;
	return ret == DAT_SUCCESS ? 0 : failed(link, ret, "freeing the endpoint");
}

int
link_close(struct link *link)
{
	DAT_RETURN ret = DAT_SUCCESS;

	if (link->ia == DAT_HANDLE_NULL)
		return 0;
	if (link->listens)
		ret = dat_psp_free(link->psp);
	if (ret == DAT_SUCCESS && link->cr_evd != DAT_HANDLE_NULL)
		ret = dat_evd_free(link->cr_evd);
	if (ret == DAT_SUCCESS && link->dto_evd != DAT_HANDLE_NULL)
		ret = dat_evd_free(link->dto_evd);
	if (ret == DAT_SUCCESS && link->conn_evd != DAT_HANDLE_NULL)
		ret = dat_evd_free(link->conn_evd);
	if (ret == DAT_SUCCESS && link->pz != DAT_HANDLE_NULL)
		ret = dat_pz_free(link->pz);
	if (ret == DAT_SUCCESS)
		ret = dat_ia_close(link->ia, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	if (cli_said() == NULL)
		failed(link, ret, "closing the adapter");
	dat_ia_close(link->ia, DAT_CLOSE_ABRUPT_FLAG);
	return -1;
}
