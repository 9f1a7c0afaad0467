/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/crate_gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crate/crate.h"
#include "options/suggest.h"
#include "screen/say.h"
#include "screen/xalloc.h"

/* "0.8" or "0.85", up to 1. */
static bool
read_hundredths(const char *text, unsigned *out)
{
    unsigned whole, part = 0;

    if ((text[0] != '0' && text[0] != '1') || (text[1] && text[1] != '.'))
        return false;
    whole = (unsigned)(text[0] - '0') * 100;
    if (text[1]) {
        size_t n = strspn(text + 2, "0123456789");

        if (n < 1 || n > 2 || text[2 + n])
            return false;
        part = (unsigned)(text[2] - '0') * 10 + (n > 1 ? (unsigned)(text[3] - '0') : 0);
    }
    *out = whole + part;
    return *out <= 100;
}

/* A word that is nearly one of ours is a slip, and no licence. */
static const char *
near_word(const char *text)
{
    static const char *const ours[] = {"vulnerable", "unsound", "unmaintained"};
    const char *best = NULL;
    unsigned slip = 3;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        suggest_nearer(text, ours[i], &slip, &best);
    return best;
}

static bool
is_license_id(const char *text)
{
    return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-")] == 0;
}

static int
deny(crate_gate *g, const char *text, bool has_licenses)
{
    if (strcmp(text, "vulnerable") == 0) {
        g->vulnerable = true;
    } else if (strcmp(text, "unsound") == 0) {
        g->unsound = true;
    } else if (strcmp(text, "unmaintained") == 0) {
        g->unmaintained = true;
    } else if (near_word(text) || !has_licenses || !is_license_id(text)) {
        return say_fail(SAY_USAGE, near_word(text) ? near_word(text) : NULL,
                        has_licenses ? "--deny '%s': none of vulnerable, unsound, "
                                       "unmaintained, and no licence like GPL-3.0"
                                     : "--deny '%s': none of vulnerable, unsound and "
                                       "unmaintained",
                        show(text).text);
    } else {
        g->licenses =
            xalloc_room(g->licenses, g->n_licenses, &g->licenses_cap, sizeof(char *));
        g->licenses[g->n_licenses++] = xalloc_copy(text, strlen(text));
    }
    return SAY_DONE;
}

int
crate_gate_make(const char *fail_under, const texts *denied, bool has_licenses,
                crate_gate *out)
{
    *out = (crate_gate){0};
    if (fail_under && !read_hundredths(fail_under, &out->fail_under))
        return say_fail(SAY_USAGE, "--fail-under 0.75",
                        "--fail-under '%s': no score from 0.00 to 1.00",
                        show(fail_under).text);
    int code = SAY_DONE;
    for (size_t i = 0; code == SAY_DONE && i < denied->count; i++)
        for (const char *p = denied->items[i]; code == SAY_DONE && p;) {
            size_t n = strcspn(p, ",");
            char *one = xalloc_copy(p, n);

            code = deny(out, one, has_licenses);
            free(one);
            p = p[n] ? p + n + 1 : NULL;
        }
    if (code != SAY_DONE)
        crate_gate_fini(out);
    return code;
}

void
crate_gate_fini(crate_gate *g)
{
    for (size_t i = 0; i < g->n_licenses; i++)
        free(g->licenses[i]);
    free(g->licenses);
    *g = (crate_gate){0};
}

static bool
has_kind(const advisory_list *list, unsigned wanted)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->kinds & wanted)
            return true;
    return false;
}

static bool
refuse(const crate_report *c, const char *why, const char *detail)
{
    say_fail(SAY_EXPECTED, NULL, "gate: %s %s: %s%s", c->facts.name, c->facts.num, why,
             detail);
    return false;
}

bool
crate_gate_passes(const crate_gate *g, const struct crate_report *c)
{
    const crate_judgement *j = &c->judged;
    bool passes = true;

    if (j->quality < g->fail_under) {
        char line[80];

        snprintf(line, sizeof line, "%u.%02u is below --fail-under %u.%02u",
                 j->quality / 100, j->quality % 100, g->fail_under / 100,
                 g->fail_under % 100);
        passes = refuse(c, "quality ", line);
    }
    if ((g->vulnerable || g->unsound) && !j->is_audited)
        passes = refuse(c, "unaudited: nobody can say whether it is vulnerable", "");
    if (g->vulnerable && j->security.vulnerabilities > 0)
        passes = refuse(c, "vulnerable: ", c->advisories.items[0]->ids[0]);
    if (g->unsound && has_kind(&c->advisories, ADVISORY_UNSOUND))
        passes = refuse(c, "unsound", "");
    if (g->unmaintained && j->status <= STATUS_ARCHIVED)
        passes = refuse(c, "unmaintained: ", j->status_reason);
    for (size_t i = 0; i < g->n_licenses; i++)
        if (crate_license_needs(c->facts.license, g->licenses[i]))
            passes = refuse(c, "licence ", show(c->facts.license).text);
    return passes;
}
