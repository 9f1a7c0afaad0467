/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_format.h - dates and times as pages write them.
 *
 * A format has the letters of strptime: %Y %y %m %d %e %b %B %a %A %H %I %M %S %p %j %z
 * and %%. Names are English, whole or of three letters; years of two digits are 1970 to
 * 2069; a blank stands for any number of blanks. Other characters stand for themselves.
 *
 * Time    of the caller; no clock is read.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_DATE_FORMAT_H
#define SN_DATE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "recipe/parts.h"

typedef struct sn_moment {
    int year, month, day;
    int hour, minute, second;
    int offset; /* seconds east of UTC */
    bool has_offset;
} sn_moment;

/* Why this is no format for a type (DATE, TIME, MONTH, DATETIME); NULL: it is one. */
const char *sn_date_format_check(sn_str format, sn_type type);

/* False: the text is not of this format, or no such day exists. */
bool sn_date_format_read(sn_str format, sn_str text, sn_moment *out);

/* The same for the forms of ISO 8601 that a type has: 2024-11, 2024-11-03, 08:30[:00],
 * and a date and a time with T or a blank between them and an offset behind. */
bool sn_date_iso_read(sn_type type, sn_str text, sn_moment *out);

#endif
