/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - the robots.txt reader as the engine, its own files and its tests see it.
 *
 *     robots_line.c  a line: its field and its value; product tokens; delays
 *     robots_path.c  both sides of a comparison in one spelling, and the comparison
 *     robots.c       what the groups say about a URL, see robots_parts.h
 *
 * Both sides of a rule are normalised once, the pattern when the file is read and the
 * target of a URL before it is judged (RFC 9309, 2.2.2 and 2.2.3):
 *
 *     letters, digits, "-._~"     as they are, also where they were escaped
 *     "!&'()+,;="                 as they stand: "%3D" and "=" differ
 *     "/:?@"                      likewise; in a query both are the character, since
 *                                 nothing begins with it there
 *     "*", "$"                    escapes, unless they are the pattern's own signs
 *     all else                    escapes in upper case
 *
 * Time    plays no part. A judgement has SN_ROBOTS_STEPS steps: a step is a rule, or a
 *         byte that the search for a piece behind a star passes. Turns also pay for the
 *         target, a step for 8 bytes, and for the lines before the group that decides.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_ROBOTS_H
#define SN_ROBOTS_H

#include "base/str.h"
#include "seine/robots.h"
#include "seine/url.h"

enum {
    SN_ROBOTS_STEPS = 1000000,
    SN_ROBOTS_LINE = 16663, /* longest line: 8 URLs of 2,083 bytes, as in Google's */
    SN_ROBOTS_TARGET = 3 * SEINE_URL_MAX
};

/* robots_line.c */

typedef enum sn_robots_field {
    SN_ROBOTS_AGENT,
    SN_ROBOTS_ALLOW,
    SN_ROBOTS_DISALLOW,
    SN_ROBOTS_DELAY,
    SN_ROBOTS_SITEMAP,
    SN_ROBOTS_OTHER /* unknown, or no field at all */
} sn_robots_field;

/* Takes the next line off the text, up to CR, LF or CR LF; false: it is the last, and has
 * no end. */
bool sn_robots_next_line(sn_str *rest, sn_str *out_line);

/* What the line says: *io_line loses its comment and outer blanks, *out_value is a part
 * of it. */
sn_robots_field sn_robots_read_line(sn_str *io_line, sn_str *out_value);

/* The product token at the beginning of a value: letters, digits, "_" and "-"; "*". */
sn_str sn_robots_token(sn_str value);

/* The product token of a User-Agent header: that of "Mozilla/5.0 (compatible; a/1)" is
 * a. Empty: there is none. */
sn_str sn_robots_agent(sn_str user_agent);

/* The token to ask with: `token` if there is one, else that of the user agent. */
enum { SN_ROBOTS_AGENT_ROOM = 64 };
void sn_robots_name_agent(const char *token, const char *user_agent,
                          char out[SN_ROBOTS_AGENT_ROOM]);

/* Seconds, "2", ".5", "1.", in ns; -1: no number. */
int64_t sn_robots_seconds(sn_str value);

/* robots_path.c */

/* Writes the pattern, or the target of a URL, in the one spelling; at most three times as
 * long. `in_query` says for the pattern that it begins in a query. */
size_t sn_robots_normal_pattern(sn_str pattern, bool in_query, char *to);
size_t sn_robots_normal_target(sn_str target, char to[SN_ROBOTS_TARGET]);

/* True if the pattern matches from the start of the target; both are normalised. Adds
 * to *io_steps, and returns false once they are above SN_ROBOTS_STEPS. */
bool sn_robots_match(sn_str target, sn_str pattern, uint32_t *io_steps);

/* robots.c */

/* What the rules say about the target of a URL, as the URL parser writes it; of at most
 * SEINE_URL_MAX bytes. Returns the steps that it took. `agent` as in check. */
uint32_t sn_robots_judge(const seine_robots *r, const char *agent, sn_str target,
                         seine_robots_verdict *out_verdict);

/* Bytes of memory that it holds. */
size_t sn_robots_bytes(const seine_robots *r);

#endif
