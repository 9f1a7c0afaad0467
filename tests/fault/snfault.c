/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsnfault.so - lets chosen system calls of a program fail, for tests.
 *
 *     LD_PRELOAD=libsnfault.so SEINE_FAULT='write:ENOSPC@17+:*.jsonl,fsync:EIO@3' seine …
 *
 * A rule is CALL:ACTION@N[+][:GLOB]. It strikes at the N-th call, with + from then on.
 * Only calls on files that the pattern matches are counted; it is held against the whole
 * path and against its last part. Several rules are separated by commas.
 *
 *     call    write read fsync rename truncate open close mmap unlink mkdir socket
 *             connect send recv epoll_wait getrandom clock uptime statfs
 *     action  an errno (EIO, ENOSPC, EINTR, …): the call fails and does nothing
 *             SHORT   does half of it, at least a byte
 *             LOST    says that all was written, and writes nothing
 *             KILL    SIGKILL for the own process, before the call
 *             HALFKILL  does half of it, then SIGKILL
 *             SLEEPms waits first
 *             JUMPs   clock, uptime: wall time, or the time since the machine started, is
 * so many seconds later (or earlier, JUMP-60) TYPEn   statfs: the file system has that
 * magic number COUNT   nothing; SEINE_FAULT_LOG tells the count
 *
 * write stands for pwrite and writev, fsync for fdatasync, rename for renameat, and so
 * on, since which of them a program takes is not the fault that a test means.
 *
 * SEINE_FAULT_LOG names a file to which each strike adds a line "write 17 ENOSPC PATH",
 * and the end of the program one "count write 31 GLOB" for each rule. Everything is
 * decided by counting, so the same calls meet the same faults.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { RULES = 16, WORD = 24, GLOB = 200 };

typedef enum action {
    FAIL,
    SHORT,
    LOST,
    KILL,
    HALFKILL,
    SLEEP,
    JUMP,
    TYPE,
    COUNT
} action;

typedef struct rule {
    char call[WORD], word[WORD], glob[GLOB];
    action what;
    long value; /* errno, milliseconds or seconds */
    long n;
    bool from;
    atomic_long seen;
} rule;

static rule rules[RULES];
static int rule_count;
static const char *log_name;

static const struct {
    const char *name;
    int value;
} errors[] = {
    {"EIO", EIO},
    {"ENOSPC", ENOSPC},
    {"EDQUOT", EDQUOT},
    {"EFBIG", EFBIG},
    {"EINTR", EINTR},
    {"EAGAIN", EAGAIN},
    {"EROFS", EROFS},
    {"EACCES", EACCES},
    {"EPERM", EPERM},
    {"ENOENT", ENOENT},
    {"EMFILE", EMFILE},
    {"ENFILE", ENFILE},
    {"ENOMEM", ENOMEM},
    {"EINVAL", EINVAL},
    {"EPIPE", EPIPE},
    {"ESTALE", ESTALE},
    {"EBADF", EBADF},
    {"EEXIST", EEXIST},
    {"EXDEV", EXDEV},
    {"ECONNRESET", ECONNRESET},
    {"ENOTDIR", ENOTDIR},
    {"ELOOP", ELOOP},
    {"ECONNREFUSED", ECONNREFUSED},
    {"EADDRNOTAVAIL", EADDRNOTAVAIL},
};

static const struct {
    const char *name;
    action what;
} actions[] = {
    {"SHORT", SHORT}, {"LOST", LOST}, {"KILL", KILL}, {"HALFKILL", HALFKILL},
    {"SLEEP", SLEEP}, {"JUMP", JUMP}, {"TYPE", TYPE}, {"COUNT", COUNT},
};

/* A mistake in a test must not pass for a program without faults. */
static void
refuse(const char *text)
{
    fprintf(stderr, "libsnfault: cannot read the rule '%s'\n", text);
    _exit(125);
}

static bool
read_action(rule *r)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(r->word, errors[i].name) == 0) {
            r->value = errors[i].value;
            return true;
        }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        size_t len = strlen(actions[i].name);
        char *end;

        if (strncmp(r->word, actions[i].name, len) != 0)
            continue;
        r->what = actions[i].what;
        r->value = strtol(r->word + len, &end, 10);
        return *end == '\0';
    }
    return false;
}

