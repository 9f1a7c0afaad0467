/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror.h - a copy of a site in a directory, to be opened from disk.
 *
 * A crawl with `requisites` (fetch.h) and an output of the format SEINE_SINK_MIRROR
 * brings pages and their parts home. After the run the copy is settled: every URL gets
 * its file name, and links in HTML and CSS become relative where their target is in the
 * copy, and absolute elsewhere.
 *
 *     seine_mirror_opts m = SEINE_MIRROR_OPTS;
 *     seine_mirror_stats done;
 *     m.dir = "docs";
 *     e = seine_mirror_settle(&m, &done, &diag);
 *
 * Settling may be repeated and may be killed at any moment: it begins with what the
 * directory holds and ends with the same files. A file whose bytes would be the same is
 * left alone. Files are written under a temporary name and renamed; nothing is written
 * outside of the directory, whatever links are planted in it.
 *
 * Time    plays no part; calls block.
 * Memory  the URLs and names of the copy, and the largest page twice.
 * Threads one owner; a second one of the same directory gets STATE_LOCKED.
 */
#ifndef SEINE_MIRROR_H
#define SEINE_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_mirror_opts {
    size_t size;              /* of this struct: SEINE_MIRROR_OPTS sets it */
    const char *dir;          /* of the sink */
    const char *strip_params; /* of the crawl; NULL */
    bool keep_original;       /* bytes as they came, too, in `.original` */
    bool remove_gone;         /* files of pages that are 404 or 410 now */
} seine_mirror_opts;

/* clang-format off */
#define SEINE_MIRROR_OPTS {sizeof(seine_mirror_opts), NULL, NULL, false, false}
/* clang-format on */

typedef struct seine_mirror_stats {
    uint64_t files;   /* in the copy */
    uint64_t written; /* new, or with other bytes than before */
    uint64_t removed;
    uint64_t lost;    /* files that somebody has removed; their server says: unchanged */
    uint64_t blocked; /* names in whose place something else stands, a link for example */
    uint64_t local, remote; /* links that were rewritten: into the copy, and out of it */
} seine_mirror_stats;

SEINE_BEGIN

/* IO, DISK_FULL, STATE_LOCKED, NOMEM; the diag is one line. A name that is blocked is no
 * error; the diag tells the first. */
SEINE_MUST_CHECK seine_err seine_mirror_settle(const seine_mirror_opts *opts,
                                               seine_mirror_stats *out_stats,
                                               seine_diag *diag);

SEINE_END

#endif
