/* SPDX-License-Identifier: BSD-3-Clause */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <microhttpd.h>

#include "cli/cli.h"
#include "connections.h"
#include "metrics.h"

#define MEMORY     (16u << 10) /* of a connection: a longer request is refused */
#define PATIENCE_S 5u

/** An answer, for those who ask until it is stale. */
struct kept {
	struct MHD_Response *response; /**< NULL: none so far */
	unsigned int status;
	double until;
};

/** The thread of libmicrohttpd has it. */
struct exporter {
	const struct info_options *options;
	struct info_connections connections;
	struct kept kept[2]; /**< in the text format, and in that of OpenMetrics */
};

static const char type_plain[] = "text/plain; version=0.0.4; charset=utf-8";
static const char type_open[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/* "9100", "127.0.0.1:9100", "[::1]:9100": where to listen. */
static int
read_address(const char *text, struct sockaddr_storage *address)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	const char *port = colon != NULL ? colon + 1 : text;
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	char host[64] = "127.0.0.1";
	struct addrinfo *found;
	uint64_t number;

	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (len >= sizeof(host))
		len = 0, port = "";
	if (len > 0)
		snprintf(host, sizeof(host), "%.*s", (int)len, text);
	if (!cli_number(port, 0, UINT16_MAX, &number) || (colon != NULL && len == 0) ||
			getaddrinfo(host, port, &hints, &found) != 0)
		return -1;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

/* The text is the response's: it frees it. NULL: no memory. */
static struct MHD_Response *
make_response(unsigned int status, const char *type, char *text, size_t len)
{
	struct MHD_Response *response =
			MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (response == NULL) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	/* A scrape is one request: nobody keeps one of the few connections for himself. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	return response;
}

static struct MHD_Response *
make_sentence(unsigned int status, const char *sentence)
{
	char *text;
	int len = asprintf(&text, "%s\n", sentence);

	return len < 0 ? NULL
		       : make_response(status, "text/plain; charset=utf-8", text, (size_t)len);
}

static enum MHD_Result
refuse(struct MHD_Connection *connection, unsigned int status, const char *sentence)
{
	struct MHD_Response *response = make_sentence(status, sentence);
	enum MHD_Result rc;

	if (response == NULL)
		return MHD_NO;
	rc = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return rc;
}

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Metrics of now, or the sentence why there are none. NULL: no memory. */
static struct MHD_Response *
make_metrics(const struct info_options *options, bool openmetrics, unsigned int *status)
{
	const struct info_format format = { .queue_pairs = options->queue_pairs,
		.openmetrics = openmetrics };
	struct info_errmsg errmsg;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (out == NULL)
		return NULL;
	rc = info_metrics_write(&options->process, &format, out, &errmsg);
	if (fclose(out) == 0 && rc == 0) {
		*status = MHD_HTTP_OK;
		return make_response(*status, openmetrics ? type_open : type_plain, text, len);
	}
	free(text);
	*status = MHD_HTTP_SERVICE_UNAVAILABLE;
	return make_sentence(*status, rc != 0 ? errmsg.text : "no memory for the answer");
}

/*
 * Those who ask while others are answered get the same answer, for as long as it took to make it: many who ask, and a
 * process that does not answer, cost one look and not one each.
 */
static enum MHD_Result
reply_metrics(struct exporter *exporter, struct MHD_Connection *connection)
{
	const char *accept = MHD_lookup_connection_value(
			connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
	struct kept *kept = &exporter->kept[openmetrics];
	double begin = now_s();

	if (kept->response == NULL || begin >= kept->until) {
		if (kept->response != NULL)
			MHD_destroy_response(kept->response);
		kept->response = make_metrics(exporter->options, openmetrics, &kept->status);
		kept->until = now_s() + (now_s() - begin);
	}
	if (kept->response == NULL)
		return MHD_NO;
	return MHD_queue_response(connection, kept->status, kept->response);
}

/* The shape is that of libmicrohttpd. */
static enum MHD_Result /* NOLINTNEXTLINE(readability-function-size) */
answer(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
		const char *version, const char *data, size_t *data_len, void **state)
{
	static int seen;

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
	/* First the head of the request, then its body, which a scrape has not. */
	if (*state == NULL) {
		*state = &seen;
		return MHD_YES;
	}
	if (*data_len != 0) {
		*data_len = 0;
		return MHD_YES;
	}
	info_connections_whole(connection);
	if (strcmp(url, "/metrics") != 0)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "the metrics are at /metrics");
	return reply_metrics(arg, connection);
}

static void
say_where(struct MHD_Daemon *daemon, const struct sockaddr_storage *address)
{
	const union MHD_DaemonInfo *port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	bool v6 = address->ss_family == AF_INET6;
	char host[64];

	cli_address((const struct sockaddr *)address, host, sizeof(host));
	printf("listening: http://%s%s%s:%u/metrics\n", v6 ? "[" : "", host, v6 ? "]" : "",
			port != NULL ? port->port : 0);
	fflush(stdout);
}

static struct MHD_Daemon *
start(struct exporter *exporter, const struct sockaddr_storage *address)
{
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD |
					(address->ss_family == AF_INET6 ? MHD_USE_IPv6 : 0u),
			0, NULL, NULL, answer, exporter, MHD_OPTION_SOCK_ADDR, address,
			MHD_OPTION_CONNECTION_LIMIT, INFO_CONNECTIONS_LIMIT,
			MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
			MHD_OPTION_NOTIFY_CONNECTION, info_connections_notify,
			&exporter->connections, MHD_OPTION_END);
}

int
info_listen(const struct info_options *options)
{
	struct exporter exporter = { .options = options };
	struct sockaddr_storage address;
	struct MHD_Daemon *daemon;
	struct sigaction hangup;
	sigset_t ends;
	int number;

	if (read_address(options->listen, &address) != 0) {
		cli_say("'%s' is not [address:]port, with an address in numbers", options->listen);
		return -1;
	}
	/* Before the thread starts, which inherits it. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	/* nohup(1) has it ignored, so that a program outlives its terminal. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	info_connections_init(&exporter.connections);
	daemon = start(&exporter, &address);
	if (daemon == NULL) {
		cli_say("cannot listen on %s: %s", options->listen, strerror(errno));
		return -1;
	}
	say_where(daemon, &address);
	sigwait(&ends, &number);
	MHD_stop_daemon(daemon);
	for (size_t i = 0; i < 2; i++)
		if (exporter.kept[i].response != NULL)
			MHD_destroy_response(exporter.kept[i].response);
	return 0;
}
