/* SPDX-License-Identifier: Apache-2.0 */
/* The score, the status and the recommendation: arithmetic on what is known. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/calendar.h>

#include "crate/crate.h"
#include "screen/xalloc.h"

enum { OLD_DAYS = 365, DEAD_DAYS = 1095, LIVELY_DOWNLOADS = 10000, GOOD_QUALITY = 50 };

enum { LONGEST_DESCRIPTION = 64 << 10 };

static const char deprecated_words[] =
    "(?i)^\\W*deprecated\\b|\\b(is|been) deprecated\\b|\\bdeprecated in favou?r\\b"
    "|\\b(no longer |un)maintained\\b|\\bsuperseded by\\b|\\brenamed to\\b"
    "|\\bhas moved to\\b";

const char *const crate_part_names[SCORE_PARTS] = {
    "downloads", "documentation",           "repository",
    "license",   "keywords and categories", "recent downloads"};

const char *
crate_status_name(crate_status s)
{
    static const char *const names[] = {"Deprecated", "Archived", "Community", "Active"};

    return names[s];
}

const char *
crate_verdict_name(crate_verdict v)
{
    static const char *const names[] = {"use", "caution", "avoid"};

    return names[v];
}

static unsigned
downloads_part(uint64_t n)
{
    static const struct {
        uint64_t above;
        unsigned points;
    } steps[] = {{1000000, 30}, {100000, 25}, {10000, 20}, {1000, 10}};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (n > steps[i].above)
            return steps[i].points;
    return 0;
}

static void
judge_quality(const crate_facts *f, crate_judgement *j)
{
    j->parts[SCORE_DOWNLOADS] = downloads_part(f->downloads);
    j->parts[SCORE_DOCUMENTATION] = f->documentation ? 20 : 0;
    j->parts[SCORE_REPOSITORY] = f->repository ? 15 : 0;
    j->parts[SCORE_LICENSE] = f->license ? 10 : 0;
    j->parts[SCORE_KEYWORDS] =
        seine_json_size(f->keywords) > 0 && seine_json_size(f->categories) > 0 ? 10 : 0;
    j->parts[SCORE_RECENT] = f->recent > f->downloads / 10 ? 15 : 0;
    for (int i = 0; i < SCORE_PARTS; i++)
        j->quality += j->parts[i];
}

static bool
says_deprecated(const char *text)
{
    static const char *const include[] = {deprecated_words, NULL};
    seine_filter *filter = NULL;
    size_t n = text ? strnlen(text, LONGEST_DESCRIPTION) : 0;

    while (n > LONGEST_DESCRIPTION - 4 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--; /* no character is cut */
    if (n == 0)
        return false;
    if (seine_filter_new(include, NULL, &filter, NULL) != SEINE_OK)
        xalloc_json(NULL);
    bool says = seine_filter_passes(filter, text, n);
    seine_filter_free(filter);
    return says;
}

static bool
is_badge(const crate_facts *f, const char *status)
{
    return f->badge && strcmp(f->badge, status) == 0;
}

__attribute__((format(printf, 3, 4))) static bool
set_status(crate_judgement *j, crate_status status, const char *fmt, ...)
{
    va_list list;

    j->status = status;
    va_start(list, fmt);
    vsnprintf(j->status_reason, sizeof j->status_reason, fmt, list);
    va_end(list);
    return true;
}

static int64_t
days_since(int64_t then, int64_t now)
{
    int64_t days = now / SEINE_DAY_SECONDS - then / SEINE_DAY_SECONDS;

    return days > 0 ? days : 0;
}

/* "last release 41 days ago" */
static void
print_age(const crate_facts *f, int64_t days, char out[80])
{
    if (f->released == 0)
        snprintf(out, 80, "the time of the last release is unknown");
    else if (days == 0)
        snprintf(out, 80, "last release today");
    else
        snprintf(out, 80, "last release %s day%s ago", figure_count((uint64_t)days).text,
                 days == 1 ? "" : "s");
}

static bool
judge_deprecated(const crate_facts *f, crate_judgement *j)
{
    if (f->is_yanked)
        return set_status(j, STATUS_DEPRECATED, "every version is yanked");
    if (is_badge(f, "deprecated"))
        return set_status(j, STATUS_DEPRECATED, "maintenance badge 'deprecated'");
    return says_deprecated(f->description) &&
           set_status(j, STATUS_DEPRECATED, "the description says so");
}

static bool
judge_unmaintained(const advisory_list *advisories, crate_judgement *j)
{
    const advisory *a = advisory_unmaintained(advisories);

    return a && set_status(j, STATUS_ARCHIVED, "%.60s unmaintained", a->ids[0]);
}

