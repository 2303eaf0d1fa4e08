/* What a program asks of the file system, written down in order: preloaded into it (LD_PRELOAD), see recording.py.
 *
 * Recorded are files under the folder LEDGER_RECORD_FOLDER, and all that is said on standard output and error. A write
 * is noted before it is done and a flush after it is done, so that nothing is taken for safe too early. Each record
 * is appended to LEDGER_RECORD_LOG by one system call: a head (struct head), then one or two byte strings. What this
 * does not know how to note, it notes as UNKNOWN, and the reader refuses the record. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#undef open
#undef open64
#undef openat
#undef openat64
#undef creat
#undef creat64
#undef pwrite
#undef pwrite64
#undef ftruncate
#undef ftruncate64
#undef mmap
#undef mmap64
#undef lseek
#define EXPORT __attribute__((visibility("default")))

enum { CREATED = 1, WRITTEN, CUT, FLUSHED, RENAMED, REMOVED, SAID, FOLDER_MADE, FOLDER_FLUSHED, UNKNOWN };
struct head { uint32_t kind, first, second, unused; uint64_t file, place; };
enum { MOST = 65536 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static unsigned char watched[MOST];
static char folder[PATH_MAX];
static size_t folder_length;
static int log_fd = -1;

static void begin(void) __attribute__((constructor));
static void begin(void) {
    const char *name = getenv("LEDGER_RECORD_FOLDER"), *log = getenv("LEDGER_RECORD_LOG");
    if (!name || !log || strlen(name) >= sizeof folder) return;
    strcpy(folder, name);
    folder_length = strlen(folder);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
    if (log_fd < 0) log_fd = fd; else syscall(SYS_close, fd);
}

static void note(uint32_t kind, uint64_t file, uint64_t place, const void *first, size_t n, const void *second, size_t m) {
    if (log_fd < 0) return;
    struct head head = {kind, (uint32_t)n, (uint32_t)m, 0, file, place};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)first, n}, {(void *)second, m}};
    int before = errno;
    if (syscall(SYS_writev, log_fd, parts, 3) != (long)(sizeof head + n + m)) _exit(97);
    errno = before;
}

static int is_inside(const char *path) {
    return folder_length && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

/* The whole path of a name as a program gave it; symbolic links are not followed. */
static void whole(int at, const char *path, char *found) {
    char link[64];
    ssize_t n = 0;
    if (path[0] == '/') { snprintf(found, PATH_MAX, "%s", path); return; }
    if (at == AT_FDCWD) { if (syscall(SYS_getcwd, found, PATH_MAX) < 0) found[0] = 0; n = strlen(found); }
    else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        n = readlink(link, found, PATH_MAX - 1);
        if (n < 0) n = 0;
    }
    snprintf(found + n, PATH_MAX - n, "/%s", path);
}

static int is_watched(int fd) { return fd >= 0 && fd < MOST && watched[fd]; }
static uint64_t file_of(int fd) { struct stat found; return fstat(fd, &found) ? 0 : found.st_ino; }
static int is_folder(int fd) { struct stat found; return !fstat(fd, &found) && S_ISDIR(found.st_mode); }

static int opened(int at, const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    whole(at, path, name);
    /* A file without a name, which with O_EXCL never gets one (open(2)): nothing of it is there after a power cut. */
    int is_nameless = (flags & O_TMPFILE) == O_TMPFILE && (flags & O_EXCL);
    if (is_nameless || !is_inside(name)) {
        int fd = (int)syscall(SYS_openat, at, path, flags, mode);
        if (fd >= 0 && fd < MOST) watched[fd] = 0;
        return fd;
    }
    pthread_mutex_lock(&turn);
    struct stat there;
    int is_new = (flags & O_CREAT) && lstat(name, &there);
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < MOST) {
        watched[fd] = 1;
        if (is_new) note(CREATED, file_of(fd), 0, name, strlen(name), "", 0);
        else if (flags & O_TRUNC) note(CUT, file_of(fd), 0, "", 0, "", 0);
        if ((flags & O_TMPFILE) == O_TMPFILE) note(UNKNOWN, 0, 0, "O_TMPFILE", 9, "", 0);
    }
    pthread_mutex_unlock(&turn);
    return fd;
}

#define MODE va_list more; va_start(more, flags); mode_t mode = (mode_t)va_arg(more, int); va_end(more)
EXPORT int open(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags, mode); }
EXPORT int open64(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags, mode); }
EXPORT int openat(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags, mode); }
EXPORT int openat64(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags, mode); }
EXPORT int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORT int creat64(const char *path, mode_t mode) { return creat(path, mode); }

