/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * roced: introduces the processes of a host to each other, so that all of them share one address.
 */

#include <errno.h>
#include <stdlib.h>

#include "detach.h"
#include "folder.h"
#include "local/proto.h"
#include "options.h"
#include "say.h"
#include "server.h"
#include "status.h"

/*
 * @return a socket that listens; -1: failed, said; -EWOULDBLOCK: another roced serves the folder; -EBUSY: one
 * with an uplink is to come back.
 */
static int
take_folder(const struct options *options, struct folder *folder)
{
	int rc;

	if (folder_open(folder, options->dir, options->group) != 0)
		return -1;
	rc = folder_lock(folder, options->on_demand);
	if (rc != 0)
		return rc;
	/* A process that starts one again and again says so itself. */
	if (options->on_demand && folder_awaits_uplink(folder))
		return -EBUSY;
	if (!options->on_demand && folder_set_uplink(folder, options->port != NULL) != 0)
		return -1;
	if (folder_open_numbers(folder) != 0)
		return -1;
	return folder_listen(folder);
}

/* The socket listens before the process that was started ends, so that its starter can connect. */
static int
run(const struct options *options)
{
	struct folder folder;
	int listener = take_folder(options, &folder);
	int rc;

	if (listener == -EBUSY)
		return ROCE_PROTO_AWAITED;
	if (listener == -EWOULDBLOCK && options->on_demand)
		return EXIT_SUCCESS;
	if (listener == -EWOULDBLOCK)
		say("another roced serves %s", folder.address.sun_path);
	if (listener < 0 || (options->on_demand && detach() != 0))
		return EXIT_FAILURE;
	folder_say_holder(&folder, options->on_demand);
	rc = server_run(options, &folder, listener);
	/* It has ended in order: from now on processes may have one without. */
	folder_set_uplink(&folder, false);
	return rc;
}

int
main(int argc, char **argv)
{
	struct options options;
	int rc = options_read(&options, argc, argv);

	if (rc >= 0)
		return rc;
	if (options.status)
		return status_print(options.dir, options.json);
	say_events(options.verbose);
	if (options.on_demand) {
		detach_descriptors();
		detach_environment();
		detach_signals();
	}
	detach_limits();
	return run(&options);
}
