/* Makes write, fsync and fdatasync fail on command: preloaded into a worker.
 *
 * The file that RAMAL_SHIM names holds "<call> <what> <number> <times>":
 *   write leave N    all but the last N bytes are written
 *   write first N    no more than N bytes are written
 *   write errno N    nothing is written
 *   sync  errno N    nothing is forced to disk
 * Only calls on files count whose path holds RAMAL_SHIM_ON. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int told(int fd, const char *call, char what[16], long *number) {
    const char *control = getenv("RAMAL_SHIM"), *on = getenv("RAMAL_SHIM_ON");
    char name[64], path[4096], text[128], wanted[16];
    long times;
    if (!control || !on || fd < 3) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (!strstr(path, on)) return 0;
    int file = (int)syscall(SYS_openat, AT_FDCWD, control, O_RDWR | O_CLOEXEC);
    if (file < 0) return 0;
    length = syscall(SYS_read, file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    int hit = sscanf(text, "%15s %15s %ld %ld", wanted, what, number, &times) == 4
        && !strcmp(wanted, call) && times > 0;
    if (hit) {
        length = snprintf(text, sizeof text, "%s %s %ld %ld\n", wanted, what, *number, times - 1);
        syscall(SYS_ftruncate, file, 0);
        syscall(SYS_pwrite64, file, text, length, 0);
    }
    syscall(SYS_close, file);
    return hit;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    char what[16];
    long number;
    if (told(fd, "write", what, &number)) {
        if (!strcmp(what, "errno")) {
            errno = (int)number;
            return -1;
        }
        if (!strcmp(what, "first") && count > (size_t)number) count = (size_t)number;
        if (!strcmp(what, "leave")) count = count > (size_t)number ? count - (size_t)number : 0;
    }
    return syscall(SYS_write, fd, bytes, count);
}

static int sync_file(int fd, long call) {
    char what[16];
    long number;
    if (told(fd, "sync", what, &number)) {
        errno = (int)number;
        return -1;
    }
    return (int)syscall(call, fd);
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }
