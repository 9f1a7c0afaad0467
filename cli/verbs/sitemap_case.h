/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_case.h - the entries of a sitemap as JSON, and one case of sitemap --jsonl.
 *
 *     {"sitemap":"<urlset>…"}  →  {"ok":true,"kind":"urlset","entries":[…]}
 */
#ifndef CLI_SITEMAP_CASE_H
#define CLI_SITEMAP_CASE_H

#include <seine/sitemap.h>

#include "verbs/jsonl.h"

/* The members that the entry has: loc, lastmod, changefreq, priority. */
seine_json *sitemap_entry(const seine_sitemap_entry *e);

/* Was it changed at that moment or later? Unix time in ns; 0: all were. */
bool sitemap_is_since(const seine_sitemap_entry *e, int64_t since);

bool sitemap_case(const seine_json *in, seine_json *out, reason *why);

#endif
