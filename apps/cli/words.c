/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

const char *
cli_connection_words(DAT_EVENT_NUMBER number)
{
	switch (number) {
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
		return "the peer rejected it";
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
		return "nobody listens there";
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
		return "the client gave up while it was accepted";
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		return "the peer disconnected";
	case DAT_CONNECTION_EVENT_BROKEN:
		return "the connection broke";
	case DAT_CONNECTION_EVENT_TIMED_OUT:
		return "nobody answered in time";
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		return "the address is unreachable";
	default:
		return "an unexpected event came";
	}
}

const char *
cli_dto_status(DAT_DTO_COMPLETION_STATUS status)
{
	static const char *const name[] = {
		[DAT_DTO_SUCCESS] = "DAT_DTO_SUCCESS",
		[DAT_DTO_ERR_FLUSHED] = "DAT_DTO_ERR_FLUSHED",
		[DAT_DTO_ERR_LOCAL_LENGTH] = "DAT_DTO_ERR_LOCAL_LENGTH",
		[DAT_DTO_ERR_LOCAL_EP] = "DAT_DTO_ERR_LOCAL_EP",
		[DAT_DTO_ERR_LOCAL_PROTECTION] = "DAT_DTO_ERR_LOCAL_PROTECTION",
		[DAT_DTO_ERR_BAD_RESPONSE] = "DAT_DTO_ERR_BAD_RESPONSE",
		[DAT_DTO_ERR_REMOTE_ACCESS] = "DAT_DTO_ERR_REMOTE_ACCESS",
		[DAT_DTO_ERR_REMOTE_RESPONDER] = "DAT_DTO_ERR_REMOTE_RESPONDER",
		[DAT_DTO_ERR_TRANSPORT] = "DAT_DTO_ERR_TRANSPORT",
		[DAT_DTO_ERR_RECEIVER_NOT_READY] = "DAT_DTO_ERR_RECEIVER_NOT_READY",
		[DAT_DTO_ERR_PARTIAL_PACKET] = "DAT_DTO_ERR_PARTIAL_PACKET",
	};

	if ((unsigned int)status >= sizeof(name) / sizeof(name[0]))
		return "an unknown status";
	return name[status];
}
