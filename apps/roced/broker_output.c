/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that wait for a client to read. Their number is bounded, so that a client that does not read costs some memory,
 * and other clients nothing.
 */

#include <stdlib.h>
#include <string.h>

#include "broker_pvt.h"

#define CONTROLS_MAX 4096u /**< a client that lets more wait is disconnected */
#define FRAMES_MAX   64u   /**< more are dropped: the connection manager sends again */

void
broker_wake(struct broker_client *client)
{
	if (client->is_ready)
		return;
	client->is_ready = true;
	TAILQ_INSERT_TAIL(&client->broker->ready, client, ready);
}

void
broker_end(struct broker_client *client)
{
	if (client->state == CLIENT_GUEST)
		client->broker->guests--;
	if (client->state == CLIENT_WAITING)
		broker_stop_waiting(client);
	client->state = CLIENT_OVER;
	broker_wake(client);
}

struct shared_fd *
broker_share(struct broker *broker, int fd)
{
	struct shared_fd *shared = malloc(sizeof(*shared));

	if (shared == NULL) {
		broker->host.close(broker->host.arg, fd);
		return NULL;
	}
	*shared = (struct shared_fd){ .fd = fd, .users = 1 };
	return shared;
}

void
broker_unshare(struct broker *broker, struct shared_fd *shared)
{
	if (--shared->users > 0)
		return;
	broker->host.close(broker->host.arg, shared->fd);
	free(shared);
}

static void
free_output(struct broker *broker, struct output *output)
{
	for (unsigned int i = 0; i < output->fds; i++)
		broker_unshare(broker, output->fd[i]);
	free(output);
}

/* Entries that are no longer in the list are no longer counted. */
static void
uncount(struct broker_client *client, const struct output *output)
{
	if (output->msg.type == ROCE_MSG_FRAME)
		client->frames--;
	else
		client->controls--;
	if (output->msg.type == ROCE_MSG_STATUS_TEXT)
		client->status_waits = false;
}

/* @return NULL: out of memory. */
static struct output *
append(struct broker_client *to, const struct roce_msg *msg, uint32_t about)
{
	size_t len = roce_msg_len(msg->type, msg->type == ROCE_MSG_FRAME ? msg->frame.len : 0);
	struct output *output = calloc(1, offsetof(struct output, msg) + len);

	if (output == NULL)
		return NULL;
	output->about = about;
	memcpy(&output->msg, msg, len);
	STAILQ_INSERT_TAIL(&to->output, output, next);
	broker_wake(to);
	return output;
}

void
broker_say(struct broker_client *to, const struct roce_msg *msg, uint32_t about,
		struct shared_fd *const *fds, unsigned int n)
{
	struct broker *broker = to->broker;
	struct output *output = NULL;

	if (to->state == CLIENT_OVER)
		return;
	if (to->controls < CONTROLS_MAX)
		output = append(to, msg, about);
	if (output == NULL) {
		broker->counters.slow++;
		broker_log(broker, "process %u (%s, pid %u) does not read: its connection ends",
				to->number, to->name, to->pid);
		broker_end(to);
		return;
	}
	to->controls++;
	for (unsigned int i = 0; i < n; i++) {
		fds[i]->users++;
		output->fd[output->fds++] = fds[i];
	}
}

void
broker_say_frame(struct broker_client *to, const struct broker_client *from,
		const struct roce_msg *msg)
{
	struct broker *broker = to->broker;

	if (to->state == CLIENT_OVER || to->frames >= FRAMES_MAX ||
			append(to, msg, from->number) == NULL) {
		broker->counters.frames_slow++;
		return;
	}
	to->frames++;
	broker->counters.frames_forwarded++;
}

bool
broker_forget_output(struct broker_client *client, uint32_t about)
{
	struct output *output, *following;
	bool untold = false;

	for (output = STAILQ_FIRST(&client->output); output != NULL; output = following) {
		following = STAILQ_NEXT(output, next);
		/* The end of a process that had the number before stays. */
		if (output->about != about || output->msg.type == ROCE_MSG_GONE)
			continue;
		untold |= output->msg.type == ROCE_MSG_CHANNEL;
		/* Frames by a channel that the client knows are still to be heard. */
		if (!untold)
			continue;
		STAILQ_REMOVE(&client->output, output, output, next);
		uncount(client, output);
		free_output(client->broker, output);
	}
	return untold;
}

void
broker_drop_output(struct broker_client *client)
{
	while (!STAILQ_EMPTY(&client->output))
		broker_output_sent(client);
}

const struct roce_msg *
broker_output(const struct broker_client *client, int *fds, unsigned int *n)
{
	const struct output *output = STAILQ_FIRST(&client->output);

	if (output == NULL)
		return NULL;
	for (unsigned int i = 0; i < output->fds; i++)
		fds[i] = output->fd[i]->fd;
	*n = output->fds;
	return &output->msg;
}

void
broker_output_sent(struct broker_client *client)
{
	struct output *output = STAILQ_FIRST(&client->output);

	STAILQ_REMOVE_HEAD(&client->output, next);
	uncount(client, output);
	free_output(client->broker, output);
}