/* Copies up to one of `stops`; returns what follows, NULL if it is too long. */
static const char *
copy_word(const char *from, const char *stops, char *to, size_t room)
{
    size_t n = strcspn(from, stops);

    if (n == 0 || n >= room)
        return NULL;
    memcpy(to, from, n);
    to[n] = '\0';
    return from + n;
}

static const char *
read_rule(const char *text, rule *r)
{
    const char *at = copy_word(text, ":", r->call, WORD);

    if (at && *at == ':')
        at = copy_word(at + 1, "@,:", r->word, WORD);
    if (!at || !read_action(r))
        refuse(text);
    r->n = 1;
    if (*at == '@') {
        char *end;
        r->n = strtol(at + 1, &end, 10);
        r->from = *end == '+';
        at = end + r->from;
    }
    if (*at == ':')
        at = copy_word(at + 1, ",", r->glob, GLOB);
    if (!at || r->n < 1 || (*at != '\0' && *at != ','))
        refuse(text);
    return at;
}

__attribute__((constructor)) static void
begin(void)
{
    const char *text = getenv("SEINE_FAULT");

    log_name = getenv("SEINE_FAULT_LOG");
    while (text && *text) {
        if (rule_count == RULES)
            refuse(text);
        text = read_rule(text, &rules[rule_count]);
        rule_count++;
        text += *text == ',';
    }
}

/* Goes round the functions of this file. */
__attribute__((format(printf, 1, 2))) static void
tell(const char *fmt, ...)
{
    char line[PATH_MAX + 100];
    va_list args;

    if (!log_name)
        return;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log_name,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    syscall(SYS_write, fd, line, n < (int)sizeof line ? n : (int)sizeof line);
    syscall(SYS_close, fd);
}

__attribute__((destructor)) static void
end(void)
{
    for (int i = 0; i < rule_count; i++)
        if (atomic_load(&rules[i].seen) > 0)
            tell("count %s %ld %s\n", rules[i].call, atomic_load(&rules[i].seen),
                 rules[i].glob);
}

/* The path of a descriptor, without the mark of a removed file. */
static const char *
path_of(int fd, char room[PATH_MAX])
{
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, room, PATH_MAX - 1);
    room[n > 0 ? n : 0] = '\0';
    char *gone = strstr(room, " (deleted)");
    if (gone)
        *gone = '\0';
    return room;
}

static bool
fits(const rule *r, const char *path)
{
    const char *slash = strrchr(path, '/');

    return r->glob[0] == '\0' || fnmatch(r->glob, path, 0) == 0 ||
           (slash && fnmatch(r->glob, slash + 1, 0) == 0);
}

/* Counts a call and returns the rule that strikes, or NULL. */
static const rule *
struck(const char *call, const char *path)
{
    const rule *hit = NULL;

    for (int i = 0; i < rule_count; i++) {
        rule *r = &rules[i];

        if (strcmp(r->call, call) != 0 || !fits(r, path))
            continue;
        long n = atomic_fetch_add(&r->seen, 1) + 1;
        if (r->what == COUNT || (r->from ? n < r->n : n != r->n) || hit)
            continue;
        tell("%s %ld %s %s\n", call, n, r->word, path);
        hit = r;
    }
    return hit;
}

static void
wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    syscall(SYS_nanosleep, &t, NULL);
}

