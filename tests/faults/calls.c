// Preloaded into a program and what it starts: at one chosen system call it fails, waits for the test, or dies.
//
// SIZEUP_FAULT is CALL|PATH|SKIP|ACTION: the call by its name, a part of the path that it is made on, how many such
// calls go through first, and what then happens: "errno N" (each from then on), "signal N", "clock N" (CLOCK_REALTIME
// jumps by N seconds) or "wait DIR" (the process writes its number to DIR/reached and goes on when DIR/go appears; once).
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static char call_name[16], part[512], action[512];
static long skip, clock_step;
static bool ready, spent;

static void prepare(void) {
    ready = true;
    const char *rule = getenv("SIZEUP_FAULT");
    if (rule == NULL || sscanf(rule, "%15[^|]|%511[^|]|%ld|%511[^\n]", call_name, part, &skip, action) != 4) {
        call_name[0] = 0;
    }
}

static bool on_path(int directory, const char *path) {
    char link[64], full[4096];
    if (path != NULL && path[0] == '/') {
        return strstr(path, part) != NULL;
    }
    if (directory == AT_FDCWD) {
        return path != NULL && strstr(path, part) != NULL;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    const ssize_t length = readlink(link, full, sizeof full - 300);
    if (length < 0) {
        return false;
    }
    snprintf(full + length, 299, "/%.290s", path == NULL ? "" : path);
    return strstr(full, part) != NULL;
}

static void wait_for_test(const char *directory) {
    char path[600], number[24];
    snprintf(path, sizeof path, "%s/writing", directory);
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return;  // another process was there first
    }
    const int length = snprintf(number, sizeof number, "%d", getpid());
    syscall(SYS_write, file, number, length);
    syscall(SYS_close, file);
    char reached[600], go[600];
    snprintf(reached, sizeof reached, "%s/reached", directory);
    snprintf(go, sizeof go, "%s/go", directory);
    syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, reached, 0);
    while (syscall(SYS_faccessat, AT_FDCWD, go, F_OK) < 0) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

// Whether this call is to fail; errno is set then.
static bool failing(const char *name, int directory, const char *path) {
    if (!ready) {
        prepare();
    }
    if (call_name[0] == 0 || spent || strcmp(name, call_name) != 0) {
        return false;
    }
    const int kept = errno;
    const bool hit = on_path(directory, path);
    errno = kept;
    if (!hit || skip-- > 0) {
        return false;
    }
    int number = 0;
    if (sscanf(action, "errno %d", &number) == 1) {
        errno = number;
        return true;
    }
    spent = true;
    if (sscanf(action, "signal %d", &number) == 1) {
        raise(number);
    } else if (sscanf(action, "clock %ld", &clock_step) == 1) {
        // as read from now on
    } else if (strncmp(action, "wait ", 5) == 0) {
        wait_for_test(action + 5);
    }
    errno = kept;
    return false;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

#define OPENS(name)                                        \
    int name(const char *path, int flags, ...) {           \
        va_list rest;                                      \
        va_start(rest, flags);                             \
        const mode_t mode = va_arg(rest, mode_t);          \
        va_end(rest);                                      \
        if (failing((flags & (O_CREAT | __O_TMPFILE)) != 0 ? "create" : "open", AT_FDCWD, path)) { \
            return -1;                                     \
        }                                                  \
        return NEXT(name)(path, flags, mode);              \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                     \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest;                                      \
        va_start(rest, flags);                             \
        const mode_t mode = va_arg(rest, mode_t);          \
        va_end(rest);                                      \
        if (failing((flags & (O_CREAT | __O_TMPFILE)) != 0 ? "create" : "open", directory, path)) { \
            return -1;                                     \
        }                                                  \
        return NEXT(name)(directory, path, flags, mode);   \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

#define ON_FILE(result, name, as, parameters, arguments)   \
    result name parameters {                               \
        if (failing(as, file, NULL)) {                     \
            return -1;                                     \
        }                                                  \
        return NEXT(name) arguments;                       \
    }
ON_FILE(ssize_t, read, "read", (int file, void *to, size_t size), (file, to, size))
ON_FILE(ssize_t, write, "write", (int file, const void *from, size_t size), (file, from, size))
ON_FILE(ssize_t, pread, "pread", (int file, void *to, size_t size, off_t at), (file, to, size, at))
ON_FILE(ssize_t, pread64, "pread", (int file, void *to, size_t size, off64_t at), (file, to, size, at))
ON_FILE(ssize_t, pwrite, "pwrite", (int file, const void *from, size_t size, off_t at), (file, from, size, at))
ON_FILE(ssize_t, pwrite64, "pwrite", (int file, const void *from, size_t size, off64_t at), (file, from, size, at))
ON_FILE(int, fsync, "fsync", (int file), (file))
ON_FILE(int, fdatasync, "fsync", (int file), (file))
ON_FILE(int, ftruncate64, "truncate", (int file, off64_t size), (file, size))
ON_FILE(int, ftruncate, "truncate", (int file, off_t size), (file, size))

int clock_gettime(clockid_t clock, struct timespec *to) {
    const int status = (int)syscall(SYS_clock_gettime, clock, to);
    if (status == 0 && clock == CLOCK_REALTIME) {
        to->tv_sec += clock_step;
    }
    return status;
}

int unlink(const char *path) { return failing("unlink", AT_FDCWD, path) ? -1 : NEXT(unlink)(path); }

int unlinkat(int directory, const char *path, int flags) {
    return failing("unlink", directory, path) ? -1 : NEXT(unlinkat)(directory, path, flags);
}

int rename(const char *from, const char *to) { return failing("rename", AT_FDCWD, to) ? -1 : NEXT(rename)(from, to); }

int renameat(int from_directory, const char *from, int directory, const char *to) {
    return failing("rename", directory, to) ? -1 : NEXT(renameat)(from_directory, from, directory, to);
}

DIR *opendir(const char *path) { return failing("list", AT_FDCWD, path) ? NULL : NEXT(opendir)(path); }
