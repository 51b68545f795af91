/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * seccomp PROGRAM ARG...: run a program under a filter like the one that Docker gives a container without privileges.
 *
 * Calls that the profile keeps from such a container fail with EPERM, clone3 with ENOSYS, as there; all others go
 * through. moby's profiles/seccomp/default_linux.go lists these calls, beside the capability that would allow each.
 */

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#define DIM(a) (sizeof(a) / sizeof((a)[0]))

static const int refused[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_clock_adjtime,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
	SYS_kcmp,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_mbind,
	SYS_migrate_pages,
	SYS_mount,
	SYS_move_pages,
	SYS_open_by_handle_at,
	SYS_perf_event_open,
	SYS_pivot_root,
	SYS_quotactl,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setdomainname,
	SYS_sethostname,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_syslog,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
	SYS_vhangup,
};

static struct sock_filter
answer(int error)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
			SECCOMP_RET_ERRNO | ((unsigned int)error & SECCOMP_RET_DATA));
}

/* Two instructions a call: is it this one? Then this is the answer. */
static unsigned int
add_call(struct sock_filter *at, int number, int error)
{
	at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1);
	at[1] = answer(error);
	return 2;
}

static int
install(void)
{
	struct sock_filter filter[2 * DIM(refused) + 4];
	struct sock_fprog program = { .filter = filter };
	unsigned int n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < DIM(refused); i++)
		n += add_call(&filter[n], refused[i], EPERM);
	n += add_call(&filter[n], SYS_clone3, ENOSYS);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	/* Without it only the privileged may have a filter; it keeps set-user-ID programs from more. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: seccomp PROGRAM ARG...\n");
		return 2;
	}
	if (install() != 0) {
		fprintf(stderr, "seccomp: no filter: %s\n", strerror(errno));
		return 77;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "seccomp: %s: %s\n", argv[1], strerror(errno));
	return 2;
}
