/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone_files.h - time zones by their names in the IANA database, as this machine has it.
 *
 *     sn_zone_files z = {0};
 *     if (sn_zone_files_offset(&z, SN_STR("Europe/Berlin"), local, &offset))
 *         …                                       seconds east of UTC
 *     sn_zone_files_fini(&z);
 *
 * The files are those of /usr/share/zoneinfo (Debian's package tzdata). Names are
 * letters, digits, "_", "+", "-" and "/": no name leads out of that directory. Names that
 * are not there are remembered, too.
 *
 * Time    see text/time_zone.h: hours that come twice or not at all take the later
 *         offset. TZ and the zone of this machine play no part.
 * Memory  a file for each of at most 16 zones, some 3 KiB each.
 * Threads one owner.
 */
#ifndef SN_ZONE_FILES_H
#define SN_ZONE_FILES_H

#include "text/time_zone.h"

enum { SN_ZONE_FILES = 16, SN_ZONE_NAME = 64 };

typedef struct sn_zone_file { /* private */
    char name[SN_ZONE_NAME];
    char *bytes; /* NULL: there is no such zone */
    sn_time_zone zone;
} sn_zone_file;

typedef struct sn_zone_files {
    sn_zone_file files[SN_ZONE_FILES]; /* private */
    uint32_t count, next;
} sn_zone_files;

/* False: there is no such zone. */
bool sn_zone_files_has(sn_zone_files *z, sn_str name);
bool sn_zone_files_offset(sn_zone_files *z, sn_str name, int64_t local,
                          int64_t *out_offset);
void sn_zone_files_fini(sn_zone_files *z); /* all zero is fine */

#endif
