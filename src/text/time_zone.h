/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_zone.h - how far is the local time of a zone from UTC at a moment of its own?
 *
 * A zone is the bytes of a file of the IANA time zone database (TZif, RFC 9636): moments
 * at which the offset changed, and a rule in the form of POSIX for all years after them.
 *
 *     sn_time_zone z;
 *     if (sn_time_zone_read(&z, bytes))
 *         offset = sn_time_zone_offset(&z, local);    seconds east of UTC
 *
 * The local time is counted in seconds as if it were UTC. Where the clock is put back, an
 * hour comes twice, and where it is put forward, an hour is missing. Both take the later
 * offset, the one that holds after the change: in New York, 2024-11-03 01:30 is -05:00,
 * and 2024-03-10 02:30 is -04:00.
 *
 * Time    of the caller; no clock is read, and no variable of the environment.
 * Memory  the bytes are borrowed and must outlive the zone.
 * Threads any thread.
 */
#ifndef SN_TIME_ZONE_H
#define SN_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* One of the two changes of a year: a day, and the local time at which it happens. */
typedef struct sn_zone_change {
    char form;   /* 'M' month.week.weekday, 'J' day without 29 February, 'N' with it */
    int16_t day; /* of the year, or the weekday */
    int8_t month, week;
    int32_t time; /* seconds from midnight; may be negative */
} sn_zone_change;

/* The rule for years after the last change of the file. */
typedef struct sn_zone_rule {
    int32_t standard, summer; /* offsets */
    bool has_summer;
    sn_zone_change begin, end; /* of summer time */
} sn_zone_rule;

typedef struct sn_time_zone {
    sn_str times;   /* of changes, 8 bytes each; or 4, in a file of version 1 */
    sn_str kinds;   /* of the offset after each change, a byte each */
    sn_str offsets; /* 6 bytes each */
    uint32_t count; /* of changes */
    uint8_t width;  /* of a time: 8 or 4 */
    bool has_rule;
    sn_zone_rule rule;
} sn_time_zone;

/* False: no such file, or one that counts leap seconds. */
bool sn_time_zone_read(sn_time_zone *z, sn_str bytes);

/* A rule in the form of POSIX: "EST5EDT,M3.2.0,M11.1.0". False: it is none. */
bool sn_zone_rule_read(sn_zone_rule *rule, sn_str text);

int32_t sn_time_zone_offset(const sn_time_zone *z, int64_t local);

#endif
