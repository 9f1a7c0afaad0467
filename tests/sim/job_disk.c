/* SPDX-License-Identifier: Apache-2.0 */
#include "job_disk.h"

#include <sqlite3.h>
#include <string.h>

typedef struct file {
    sqlite3_file base;
    void *real[]; /* the file of the system's own layer */
} file;

static struct {
    uint32_t good; /* writes that still succeed */
    sim_write_failure how;
    bool is_set, has_failed;
} disk;

static sqlite3_vfs layer, *system_layer;
static sqlite3_io_methods methods;

static sqlite3_file *
real(sqlite3_file *f)
{
    return (sqlite3_file *)((file *)f)->real;
}

static int
write_file(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    sqlite3_file *r = real(f);

    if (!disk.is_set || (!disk.has_failed && disk.good > 0)) {
        disk.good -= disk.is_set;
        return r->pMethods->xWrite(r, bytes, n, at);
    }
    if (!disk.has_failed && disk.how == WRITE_TORN)
        (void)!r->pMethods->xWrite(r, bytes, n / 2, at);
    disk.has_failed = true;
    return disk.how == WRITE_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

/* The rest goes on to the system. */

#define PASS(name, params, ...)                         \
    static int pass_##name params                       \
    {                                                   \
        return real(f)->pMethods->x##name(__VA_ARGS__); \
    }

PASS(Close, (sqlite3_file * f), real(f))
PASS(Read, (sqlite3_file * f, void *to, int n, sqlite3_int64 at), real(f), to, n, at)
PASS(Truncate, (sqlite3_file * f, sqlite3_int64 size), real(f), size)
PASS(Sync, (sqlite3_file * f, int flags), real(f), flags)
PASS(FileSize, (sqlite3_file * f, sqlite3_int64 *out), real(f), out)
PASS(Lock, (sqlite3_file * f, int how), real(f), how)
PASS(Unlock, (sqlite3_file * f, int how), real(f), how)
PASS(CheckReservedLock, (sqlite3_file * f, int *out), real(f), out)
PASS(FileControl, (sqlite3_file * f, int op, void *arg), real(f), op, arg)
PASS(SectorSize, (sqlite3_file * f), real(f))
PASS(DeviceCharacteristics, (sqlite3_file * f), real(f))
PASS(ShmMap, (sqlite3_file * f, int n, int size, int extend, void volatile **out),
     real(f), n, size, extend, out)
PASS(ShmLock, (sqlite3_file * f, int at, int n, int flags), real(f), at, n, flags)
PASS(ShmUnmap, (sqlite3_file * f, int flag), real(f), flag)

static void
pass_shm_barrier(sqlite3_file *f)
{
    real(f)->pMethods->xShmBarrier(real(f));
}

static int
open_file(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
    (void)v;
    int rc = system_layer->xOpen(system_layer, name, real(f), flags, out);

    f->pMethods = real(f)->pMethods ? &methods : NULL;
    return rc;
}

void
sim_job_disk_install(void)
{
    if (system_layer)
        return;
    system_layer = sqlite3_vfs_find(NULL);
    layer = *system_layer;
    layer.pNext = NULL;
    layer.zName = "sim";
    layer.szOsFile += (int)sizeof(file);
    layer.xOpen = open_file;
    methods = (sqlite3_io_methods){.iVersion = 2,
                                   .xClose = pass_Close,
                                   .xRead = pass_Read,
                                   .xWrite = write_file,
                                   .xTruncate = pass_Truncate,
                                   .xSync = pass_Sync,
                                   .xFileSize = pass_FileSize,
                                   .xLock = pass_Lock,
                                   .xUnlock = pass_Unlock,
                                   .xCheckReservedLock = pass_CheckReservedLock,
                                   .xFileControl = pass_FileControl,
                                   .xSectorSize = pass_SectorSize,
                                   .xDeviceCharacteristics = pass_DeviceCharacteristics,
                                   .xShmMap = pass_ShmMap,
                                   .xShmLock = pass_ShmLock,
                                   .xShmBarrier = pass_shm_barrier,
                                   .xShmUnmap = pass_ShmUnmap};
    sqlite3_vfs_register(&layer, 1);
}

void
sim_job_disk_fail(uint32_t good, sim_write_failure how)
{
    disk.good = good;
    disk.how = how;
    disk.is_set = true;
    disk.has_failed = false;
}

bool
sim_job_disk_has_failed(void)
{
    return disk.has_failed;
}

void
sim_job_disk_mend(void)
{
    disk.is_set = disk.has_failed = false;
}