static void
die(void)
{
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* What a rule says about a call without a length: true if it fails. */
static bool
fails(const rule *r)
{
    if (!r)
        return false;
    if (r->what == KILL || r->what == HALFKILL)
        die();
    if (r->what == SLEEP)
        wait_ms(r->value);
    if (r->what != FAIL)
        return false;
    errno = (int)r->value;
    return true;
}

static bool
fails_fd(const char *call, int fd)
{
    char room[PATH_MAX];

    return rule_count > 0 && fails(struck(call, path_of(fd, room)));
}

/* The whole path of a name in a directory. */
static bool
fails_at(const char *call, int dir, const char *name)
{
    char room[PATH_MAX], whole[2 * PATH_MAX];

    if (rule_count == 0)
        return false;
    if (!name || name[0] == '/')
        return fails(struck(call, name ? name : ""));
    if (dir == AT_FDCWD)
        room[syscall(SYS_getcwd, room, sizeof room) > 0 ? PATH_MAX - 1 : 0] = '\0';
    else
        path_of(dir, room);
    snprintf(whole, sizeof whole, "%s/%s", room, name);
    return fails(struck(call, whole));
}

static bool
fails_path(const char *call, const char *path)
{
    return fails_at(call, AT_FDCWD, path);
}

/* The same for a call of *n bytes, which SHORT makes fewer. LOST: true with *n = all. */
typedef enum turn { GO, STOP, SAY_DONE } turn;

static turn
before_bytes(const char *call, int fd, size_t *n, bool *out_dies)
{
    char room[PATH_MAX];
    const rule *r = rule_count > 0 ? struck(call, path_of(fd, room)) : NULL;

    *out_dies = false;
    if (r && r->what == LOST)
        return SAY_DONE;
    if (r && r->what == HALFKILL)
        *out_dies = true;
    if (r && (r->what == SHORT || r->what == HALFKILL) && *n > 1)
        *n /= 2;
    return (r && r->what != HALFKILL && fails(r)) ? STOP : GO;
}

#define REAL(type, name, ...)                                          \
    static type (*real)(__VA_ARGS__);                                  \
    if (!real) {                                                       \
        *(void **)&real = dlsym(RTLD_NEXT, name); /* POSIX wants it */ \
    }

#define BYTES(call, fd, n, made)                      \
    do {                                              \
        bool dies;                                    \
        turn t = before_bytes(call, fd, &(n), &dies); \
        if (t == STOP)                                \
            return -1;                                \
        if (t == SAY_DONE)                            \
            return (ssize_t)(n);                      \
        ssize_t done = made;                          \
        if (dies)                                     \
            die();                                    \
        return done;                                  \
    } while (0)

EXPORT ssize_t
write(int fd, const void *from, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t)
    BYTES("write", fd, n, real(fd, from, n));
}

EXPORT ssize_t
pwrite(int fd, const void *from, size_t n, off_t at)
{
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
    BYTES("write", fd, n, real(fd, from, n, at));
}

EXPORT ssize_t
pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
    BYTES("write", fd, n, real(fd, from, n, at));
}

/* A short one writes the first piece alone. */
EXPORT ssize_t
writev(int fd, const struct iovec *pieces, int count)
{
    REAL(ssize_t, "writev", int, const struct iovec *, int)
    size_t n = (size_t)count;
    BYTES("write", fd, n, real(fd, pieces, (int)n));
}

EXPORT ssize_t
read(int fd, void *to, size_t n)
{
    REAL(ssize_t, "read", int, void *, size_t)
    BYTES("read", fd, n, real(fd, to, n));
}

EXPORT ssize_t
pread(int fd, void *to, size_t n, off_t at)
{
    REAL(ssize_t, "pread", int, void *, size_t, off_t)
    BYTES("read", fd, n, real(fd, to, n, at));
}

EXPORT ssize_t
pread64(int fd, void *to, size_t n, off64_t at)
{
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t)
    BYTES("read", fd, n, real(fd, to, n, at));
}

EXPORT ssize_t
send(int fd, const void *from, size_t n, int flags)
{
    REAL(ssize_t, "send", int, const void *, size_t, int)
    BYTES("send", fd, n, real(fd, from, n, flags));
}

EXPORT ssize_t
recv(int fd, void *to, size_t n, int flags)
{
    REAL(ssize_t, "recv", int, void *, size_t, int)
    BYTES("recv", fd, n, real(fd, to, n, flags));
}

EXPORT ssize_t
getrandom(void *to, size_t n, unsigned flags)
{
    REAL(ssize_t, "getrandom", void *, size_t, unsigned)
    BYTES("getrandom", -1, n, real(to, n, flags));
}

EXPORT int
fsync(int fd)
{
    REAL(int, "fsync", int)
    return fails_fd("fsync", fd) ? -1 : real(fd);
}

EXPORT int
fdatasync(int fd)
{
    REAL(int, "fdatasync", int)
    return fails_fd("fsync", fd) ? -1 : real(fd);
}

EXPORT int
syncfs(int fd)
{
    REAL(int, "syncfs", int)
    return fails_fd("fsync", fd) ? -1 : real(fd);
}

EXPORT int
ftruncate(int fd, off_t n)
{
    REAL(int, "ftruncate", int, off_t)
    return fails_fd("truncate", fd) ? -1 : real(fd, n);
}

EXPORT int
ftruncate64(int fd, off64_t n)
{
    REAL(int, "ftruncate64", int, off64_t)
    return fails_fd("truncate", fd) ? -1 : real(fd, n);
}

