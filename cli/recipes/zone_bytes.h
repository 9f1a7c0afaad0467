/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone_bytes.h - the files of the time zone database, read once each.
 *
 * Threads any thread.
 */
#ifndef CLI_ZONE_BYTES_H
#define CLI_ZONE_BYTES_H

#include <pthread.h>
#include <stdbool.h>

#include <seine/view.h>

struct zone_file;

typedef struct zone_bytes {
    pthread_mutex_t lock;
    struct zone_file *files; /* never removed before the end */
} zone_bytes;

void zone_bytes_init(zone_bytes *z);
void zone_bytes_fini(zone_bytes *z);

/* For seine_recipe_opts.zone; `arg` is a zone_bytes. False: there is no such zone. */
bool zone_bytes_get(const char *name, seine_view *out_bytes, void *arg);

#endif
