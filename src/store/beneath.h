/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beneath.h - files below a directory, never outside of it, whatever links are planted.
 *
 * Every part of a path is opened without following symbolic links. A file is written
 * under a temporary name, a part, in a directory of its own file system and then renamed,
 * so a final name means a complete file.
 *
 *     fd = sn_beneath_read(dir, "e.example/a/b");
 *     ok = sn_beneath_write(&from, dir, "e.example/a/index.html", bytes);
 *
 * All return false, or a descriptor of -1, with errno.
 *
 * Time    plays no part; calls block.
 * Memory  none.
 * Threads one owner.
 */
#ifndef SN_BENEATH_H
#define SN_BENEATH_H

#include "base/str.h"

/* Where parts are made. */
typedef struct sn_parts {
    int dir;
    const char *prefix; /* of their names */
    uint64_t made;      /* so far */
} sn_parts;

enum { SN_PART_NAME = 96 };

/* Opens a name of one part, or with openat2 of several, below `dir`. */
int sn_beneath_open(int dir, const char *name, int flags);

/* Opens the directory that a path lies in, and makes what is missing of it if asked to.
 * *out_last is the last part of the path. */
int sn_beneath_parent(int dir, const char *path, bool make, const char **out_last);

/* Opens a file for reading. */
int sn_beneath_read(int dir, const char *path);

/* A new part with these bytes; its name is written. */
bool sn_beneath_part(sn_parts *p, sn_str bytes, char out_name[SN_PART_NAME]);

/* Replaces the file at the path, and makes the directories above it. */
bool sn_beneath_write(sn_parts *p, int dir, const char *path, sn_str bytes);

/* Moves a name in `from` to the path below `dir`; what is there is replaced. */
bool sn_beneath_move(int from, const char *name, int dir, const char *path);

/* Removes the file, and the directories above it that are empty then. */
bool sn_beneath_remove(int dir, const char *path);

#endif