/* A close that fails has closed all the same, as on Linux. */
EXPORT int
close(int fd)
{
    REAL(int, "close", int)
    bool failed = fails_fd("close", fd);
    int why = errno, done = real(fd);

    errno = failed ? why : errno;
    return failed ? -1 : done;
}

EXPORT int
rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *)
    return fails_path("rename", to) ? -1 : real(from, to);
}

EXPORT int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    REAL(int, "renameat", int, const char *, int, const char *)
    return fails_at("rename", to_dir, to) ? -1 : real(from_dir, from, to_dir, to);
}

EXPORT int
unlink(const char *path)
{
    REAL(int, "unlink", const char *)
    return fails_path("unlink", path) ? -1 : real(path);
}

EXPORT int
unlinkat(int dir, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int)
    return fails_at("unlink", dir, path) ? -1 : real(dir, path, flags);
}

EXPORT int
mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t)
    return fails_path("mkdir", path) ? -1 : real(path, mode);
}

EXPORT int
mkdirat(int dir, const char *path, mode_t mode)
{
    REAL(int, "mkdirat", int, const char *, mode_t)
    return fails_at("mkdir", dir, path) ? -1 : real(dir, path, mode);
}

static mode_t
mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t)
                                                                 : 0;
}

#define OPEN_PATH(name)                                                 \
    EXPORT int name(const char *path, int flags, ...)                   \
    {                                                                   \
        REAL(int, #name, const char *, int, ...)                        \
        va_list rest;                                                   \
        va_start(rest, flags);                                          \
        mode_t mode = mode_of(flags, rest);                             \
        va_end(rest);                                                   \
        return fails_path("open", path) ? -1 : real(path, flags, mode); \
    }
#define OPEN_AT(name)                                                           \
    EXPORT int name(int dir, const char *path, int flags, ...)                  \
    {                                                                           \
        REAL(int, #name, int, const char *, int, ...)                           \
        va_list rest;                                                           \
        va_start(rest, flags);                                                  \
        mode_t mode = mode_of(flags, rest);                                     \
        va_end(rest);                                                           \
        return fails_at("open", dir, path) ? -1 : real(dir, path, flags, mode); \
    }

OPEN_PATH(open)
OPEN_PATH(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

EXPORT void *
mmap(void *at, size_t n, int how, int flags, int fd, off_t from)
{
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t)
    return fd >= 0 && fails_fd("mmap", fd) ? MAP_FAILED
                                           : real(at, n, how, flags, fd, from);
}

EXPORT void *
mmap64(void *at, size_t n, int how, int flags, int fd, off64_t from)
{
    REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t)
    return fd >= 0 && fails_fd("mmap", fd) ? MAP_FAILED
                                           : real(at, n, how, flags, fd, from);
}

EXPORT int
socket(int domain, int type, int protocol)
{
    REAL(int, "socket", int, int, int)
    return rule_count > 0 && fails(struck("socket", "")) ? -1
                                                         : real(domain, type, protocol);
}

EXPORT int
connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t n)
{
    REAL(int, "connect", int, const struct sockaddr *, socklen_t)
    return fails_fd("connect", fd) ? -1 : real(fd, to.__sockaddr__, n);
}

EXPORT int
epoll_wait(int fd, struct epoll_event *to, int most, int ms)
{
    REAL(int, "epoll_wait", int, struct epoll_event *, int, int)
    return fails_fd("epoll_wait", fd) ? -1 : real(fd, to, most, ms);
}

EXPORT int
clock_gettime(clockid_t id, struct timespec *to)
{
    REAL(int, "clock_gettime", clockid_t, struct timespec *)
    const rule *r = NULL;

    if ((id == CLOCK_REALTIME || id == CLOCK_BOOTTIME) && rule_count > 0)
        r = struck(id == CLOCK_REALTIME ? "clock" : "uptime", "");
    int done = real(id, to);
    if (r && r->what == JUMP && done == 0)
        to->tv_sec += r->value;
    return done;
}

EXPORT int
fstatfs(int fd, struct statfs *to)
{
    REAL(int, "fstatfs", int, struct statfs *)
    char path[PATH_MAX];
    const rule *r = rule_count > 0 ? struck("statfs", path_of(fd, path)) : NULL;

    if (r && r->what == FAIL)
        return fails(r) ? -1 : 0;
    int done = real(fd, to);
    if (r && r->what == TYPE && done == 0)
        to->f_type = r->value;
    return done;
}
