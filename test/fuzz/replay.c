/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs a fuzzer over files, without libFuzzer and with any compiler: the corpus as a test, a reproducer alone.
 * Arguments are files and folders of files.
 */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (1u << 20)
#define PATH_LEN  4096

/* Of the sanitizers, when there are any. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static unsigned int inputs;
static char current[PATH_LEN];

/* The code that ends the program does not know which file it was given. */
static void
name_input(void)
{
	static const char before[] = "replay: the input was ";

	(void)!write(STDERR_FILENO, before, sizeof(before) - 1);
	(void)!write(STDERR_FILENO, current, strlen(current));
	(void)!write(STDERR_FILENO, "\n", 1);
}

static void
on_signal(int number)
{
	name_input();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void
run_file(const char *path)
{
	static uint8_t bytes[INPUT_MAX];
	FILE *file = fopen(path, "rb");
	uint8_t *exact;
	size_t n;

	if (file == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	/* In memory of its size, as libFuzzer would give it. */
	exact = malloc(n + (n == 0));
	if (exact == NULL) {
		perror("replay");
		exit(EXIT_FAILURE);
	}
	memcpy(exact, bytes, n);
	snprintf(current, sizeof(current), "%s", path);
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	inputs++;
}

static void
run_folder(const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);

	if (n < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	for (int i = 0; i < n; i++) {
		char name[PATH_LEN];

		if (entries[i]->d_name[0] != '.') {
			snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
			run_file(name);
		}
		free(entries[i]);
	}
	free(entries);
}

int
main(int argc, char **argv)
{
	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(name_input);
	(void)signal(SIGABRT, on_signal);
	for (int i = 1; i < argc; i++) {
		struct stat what;

		if (stat(argv[i], &what) == 0 && S_ISDIR(what.st_mode))
			run_folder(argv[i]);
		else
			run_file(argv[i]);
	}
	if (inputs == 0) {
		fputs("replay: no inputs: a replay of nothing proves nothing\n", stderr);
		return EXIT_FAILURE;
	}
	printf("%u inputs\n", inputs);
	return EXIT_SUCCESS;
}