EXPORT int close(int fd) {
    if (fd == log_fd && fd >= 0) return 0;
    if (fd >= 0 && fd < MOST) watched[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

static ssize_t put(int fd, const void *bytes, size_t n, off_t place) { /* a place below 0: where the file stands */
    if (!is_watched(fd)) return place < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, place);
    pthread_mutex_lock(&turn);
    uint64_t at = (uint64_t)place;
    if (place < 0) at = (uint64_t)lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
    note(WRITTEN, file_of(fd), at, bytes, n, "", 0);
    ssize_t done = place < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, place);
    if (done != (ssize_t)n) note(UNKNOWN, 0, 0, "short write", 11, "", 0);
    pthread_mutex_unlock(&turn);
    return done;
}

EXPORT ssize_t write(int fd, const void *bytes, size_t n) {
    if ((fd == 1 || fd == 2) && folder_length) note(SAID, (uint64_t)fd, 0, bytes, n, "", 0);
    return put(fd, bytes, n, -1);
}
EXPORT ssize_t pwrite(int fd, const void *bytes, size_t n, off_t place) { return put(fd, bytes, n, place); }
EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t place) { return put(fd, bytes, n, place); }
EXPORT ssize_t writev(int fd, const struct iovec *parts, int n) {
    if (is_watched(fd)) note(UNKNOWN, 0, 0, "writev", 6, "", 0);
    return syscall(SYS_writev, fd, parts, n);
}

static int cut(int fd, off_t size) {
    if (!is_watched(fd)) return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&turn);
    note(CUT, file_of(fd), (uint64_t)size, "", 0, "", 0);
    int done = (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_unlock(&turn);
    return done;
}
EXPORT int ftruncate(int fd, off_t size) { return cut(fd, size); }
EXPORT int ftruncate64(int fd, off64_t size) { return cut(fd, size); }

static int flushed(int fd, long call) {
    if (!is_watched(fd)) return (int)syscall(call, fd);
    pthread_mutex_lock(&turn); /* so that nothing is written meanwhile that this flush need not take along */
    int done = (int)syscall(call, fd);
    if (!done) note(is_folder(fd) ? FOLDER_FLUSHED : FLUSHED, file_of(fd), 0, "", 0, "", 0);
    pthread_mutex_unlock(&turn);
    return done;
}
EXPORT int fsync(int fd) { return flushed(fd, SYS_fsync); }
EXPORT int fdatasync(int fd) { return flushed(fd, SYS_fdatasync); }

EXPORT int renameat(int from, const char *old, int to, const char *new) {
    char before[PATH_MAX], after[PATH_MAX];
    whole(from, old, before);
    whole(to, new, after);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_renameat2, from, old, to, new, 0);
    if (!done && (is_inside(before) || is_inside(after))) note(RENAMED, 0, 0, before, strlen(before), after, strlen(after));
    pthread_mutex_unlock(&turn);
    return done;
}
EXPORT int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

static int removed(int at, const char *path, int flags) {
    char name[PATH_MAX];
    whole(at, path, name);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_unlinkat, at, path, flags);
    if (!done && is_inside(name)) note(REMOVED, 0, 0, name, strlen(name), "", 0);
    pthread_mutex_unlock(&turn);
    return done;
}
EXPORT int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
EXPORT int unlinkat(int at, const char *path, int flags) { return removed(at, path, flags); }
EXPORT int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

EXPORT int mkdirat(int at, const char *path, mode_t mode) {
    char name[PATH_MAX];
    whole(at, path, name);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_mkdirat, at, path, mode);
    if (!done && is_inside(name)) note(FOLDER_MADE, 0, 0, name, strlen(name), "", 0);
    pthread_mutex_unlock(&turn);
    return done;
}
EXPORT int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* Further ways to change a file, which none of the recorded programs should take. */
static void unknown(int fd, const char *call) { if (is_watched(fd)) note(UNKNOWN, 0, 0, call, strlen(call), "", 0); }
EXPORT ssize_t sendfile64(int to, int from, off64_t *place, size_t n) {
    unknown(to, "sendfile");
    return syscall(SYS_sendfile, to, from, place, n);
}
EXPORT ssize_t sendfile(int to, int from, off_t *place, size_t n) { return sendfile64(to, from, place, n); }
EXPORT ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags) {
    unknown(to, "copy_file_range");
    return syscall(SYS_copy_file_range, from, a, to, b, n, flags);
}
EXPORT int fallocate(int fd, int mode, off_t place, off_t n) {
    unknown(fd, "fallocate");
    return (int)syscall(SYS_fallocate, fd, mode, place, n);
}
EXPORT int posix_fallocate(int fd, off_t place, off_t n) { return fallocate(fd, 0, place, n) ? errno : 0; }
EXPORT int linkat(int from, const char *old, int to, const char *new, int flags) {
    char name[PATH_MAX];
    whole(to, new, name);
    if (is_inside(name)) note(UNKNOWN, 0, 0, "link", 4, "", 0);
    return (int)syscall(SYS_linkat, from, old, to, new, flags);
}
EXPORT int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
/* Of the files that SQLite maps only the shared memory is written through the map, and that is lost anyhow. */
