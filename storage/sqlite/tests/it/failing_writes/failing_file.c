/* Preloaded by LD_PRELOAD: the n-th call that writes, truncates or syncs a file of the database fails.
 *
 * FAIL_AT      number of the call, from 1
 * FAIL_AFTER   "1": each later call fails too
 * FAIL_WITH    error number; if negative, a signal that is raised instead, and the call continues
 * FAIL_NAMES   endings of the file names, separated by spaces
 * FAIL_MARK    a file that is created when a call fails
 * FAIL_ORDER   optional file with the number, instead of FAIL_AT; no call fails while it does not exist, and calls are
 *              counted from its creation
 *
 * A write that fails writes its first half. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long count;

static int is_watched(int fd) {
    char link[64], path[4096], names[256], *rest = names, *name;
    const char *watched = getenv("FAIL_NAMES");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!watched || length <= 0) return 0;
    path[length] = 0;
    snprintf(names, sizeof names, "%s", watched);
    while ((name = strsep(&rest, " "))) {
        size_t end = strlen(name);
        if (end && (size_t)length >= end && !strcmp(path + length - end, name)) return 1;
    }
    return 0;
}

/* Returns the number of the call that fails, or 0 if none does now. */
static long ordered(void) {
    const char *order = getenv("FAIL_ORDER");
    if (!order) return atol(getenv("FAIL_AT"));
    char text[32] = {0};
    int file = open(order, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        count = 0;
        return 0;
    }
    if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
    close(file);
    return atol(text);
}

static int fails(int fd) {
    int saved = errno;
    long at = is_watched(fd) ? ordered() : 0;
    if (!at) {
        errno = saved;
        return 0;
    }
    long number = ++count;
    if (number != at && !(number > at && getenv("FAIL_AFTER")[0] == '1')) {
        errno = saved;
        return 0;
    }
    int mark = open(getenv("FAIL_MARK"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (mark >= 0) close(mark);
    int with = atoi(getenv("FAIL_WITH"));
    if (with < 0) raise(-with);
    errno = with < 0 ? saved : with;
    return with >= 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The parameters, the call, and the same call for half of the bytes, or 0. */
#define FAILING(type, name, parameters, arguments, half) \
    type name parameters {                               \
        if (fails(fd)) {                                 \
            int error = errno;                           \
            (void)(half);                                \
            errno = error;                               \
            return -1;                                   \
        }                                                \
        return REAL(name) arguments;                     \
    }

FAILING(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), REAL(write)(fd, from, size / 2))
FAILING(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at),
        REAL(pwrite)(fd, from, size / 2, at))
FAILING(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at),
        REAL(pwrite64)(fd, from, size / 2, at))
FAILING(int, fsync, (int fd), (fd), 0)
FAILING(int, fdatasync, (int fd), (fd), 0)
FAILING(int, ftruncate, (int fd, off_t size), (fd, size), 0)
FAILING(int, ftruncate64, (int fd, off64_t size), (fd, size), 0)