/* The first rule that fits. */
static void
judge_status(const crate_facts *f, const advisory_list *advisories, int64_t now,
             crate_judgement *j)
{
    int64_t days = f->released ? days_since(f->released, now) : 0;
    char age[80];

    print_age(f, days, age);
    if (judge_deprecated(f, j) || judge_unmaintained(advisories, j))
        return;
    if (is_badge(f, "none"))
        set_status(j, STATUS_ARCHIVED, "maintenance badge 'none'");
    else if (days > DEAD_DAYS && f->recent < LIVELY_DOWNLOADS)
        set_status(j, STATUS_ARCHIVED, "%s, %s recent downloads", age,
                   figure_count(f->recent).text);
    else if (is_badge(f, "passively-maintained") || is_badge(f, "as-is") ||
             is_badge(f, "looking-for-maintainer"))
        set_status(j, STATUS_COMMUNITY, "maintenance badge '%s'", f->badge);
    else
        set_status(j, days > OLD_DAYS ? STATUS_COMMUNITY : STATUS_ACTIVE, "%s", age);
}

/* A reason raises the verdict to `at_least`. */
__attribute__((format(printf, 3, 4))) static void
add_reason(crate_judgement *j, crate_verdict at_least, const char *fmt, ...)
{
    char text[200];
    va_list list;

    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    j->reasons =
        xalloc_room(j->reasons, j->n_reasons, &j->reasons_cap, sizeof *j->reasons);
    j->reasons[j->n_reasons++] = xalloc_copy(text, strlen(text));
    if (at_least > j->verdict)
        j->verdict = at_least;
}

static bool
is_grave(const advisory *a)
{
    return (a->kinds & ADVISORY_VULNERABILITY) && a->severity >= SEINE_SEVERITY_HIGH;
}

/* "RUSTSEC-2021-0003 critical (9.8)" */
static void
add_advisory(crate_judgement *j, const advisory *a)
{
    crate_verdict at_least = is_grave(a) ? VERDICT_AVOID : VERDICT_CAUTION;

    if (!(a->kinds & ADVISORY_VULNERABILITY))
        add_reason(j, at_least, "%.100s unsound", a->ids[0]);
    else if (a->tenths > 0)
        add_reason(j, at_least, "%.100s %s (%d.%d)", a->ids[0],
                   seine_severity_name(a->severity), a->tenths / 10, a->tenths % 10);
    else
        add_reason(j, at_least, "%.100s %s", a->ids[0],
                   a->severity == SEINE_SEVERITY_UNKNOWN
                       ? "vulnerability of unknown severity"
                       : seine_severity_name(a->severity));
}

/* What makes it avoid comes first. */
static void
judge_advisories(const advisory_list *list, bool grave, crate_judgement *j)
{
    for (size_t i = 0; i < list->count; i++) {
        const advisory *a = list->items[i];

        if ((a->kinds & (ADVISORY_VULNERABILITY | ADVISORY_UNSOUND)) &&
            is_grave(a) == grave)
            add_advisory(j, a);
    }
}

static void
judge_security(advisory_list *advisories, crate_judgement *j)
{
    advisory_list_sort(advisories);
    j->is_audited = advisories->is_answered;
    j->security = advisory_score(advisories);
}

void
crate_judge(const crate_facts *f, advisory_list *advisories, int64_t now,
            crate_judgement *j)
{
    judge_quality(f, j);
    judge_security(advisories, j);
    judge_status(f, advisories, now, j);
    if (j->status <= STATUS_ARCHIVED)
        add_reason(j, VERDICT_AVOID, "%s", j->status_reason);
    judge_advisories(advisories, true, j);
    judge_advisories(advisories, false, j);
    if (j->status == STATUS_COMMUNITY)
        add_reason(j, VERDICT_CAUTION, "%s", j->status_reason);
    if (!j->is_audited)
        add_reason(j, VERDICT_CAUTION, "unaudited");
    if (j->quality < GOOD_QUALITY)
        add_reason(j, VERDICT_CAUTION, "quality %u.%02u is below 0.50", j->quality / 100,
                   j->quality % 100);
}

void
crate_judge_audit(advisory_list *advisories, crate_judgement *j)
{
    judge_security(advisories, j);
    j->status = STATUS_ACTIVE; /* status_reason is empty: nothing is known */
    if (judge_unmaintained(advisories, j))
        add_reason(j, VERDICT_AVOID, "%s", j->status_reason);
    judge_advisories(advisories, true, j);
    judge_advisories(advisories, false, j);
}

void
crate_judgement_fini(crate_judgement *j)
{
    for (size_t i = 0; i < j->n_reasons; i++)
        free(j->reasons[i]);
    free(j->reasons);
    *j = (crate_judgement){0};
}

int
crate_order(const void *x, const void *y)
{
    const crate_report *a = *(crate_report *const *)x, *b = *(crate_report *const *)y;

    if (a->judged.verdict != b->judged.verdict)
        return a->judged.verdict < b->judged.verdict ? -1 : 1;
    if (a->judged.quality != b->judged.quality)
        return a->judged.quality > b->judged.quality ? -1 : 1;
    if (a->facts.downloads != b->facts.downloads)
        return a->facts.downloads > b->facts.downloads ? -1 : 1;
    int order = strcmp(a->facts.name, b->facts.name);
    return order != 0 ? order : strcmp(a->facts.num, b->facts.num);
}
