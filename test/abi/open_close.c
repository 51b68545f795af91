/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * open_close NAME: open an Interface Adapter twice, close it twice. A consumer for load.py; the
 * exit code is 0 when all went well.
 */

#include <stdio.h>

#include <dat/udat.h>

static int
failed(const char *call, DAT_RETURN ret)
{
	const char *type = "?";
	const char *subtype = "?";

	dat_strerror(ret, &type, &subtype);
	printf("%s: %s %s\n", call, type, subtype);
	return 1;
}

int
main(int argc, char **argv)
{
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	if (argc != 2)
		return 2;
	for (int turn = 0; turn < 2; turn++) {
		DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

		ret = dat_ia_open(argv[1], 8, &evd, &ia);
		if (ret != DAT_SUCCESS)
			return failed("dat_ia_open", ret);
		ret = dat_ia_close(ia, DAT_CLOSE_DEFAULT);
		if (ret != DAT_SUCCESS)
			return failed("dat_ia_close", ret);
	}
	return 0;
}
