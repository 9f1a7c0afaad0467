/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/file_write.h"
#include "base/hash.h"
#include "store/job_parts.h"
#include "store/text_writer.h"

seine_err
sn_job_fail(const char *what, const char *path, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO], name[SEINE_DIAG_FILE];

    sn_diag_errno(error, text);
    sn_diag_path(path, name);
    sn_diag_text(diag, "cannot %s %s: %s", what, name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL
           : error == ENOMEM                  ? SEINE_E_NOMEM
                                              : SEINE_E_IO;
}

/* File systems of other machines, whose locks and syncs cannot be trusted. FUSE and 9P
 * are none of them: containers and virtual machines have their disks there. */
static bool
is_remote(int fd)
{
    static const unsigned long remote[] = {
        NFS_SUPER_MAGIC,         SMB_SUPER_MAGIC,           0xFF534D42ul /* CIFS */,
        0xFE534D42ul /* SMB2 */, CODA_SUPER_MAGIC,          AFS_SUPER_MAGIC,
        0x00C36400ul /* Ceph */, 0x0BD00BD0ul /* Lustre */, 0x47504653ul /* GPFS */,
        NCP_SUPER_MAGIC};
    struct statfs st;

    if (fstatfs(fd, &st) != 0)
        return false;
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if ((unsigned long)st.f_type == remote[i])
            return true;
    return false;
}

/* Makes the directory, for its owner alone. */
static seine_err
make_dir(const char *path, seine_diag *diag)
{
    struct stat st;

    if (mkdir(path, 0700) == 0)
        return SEINE_OK;
    if (errno != EEXIST)
        return sn_job_fail("make", path, errno, diag);
    if (stat(path, &st) != 0)
        return sn_job_fail("open", path, errno, diag);
    return S_ISDIR(st.st_mode) ? SEINE_OK : sn_job_fail("open", path, ENOTDIR, diag);
}

seine_err
sn_job_dir_open(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    const char *state = o->state ? o->state : ".seine";
    size_t n = strlen(state) + strlen(o->name) + 2;
    seine_err e = SEINE_OK;

    j->dir = sn_alloc(n);
    if (!j->dir)
        return SEINE_E_NOMEM;
    snprintf(j->dir, n, "%s/%s", state, o->name);
    if (!o->must_exist) {
        e = make_dir(state, diag);
        if (e == SEINE_OK)
            e = make_dir(j->dir, diag);
    }
    if (e != SEINE_OK)
        return e;
    j->dir_fd = open(j->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (j->dir_fd < 0 && o->must_exist && errno == ENOENT) {
        sn_diag_text(diag, "there is no job '%s'", o->name);
        return SEINE_E_IO;
    }
    if (j->dir_fd < 0)
        return sn_job_fail("open", j->dir, errno, diag);
    j->is_remote = is_remote(j->dir_fd);
    if (j->is_remote && !o->is_remote_ok) {
        char name[SEINE_DIAG_FILE];

        sn_diag_path(state, name);
        sn_diag_option(diag, "state",
                       "%s is on a network file system, whose locks do not hold: try a "
                       "local directory",
                       name);
        return SEINE_E_IO;
    }
    return SEINE_OK;
}

void
sn_job_boot_id(char out[64])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, 63) : 0;

    if (fd >= 0)
        (void)close(fd);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static seine_err
say_owner(int fd, const char *name, seine_diag *diag)
{
    char text[128], shown[SEINE_DIAG_FILE];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    sn_diag_path(name, shown);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (text[0] == '\0')
        sn_diag_text(diag, "job '%s' is owned by another process", shown);
    else
        sn_diag_text(diag, "job '%s' is owned by %s", shown, text);
    return SEINE_E_STATE_LOCKED;
}

/* The text is for the message of the next one. */
static void
write_owner(int fd)
{
    char text[256], boot[64], stamp[64];
    sn_text_writer w = sn_text_writer_on(stamp, sizeof stamp);

    sn_job_boot_id(boot);
    sn_text_writer_stamp(&w, sn_job_wall_ms() * 1000000);
    int n = snprintf(text, sizeof text, "pid %ld since %.*s\nboot %s\n", (long)getpid(),
                     (int)sn_text_writer_len(&w), stamp, boot);
    if (ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, text, (size_t)n, 0);
}

