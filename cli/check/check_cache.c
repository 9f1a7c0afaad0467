/* SPDX-License-Identifier: Apache-2.0 */
/* The cache: good answers of earlier runs, a line each: when, the status, the status of
 * a redirect for good or 0, the URL, and where it led. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/url.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/lines.h"

static const char head[] = "seine check cache 1";

static int64_t
wall_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->wall(c) / SEINE_SECS(1);
}

/* Reads a number and moves behind the tab after it; false: there is none. */
static bool
take_number(char **at, int64_t *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoll(*at, &end, 10);
    if (errno || end == *at || *end != '\t')
        return false;
    *at = end + 1;
    return true;
}

/* Whether an answer of that moment still counts. */
static bool
is_fresh(const check *c, int64_t when)
{
    int64_t now = wall_is();

    return when >= 0 && when <= now && now - when < c->set->max_age / SEINE_SECS(1);
}

/* Finds the target of a URL by its key; NONE: this run has none such. False: it is no
 * URL. */
static bool
find_target(const check *c, const char *text, size_t len, uint32_t *out_target)
{
    char mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
    seine_url url;
    size_t n;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text, len, NULL) != SEINE_OK ||
        seine_url_key(&url, c->set->net.strip_params, key, sizeof key, &n) != SEINE_OK)
        return false;
    *out_target = name_map_get(&c->urls, key);
    return true;
}

/* One line; false: it is none of ours. */
static bool
take_line(check *c, char *line)
{
    int64_t when, status, moved;
    char *at = line;
    uint32_t n;

    if (!take_number(&at, &when) || !take_number(&at, &status) ||
        !take_number(&at, &moved) || status < 100 || status > 999 ||
        (moved != 0 && moved != 301 && moved != 308))
        return false;
    char *final_url = strchr(at, '\t');
    if (final_url)
        *final_url++ = '\0';
    if (!find_target(c, at, strlen(at), &n))
        return false;
    if (n == NAME_MAP_NONE || !is_fresh(c, when))
        return true;
    check_target *t = &c->targets[n];
    if (t->is_judged || t->wants_anchors)
        return true;
    t->is_judged = t->is_cached = true;
    t->verdict = moved ? SEINE_LINK_REDIRECTED : SEINE_LINK_OK;
    t->status = (uint16_t)status;
    if (moved)
        t->why = xalloc_copy(moved == 301 ? "301" : "308", 3);
    if (final_url && *final_url)
        t->final_url = xalloc_copy(final_url, strlen(final_url));
    return true;
}

int
check_cache_load(check *c)
{
    lines in = {0};
    lines_got got;

    if (!c->set->cache || access(c->set->cache, F_OK) != 0)
        return SAY_DONE;
    int code = lines_open(&in, c->set->cache);
    if (code != SAY_DONE)
        return code;
    got = lines_next(&in);
    bool fine = got == LINES_END || (got == LINES_ONE && strcmp(in.text, head) == 0);
    while (fine && got == LINES_ONE && (got = lines_next(&in)) == LINES_ONE)
        fine = strlen(in.text) == in.len && take_line(c, in.text);
    if (!fine)
        code = say_fail(SAY_USAGE, "another name, or remove it",
                        "--cache: line %llu of '%s' was not written by seine check",
                        (unsigned long long)in.number, show(c->set->cache).text);
    lines_close(&in);
    return code == SAY_DONE && got == LINES_FAILED ? SAY_MACHINE : code;
}

/* The good answers of this run, and those of the file that are still good. */
int
check_cache_save(const check *c)
{
    textbuf out = {NULL, 0, 0};
    lines in = {0};
    int code = SAY_DONE;

    if (!c->set->cache)
        return SAY_DONE;
    textbuf_put(&out, "%s\n", head);
    if (access(c->set->cache, F_OK) == 0 && lines_open(&in, c->set->cache) == SAY_DONE) {
        while (lines_next(&in) == LINES_ONE) {
            char *at = in.text;
            int64_t when, status, moved;
            bool keeps = take_number(&at, &when) && take_number(&at, &status) &&
                         take_number(&at, &moved) && is_fresh(c, when);
            uint32_t known = NAME_MAP_NONE;
            keeps = keeps && find_target(c, at, strcspn(at, "\t"), &known);
            bool asked = known != NAME_MAP_NONE && !c->targets[known].is_cached;
            if (keeps && !asked)
                textbuf_put(&out, "%s\n", in.text);
        }
        lines_close(&in);
    }
    for (size_t i = 0; i < c->n_targets; i++) {
        const check_target *t = &c->targets[i];
        bool good = t->verdict == SEINE_LINK_OK || t->verdict == SEINE_LINK_REDIRECTED;

        if (!t->is_judged || t->is_cached || !good || t->next != NAME_MAP_NONE ||
            t->status == 0)
            continue;
        textbuf_put(&out, "%lld\t%u\t%s\t%s%s%s\n", (long long)wall_is(), t->status,
                    t->verdict == SEINE_LINK_OK ? "0" : t->why, t->url,
                    t->final_url ? "\t" : "", t->final_url ? t->final_url : "");
    }
    if (!seine_file_replace(c->set->cache, out.text, out.len))
        code = say_fail(SAY_MACHINE, "another name", "--cache: cannot write '%s': %s",
                        show(c->set->cache).text, show_errno(errno).text);
    textbuf_free(&out);
    return code;
}
