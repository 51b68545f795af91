/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process 1 of a guest of the lab: runs shell commands for the host over virtio-serial ports named "lab.N".
 *
 * One worker process per port, one command at a time per port. Host and guest exchange frames
 * { u8 type; u32 length, little endian; payload }:
 *
 *   host to guest   'R' 8-byte nonce, shell command    run it
 *                   'I' bytes (none: end of input)     standard input
 *                   'K' u8 signal                      to the command's group
 *   guest to host   'S' the nonce                      started
 *                   'O' / 'E' bytes                    standard output / error
 *                   'X' i32 status                     exited (128 + signal if killed)
 *
 * The host ignores everything before the 'S' frame with its own nonce, so a byte left over from an earlier exchange
 * does no harm. When the host closes a port, the command running on it is killed.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (1u << 20)
#define CHUNK     32768
#define HEAD      5
#define NONCE     8
#define BUSY_MS   50 /* between two looks whether the command has ended */

struct frame {
	char type;
	char *bytes; /* a zero behind them */
	uint32_t len;
};

struct command {
	pid_t pid;
	int in, out, err;   /* this process's ends of its pipes; negative: closed */
	struct frame input; /* standard input that the command did not take yet; bytes NULL: none */
	uint32_t taken;
	bool input_ends;
	bool exited;
	int status;
};

static int host_fd;

static struct timespec
timespec_of(int ms)
{
	return (struct timespec){ ms / 1000, (ms % 1000) * 1000000L };
}

/* The driver sends SIGIO, which is blocked, when the host opens or closes the port: no spinning on POLLHUP. */
static void
wait_port_change(int ms)
{
	const struct timespec time = timespec_of(ms);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	(void)sigtimedwait(&set, NULL, &time);
}

static bool
host_gone(void)
{
	struct pollfd port = { host_fd, POLLIN, 0 };

	return poll(&port, 1, 0) > 0 && (port.revents & POLLHUP);
}

