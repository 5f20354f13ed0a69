/* SPDX-License-Identifier: Apache-2.0 */
/* If policy denies an engine, its errno says so and the next engine works. */
#include <sizeup/direct_io.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYS_IO_URING_SETUP 425

static int deny(unsigned int number, unsigned int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno :
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* Return: 0 when @engine answers with @error once @number is denied with it, 77 without seccomp. */
static int denied_in_a_child(int32_t engine, unsigned int number, int error)
{
	int status;
	const pid_t child = fork();

	if (child == 0) {
		if (deny(number, (unsigned int)error) < 0)
			_exit(77);
		const int answer = sizeup_io_available(engine);

		if (answer != -error)
			fprintf(stderr, "engine %d: expected %d, found %d\n", engine, -error, answer);
		_exit(answer != -error || sizeup_io_available(SIZEUP_IO_THREADS) != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

int main(void)
{
	const int answers[] = {
		denied_in_a_child(SIZEUP_IO_URING, SYS_IO_URING_SETUP, EPERM),
		denied_in_a_child(SIZEUP_IO_URING, SYS_IO_URING_SETUP, ENOSYS),
		denied_in_a_child(SIZEUP_IO_AIO, SYS_io_setup, EPERM),
		denied_in_a_child(SIZEUP_IO_AIO, SYS_io_setup, ENOSYS),
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i])
			return answers[i];
	}
	return 0;
}
