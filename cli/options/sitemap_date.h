/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_date.h - dates of sitemaps and feeds, as the span of time that each of them may
 * mean.
 *
 *     2026               the whole year
 *     2026-11-03         a day
 *     2026-11-03T18:00Z  a minute; with seconds, a second
 *     Mon, 03 Nov 2026 18:00:15 +0100
 */
#ifndef CLI_SITEMAP_DATE_H
#define CLI_SITEMAP_DATE_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/time.h>

/* The W3C's profile of ISO 8601, or RFC 822 with years of four digits; UTC where it does
 * not say. The first moment and the first behind it. False: it is no date. */
bool sitemap_date_read(const char *text, size_t n, seine_time *out_from,
                       seine_time *out_until);

#endif