static bool
is_for_later(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* @return false: the host closed the port. */
static bool
write_all(const void *bytes, size_t len)
{
	const char *next = bytes;

	while (len > 0) {
		struct pollfd port = { host_fd, POLLOUT, 0 };
		ssize_t done = write(host_fd, next, len);

		if (done > 0) {
			next += done;
			len -= (size_t)done;
			continue;
		}
		if (done == 0 || !is_for_later() || host_gone())
			return false;
		(void)poll(&port, 1, 100);
	}
	return true;
}

static bool
send_frame(char type, const void *bytes, uint32_t len)
{
	const unsigned char head[HEAD] = { (unsigned char)type, (unsigned char)len,
		(unsigned char)(len >> 8), (unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	return write_all(head, sizeof(head)) && write_all(bytes, len);
}

/* @return false: the host closed the port. */
static bool
read_all(void *bytes, size_t len)
{
	char *next = bytes;

	while (len > 0) {
		struct pollfd port = { host_fd, POLLIN, 0 };
		ssize_t done = read(host_fd, next, len);

		if (done > 0) {
			next += done;
			len -= (size_t)done;
			continue;
		}
		if (done == 0 || !is_for_later())
			return false;
		(void)poll(&port, 1, 1000);
	}
	return true;
}

static bool
read_frame(struct frame *frame)
{
	unsigned char head[HEAD];

	if (!read_all(head, sizeof(head)))
		return false;
	frame->type = (char)head[0];
	frame->len = head[1] | (uint32_t)head[2] << 8 | (uint32_t)head[3] << 16 |
			(uint32_t)head[4] << 24;
	if (frame->len > FRAME_MAX)
		return false;
	frame->bytes = malloc(frame->len + 1);
	if (frame->bytes == NULL)
		return false;
	if (!read_all(frame->bytes, frame->len)) {
		free(frame->bytes);
		return false;
	}
	frame->bytes[frame->len] = '\0';
	return true;
}

static void
shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* @return false: the host closed the port. */
static bool
forward(int *fd, const struct pollfd *seen, char type)
{
	static char chunk[CHUNK];
	ssize_t len;

	if (*fd < 0 || seen->revents == 0)
		return true;
	len = read(*fd, chunk, sizeof(chunk));
	if (len > 0)
		return send_frame(type, chunk, (uint32_t)len);
	if (len == 0 || !is_for_later())
		shut(fd);
	return true;
}

static void
become(const int *in, const int *out, const int *err, const char *line)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	(void)dup2(in[0], STDIN_FILENO);
	(void)dup2(out[1], STDOUT_FILENO);
	(void)dup2(err[1], STDERR_FILENO);
	(void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

/* @return false: there is no process or pipe for it. */
static bool
start(struct command *command, const char *line)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		return false;
	*command = (struct command){ .pid = fork(), .in = in[1], .out = out[0], .err = err[0] };
	if (command->pid < 0)
		return false;
	if (command->pid == 0)
		become(in, out, err, line);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(err[1]);
	(void)fcntl(command->in, F_SETFL, O_NONBLOCK);
	(void)fcntl(command->out, F_SETFL, O_NONBLOCK);
	(void)fcntl(command->err, F_SETFL, O_NONBLOCK);
	return true;
}

/* A frame of the host while the command runs. @return false: the host closed the port. */
static bool
hear(struct command *command)
{
	struct frame frame;

	if (!read_frame(&frame))
		return false;
	if (frame.type == 'I') {
		command->input = frame;
		command->taken = 0;
		command->input_ends = frame.len == 0;
		return true;
	}
	if (frame.type == 'K' && frame.len == 1)
		(void)kill(-command->pid, (unsigned char)frame.bytes[0]);
	free(frame.bytes);
	return true;
}

static void
feed(struct command *command)
{
	struct frame *input = &command->input;

	if (input->bytes != NULL && command->in >= 0 && !command->input_ends) {
		ssize_t len = write(command->in, input->bytes + command->taken,
				input->len - command->taken);

		if (len > 0)
			command->taken += (uint32_t)len;
		else if (len < 0 && !is_for_later())
			command->input_ends = true;
	}
	if (command->input_ends || command->in < 0 || command->taken == input->len) {
		free(input->bytes);
		input->bytes = NULL;
	}
	if (command->input_ends)
		shut(&command->in);
}

static bool
has_ended(struct command *command)
{
	if (!command->exited)
		command->exited = waitpid(command->pid, &command->status, WNOHANG) == command->pid;
	return command->exited;
}

/* Until the command has ended and all that it said is sent. @return false: the host closed the port. */
static bool
serve(struct command *command)
{
	for (;;) {
		bool full = command->input.bytes != NULL;
		struct pollfd fd[] = { { host_fd, full ? 0 : POLLIN, 0 },
			{ command->out, POLLIN, 0 }, { command->err, POLLIN, 0 },
			{ full ? command->in : -1, POLLOUT, 0 } };
		int ready;

		ready = poll(fd, 4, has_ended(command) ? 0 : BUSY_MS);
		/* Output that is in the pipes by now: a process in the background may keep them open for ever. */
		if (command->exited && (ready <= 0 || !((fd[1].revents | fd[2].revents) & POLLIN)))
			return true;
		if (fd[0].revents & POLLHUP)
			return false;
		if ((fd[0].revents & POLLIN) && !hear(command))
			return false;
		feed(command);
		if (!forward(&command->out, &fd[1], 'O') || !forward(&command->err, &fd[2], 'E'))
			return false;
	}
}

static void
run_command(const char *nonce, const char *line)
{
	struct command command;
	unsigned char code[4] = { 0 };
	bool heard;

	if (!start(&command, line))
		return;
	heard = send_frame('S', nonce, NONCE) && serve(&command);
	free(command.input.bytes);
	shut(&command.in);
	shut(&command.out);
	shut(&command.err);
	if (!command.exited) {
		(void)kill(-command.pid, SIGKILL);
		(void)waitpid(command.pid, &command.status, 0);
	}
	if (!heard)
		return;
	code[0] = (unsigned char)(WIFSIGNALED(command.status) ? 128 + WTERMSIG(command.status)
							      : WEXITSTATUS(command.status));
	(void)send_frame('X', code, sizeof(code));
}

static void
open_port(const char *path)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	host_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (host_fd < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	(void)fcntl(host_fd, F_SETOWN, getpid());
	(void)fcntl(host_fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
}

static void
work(const char *path)
{
	open_port(path);
	for (;;) {
		struct pollfd port = { host_fd, POLLIN, 0 };
		int ready = poll(&port, 1, -1);
		struct frame frame;

		if (ready > 0 && (port.revents & POLLHUP)) {
			wait_port_change(1000);
			continue;
		}
		if (ready <= 0 || !(port.revents & POLLIN) || !read_frame(&frame))
			continue;
		if (frame.type == 'R' && frame.len > NONCE)
			run_command(frame.bytes, frame.bytes + NONCE);
		free(frame.bytes);
	}
}

static bool
is_of_the_lab(const char *port)
{
	char path[300], name[80];
	FILE *file;
	bool ours;

	(void)snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", port);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	ours = fgets(name, sizeof(name), file) != NULL && strncmp(name, "lab.", 4) == 0;
	(void)fclose(file);
	return ours;
}

int
main(void)
{
	DIR *ports = opendir("/sys/class/virtio-ports");
	const struct timespec second = timespec_of(1000);
	const struct dirent *port;
	int workers = 0;
	char path[300];

	while (ports != NULL && (port = readdir(ports)) != NULL) {
		if (!is_of_the_lab(port->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%s", port->d_name);
		if (fork() == 0)
			work(path);
		workers++;
	}
	if (ports != NULL)
		(void)closedir(ports);
	printf("rxe-lab: ready, %d ports\n", workers);
	(void)fflush(stdout);
	/* Processes that the commands leave behind. */
	for (;;) {
		if (wait(NULL) < 0 && errno == ECHILD)
			(void)nanosleep(&second,
					NULL); /* for ever: the machine ends from outside */
	}
}