/* Somebody may have removed the file between our open and our lock. */
static bool
is_same(int fd, int dir)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && fstatat(dir, "lock", &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

seine_err
sn_job_lock(seine_durable_job *j, const char *name, seine_diag *diag)
{
    for (int i = 0; i < 100; i++) {
        struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd =
            openat(j->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0)
            return sn_job_fail("open the lock of", j->dir, errno, diag);
        if (fcntl(fd, F_OFD_SETLK, &range) != 0) {
            seine_err e = errno == EAGAIN || errno == EACCES
                              ? say_owner(fd, name, diag)
                              : sn_job_fail("lock", j->dir, errno, diag);
            (void)close(fd);
            return e;
        }
        if (is_same(fd, j->dir_fd)) {
            write_owner(fd);
            j->lock_fd = fd;
            return SEINE_OK;
        }
        (void)close(fd);
    }
    return sn_job_fail("lock", j->dir, EBUSY, diag);
}

bool
sn_job_is_locked(const seine_durable_job *j, int64_t *out_pid)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[128];
    int fd = openat(j->dir_fd, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    *out_pid = 0;
    if (fd < 0)
        return false;
    bool is_locked = fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    ssize_t n = is_locked ? pread(fd, text, sizeof text - 1, 0) : 0;
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (strncmp(text, "pid ", 4) == 0)
        *out_pid = strtol(text + 4, NULL, 10);
    return is_locked;
}

uint64_t
sn_job_id(const seine_durable_job *j)
{
    static const uint64_t key[2] = {1, 2};
    struct stat st = {.st_ino = 0};

    (void)!fstat(j->dir_fd, &st);
    return sn_siphash(key, (uint64_t[]){st.st_dev, st.st_ino}, 2 * sizeof(uint64_t));
}

bool
sn_job_file_exists(const seine_durable_job *j, const char *name)
{
    struct stat st;

    return fstatat(j->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The database loses its name first: a WAL without its database is nothing, a database
 * without its WAL would be an old one. */
void
sn_job_remove_state(seine_durable_job *j)
{
    static const char *const names[] = {
        "job.db-wal",         "job.db-shm",     "job.db-journal", "job.db.old",
        "job.db.new",         "job.db.new-wal", "ballast",        "job.db.new-shm",
        "job.db.new-journal", SN_JOB_PAGES,     SN_JOB_ANSWERS};

    if (renameat(j->dir_fd, "job.db", j->dir_fd, "job.db.old") == 0)
        (void)fsync(j->dir_fd);
    SN_CRASHPOINT("state.renamed");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlinkat(j->dir_fd, names[i], 0);
}

seine_err
sn_job_rename_new(const seine_durable_job *j, int fd, seine_diag *diag)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/job.db.new", j->dir);
    if (fsync(fd) != 0) {
        seine_err e = sn_job_fail("sync", path, errno, diag);

        return e == SEINE_E_IO ? SEINE_E_FSYNC_FAILED : e;
    }
    if (renameat(j->dir_fd, "job.db.new", j->dir_fd, "job.db") != 0)
        return sn_job_fail("rename", path, errno, diag);
    return SEINE_OK;
}

seine_err
sn_job_settle(const seine_durable_job *j, int fd, seine_diag *diag)
{
    seine_err e = sn_job_rename_new(j, fd, diag);

    if (e != SEINE_OK || fsync(j->dir_fd) == 0)
        return e;
    e = sn_job_fail("sync", j->dir, errno, diag);
    return e == SEINE_E_IO ? SEINE_E_FSYNC_FAILED : e;
}

seine_err
sn_job_remove_all(seine_durable_job *j, seine_diag *diag)
{
    sn_job_remove_state(j);
    (void)unlinkat(j->dir_fd, "control.sock", 0);
    (void)unlinkat(j->dir_fd, "job.db.damaged", 0);
    (void)unlinkat(j->dir_fd, "job.db.damaged-wal", 0);
    (void)unlinkat(j->dir_fd, "lock", 0);
    if (rmdir(j->dir) != 0)
        return sn_job_fail("remove", j->dir, errno, diag);
    return SEINE_OK;
}

void
sn_job_make_ballast(seine_durable_job *j)
{
    int fd = openat(j->dir_fd, "ballast",
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return;
    j->has_ballast = posix_fallocate(fd, 0, SN_JOB_BALLAST) == 0;
    (void)close(fd);
    if (!j->has_ballast)
        (void)unlinkat(j->dir_fd, "ballast", 0);
}

bool
sn_job_drop_ballast(seine_durable_job *j)
{
    bool had = j->has_ballast;

    j->has_ballast = false;
    had &= unlinkat(j->dir_fd, "ballast", 0) == 0;
    SN_CRASHPOINT("ballast.deleted");
    return had;
}

uint64_t
sn_job_disk_use(const seine_durable_job *j)
{
    static const char *const names[] = {"job.db",  "job.db-wal", "job.db-shm",
                                        "ballast", SN_JOB_PAGES, SN_JOB_ANSWERS};
    uint64_t sum = 0;
    struct stat st;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fstatat(j->dir_fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            sum += (uint64_t)st.st_blocks * 512;
    return sum;
}

static uint32_t
big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Looks at the first bytes, because SQLite would change a file by opening it. */
seine_err
sn_job_check_head(const seine_durable_job *j, seine_diag *diag)
{
    uint8_t head[100];
    char name[SEINE_DIAG_FILE];
    int fd = openat(j->dir_fd, "job.db", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;

    sn_diag_path(j->dir, name);
    if (fd < 0)
        return sn_job_fail("open the job.db of", j->dir, errno, diag);
    (void)close(fd);
    if (n < (ssize_t)sizeof head) {
        sn_diag_text(diag, "%s/job.db is cut: nothing was changed", name);
        return SEINE_E_STATE_CORRUPT;
    }
    if (memcmp(head, "SQLite format 3", 16) != 0 ||
        big_endian(head + 68) != SN_JOB_APPLICATION) {
        sn_diag_text(diag, "%s/job.db is not the state of a job: nothing was changed",
                     name);
        return SEINE_E_STATE_FOREIGN;
    }
    if (big_endian(head + 60) < 1 || big_endian(head + 60) > SN_JOB_FORMAT) {
        sn_diag_text(diag, "%s/job.db has format %u, and this version knows %d", name,
                     big_endian(head + 60), SN_JOB_FORMAT);
        return SEINE_E_STATE_NEWER;
    }
    return SEINE_OK;
}
