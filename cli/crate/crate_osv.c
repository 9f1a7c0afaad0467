/* SPDX-License-Identifier: Apache-2.0 */
/* What OSV answers: entries that affect the version; OSV has compared it already. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "crate/crate.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static const char *
text_of(const seine_json *object, const char *name)
{
    const char *text;
    size_t n;

    return seine_json_string(seine_json_get(object, name), &text, &n) && text[0] &&
                   strlen(text) == n
               ? text
               : NULL;
}

/* "CRITICAL", "HIGH", "MODERATE" or "MEDIUM", "LOW". */
static seine_severity
severity_of(const char *word)
{
    if (strcasecmp(word, "moderate") == 0)
        return SEINE_SEVERITY_MEDIUM;
    for (int s = SEINE_SEVERITY_LOW; s <= SEINE_SEVERITY_CRITICAL; s++)
        if (strcasecmp(word, seine_severity_name((seine_severity)s)) == 0)
            return (seine_severity)s;
    return SEINE_SEVERITY_UNKNOWN;
}

static void
rate(advisory *a, const seine_json *object)
{
    const seine_json *list = seine_json_get(object, "severity");

    for (size_t i = 0; i < seine_json_size(list); i++) {
        const char *vector = text_of(seine_json_at(list, i), "score");

        if (vector)
            advisory_rate(a, vector, strlen(vector));
    }
}

/* Where a range ends: the versions from there on are patched. */
static void
add_fixes(advisory *a, const seine_json *events)
{
    for (size_t i = 0; i < seine_json_size(events); i++) {
        const char *fixed = text_of(seine_json_at(events, i), "fixed");
        char req[160];

        if (fixed && strlen(fixed) < sizeof req - 4) {
            snprintf(req, sizeof req, ">= %s", fixed);
            advisory_add_patched(a, req);
        }
    }
}

/* The part of an entry that is about our crate: its kind, its vector, its fixes. */
static void
read_affected(advisory *a, const seine_json *affected)
{
    static const struct {
        const char *word;
        unsigned kind;
    } kinds[] = {{"unsound", ADVISORY_UNSOUND},
                 {"notice", ADVISORY_NOTICE},
                 {"unmaintained", ADVISORY_UNMAINTAINED}};
    const seine_json *own = seine_json_get(affected, "database_specific");
    const seine_json *ranges = seine_json_get(affected, "ranges");
    const char *word = text_of(own, "informational"), *cvss = text_of(own, "cvss");

    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            a->kinds = kinds[i].kind;
    rate(a, affected);
    if (cvss)
        advisory_rate(a, cvss, strlen(cvss));
    for (size_t i = 0; i < seine_json_size(ranges); i++)
        add_fixes(a, seine_json_get(seine_json_at(ranges, i), "events"));
}

static bool
is_about(const seine_json *affected, const char *name)
{
    const char *package = text_of(seine_json_get(affected, "package"), "name");

    return package && crate_name_is_same(package, name);
}

static advisory *
read_entry(const seine_json *entry, const char *name)
{
    const seine_json *aliases = seine_json_get(entry, "aliases");
    const seine_json *affected = seine_json_get(entry, "affected");
    const char *word = text_of(seine_json_get(entry, "database_specific"), "severity");
    const char *title = text_of(entry, "summary"), *alias;
    size_t n;
    advisory *a = advisory_new(text_of(entry, "id"));

    for (size_t i = 0; i < seine_json_size(aliases); i++)
        if (seine_json_string(seine_json_at(aliases, i), &alias, &n) &&
            strlen(alias) == n)
            advisory_add_id(a, alias);
    rate(a, entry);
    for (size_t i = 0; i < seine_json_size(affected); i++)
        if (is_about(seine_json_at(affected, i), name))
            read_affected(a, seine_json_at(affected, i));
    if (a->kinds == 0)
        a->kinds = ADVISORY_VULNERABILITY;
    if (a->severity == SEINE_SEVERITY_UNKNOWN && word)
        a->severity = severity_of(word);
    if (title)
        a->title = xalloc_copy(title, strlen(title));
    return a;
}

bool
crate_answer_osv(advisory_list *list, const seine_json *page, const char *name,
                 const char **out_next, reason *why)
{
    const seine_json *all = seine_json_get(page, "vulns");

    if (seine_json_type_of(page) != SEINE_JSON_OBJECT ||
        (all && seine_json_type_of(all) != SEINE_JSON_ARRAY))
        return reason_set(why, "'vulns' is no list");
    for (size_t i = 0; i < seine_json_size(all); i++) {
        const seine_json *entry = seine_json_at(all, i);

        if (!text_of(entry, "id"))
            return reason_set(why, "an entry has no 'id'");
        if (seine_json_type_of(seine_json_get(entry, "withdrawn")) != SEINE_JSON_NULL)
            continue;
        if (list->count == ADVISORY_MOST)
            return reason_set(why, "more than %d entries", ADVISORY_MOST);
        advisory_list_give(list, read_entry(entry, name));
    }
    *out_next = text_of(page, "next_page_token");
    return true;
}
