/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ethdev/devargs.h"
#include "ethdev/vdev_args.h"
#include "rules.h"

UNIT_RULE_IN(find__knows_whole_keys, NULL, NULL)
{
	static const char port[] = "net_memif0,socket-abstract=no,socket=/a,id=12,my_id=3,id=4";
	char value[8];

	assert_true(roce_vdev_find_arg(port, "socket", value, sizeof(value)));
	assert_string_equal(value, "/a");
	assert_true(roce_vdev_find_arg(port, "id", value, sizeof(value)));
	assert_string_equal(value, "12");
	assert_false(roce_vdev_find_arg(port, "net_memif0", value, sizeof(value)));
	assert_false(roce_vdev_find_arg(port, "sock", value, sizeof(value)));
	assert_int_equal(roce_vdev_find_number(port, "my_id"), 3);
	assert_int_equal(roce_vdev_find_number(port, "role"), 0);
}

UNIT_RULE_IN(remove__takes_all_of_one_key, NULL, NULL)
{
	char port[ROCE_DEVARGS_PORT_LEN] =
			"net_memif0,socket=/a,socket-abstract=no,socket=/b,id=1,socket=";

	roce_vdev_remove_arg(port, "socket");
	assert_string_equal(port, "net_memif0,socket-abstract=no,id=1");
	roce_vdev_remove_arg(port, "socket");
	assert_string_equal(port, "net_memif0,socket-abstract=no,id=1");
	roce_vdev_remove_arg(port, "id");
	roce_vdev_remove_arg(port, "socket-abstract");
	assert_string_equal(port, "net_memif0");
}

UNIT_RULE_IN(append__changes_nothing_without_room, NULL, NULL)
{
	char port[ROCE_DEVARGS_PORT_LEN] = "net_memif0", before[ROCE_DEVARGS_PORT_LEN];

	assert_int_equal(roce_vdev_default_arg(port, "bsize", 8192), 0);
	assert_int_equal(roce_vdev_default_arg(port, "bsize", 2048), 0);
	assert_string_equal(port, "net_memif0,bsize=8192");
	while (roce_vdev_append_arg(port, "a", "b") == 0)
		;
	memcpy(before, port, sizeof(before));
	assert_int_equal(roce_vdev_append_arg(port, "a", "b"), -EINVAL);
	assert_string_equal(port, before);
}
