/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one advisory: TOML between fences, then a title and prose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/semver.h>
#include <seine/toml.h>

#include "crate/advisory_db.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/xalloc.h"

typedef struct front_matter {
    const char *toml, *rest;
    size_t len, rest_len;
} front_matter;

/* ```toml … ``` at the beginning of the file. */
static bool
find_front_matter(const char *text, size_t len, front_matter *out)
{
    static const char open[] = "```toml", close[] = "\n```";
    const char *end = text + len, *from;

    while (text < end && strchr(" \t\r\n", *text))
        text++;
    if ((size_t)(end - text) < sizeof open - 1 ||
        memcmp(text, open, sizeof open - 1) != 0)
        return false;
    from = text + sizeof open - 1;
    const char *stop = memmem(from, (size_t)(end - from), close, sizeof close - 1);
    if (!stop)
        return false;
    *out = (front_matter){
        .toml = from, .len = (size_t)(stop - from) + 1, .rest = stop + sizeof close - 1};
    out->rest_len = (size_t)(end - out->rest);
    return true;
}

/* The first heading of the prose. */
static char *
find_title(const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((line ? line : end) - text);

        if (n > 2 && memcmp(text, "# ", 2) == 0) {
            while (n > 2 && strchr(" \t\r", text[n - 1]))
                n--;
            return xalloc_copy(text + 2, n - 2);
        }
        text = line ? line + 1 : end;
    }
    return NULL;
}

/* A member that is a text; NULL: there is none, or it is no text, or has a zero in it. */
static const char *
text_of(const seine_json *table, const char *name)
{
    const char *text;
    size_t n;

    return seine_json_string(seine_json_get(table, name), &text, &n) && strlen(text) == n
               ? text
               : NULL;
}

typedef bool (*text_fn)(const char *text, void *arg, reason *why);

/* Calls `fn` for each text of a list, which may be missing. False: it is no list of
 * texts, or `fn` says so. */
static bool
each_text(const seine_json *table, const char *name, text_fn fn, void *arg, reason *why)
{
    const seine_json *list = seine_json_get(table, name);
    const char *text;
    size_t n;

    if (!list)
        return true;
    if (seine_json_type_of(list) != SEINE_JSON_ARRAY)
        return reason_set(why, "'%s' is no list", name);
    for (size_t i = 0; i < seine_json_size(list); i++) {
        if (!seine_json_string(seine_json_at(list, i), &text, &n) || strlen(text) != n)
            return reason_set(why, "'%s' has a value that is no text", name);
        if (!fn(text, arg, why))
            return false;
    }
    return true;
}

static bool
add_alias(const char *text, void *arg, reason *why)
{
    (void)why;
    advisory_add_id(arg, text);
    return true;
}

typedef struct matching {
    seine_semver version;
    advisory *a; /* gets what is patched; NULL */
    reason *note;
    bool is_matched;
} matching;

static bool
match_req(const char *text, void *arg, reason *why)
{
    matching *m = arg;
    seine_semver_req req;

    if (seine_semver_req_parse(text, strlen(text), &req) != SEINE_OK)
        return reason_set(why, "'%s' is no version requirement", show(text).text);
    if (seine_semver_req_is_empty(&req))
        reason_set(m->note, "no version can match '%s'", show(text).text);
    m->is_matched |= seine_semver_req_matches(&req, &m->version);
    if (m->a)
        advisory_add_patched(m->a, text);
    return true;
}

/* False: the file cannot be used. */
static bool
read_versions(const seine_json *all, const char *version, advisory *a, bool *out_affected,
              reason *note, reason *why)
{
    const seine_json *versions = seine_json_get(all, "versions");
    matching m = {.a = a, .note = note};

    if (seine_json_type_of(versions) != SEINE_JSON_OBJECT)
        return reason_set(why, "there is no [versions]");
    if (seine_semver_parse(version, strlen(version), &m.version) != SEINE_OK)
        return reason_set(why, "'%s' is no version", show(version).text);
    if (!each_text(versions, "patched", match_req, &m, why))
        return false;
    m.a = NULL;
    if (!each_text(versions, "unaffected", match_req, &m, why))
        return false;
    *out_affected = !m.is_matched;
    return true;
}

static bool
read_kind(const seine_json *table, advisory *a, reason *why)
{
    static const struct {
        const char *word;
        unsigned kind;
    } kinds[] = {{"unsound", ADVISORY_UNSOUND},
                 {"notice", ADVISORY_NOTICE},
                 {"unmaintained", ADVISORY_UNMAINTAINED}};
    const char *word = text_of(table, "informational");

    if (!seine_json_get(table, "informational")) {
        a->kinds = ADVISORY_VULNERABILITY;
        return true;
    }
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            a->kinds = kinds[i].kind;
    return a->kinds != 0 || reason_set(why, "'informational' is none of unsound, notice "
                                            "and unmaintained");
}

/* What stands in [advisory]. NULL: the file cannot be used. */
static advisory *
read_advisory(const seine_json *all, const char *name, reason *why)
{
    const seine_json *table = seine_json_get(all, "advisory");
    const char *id = text_of(table, "id"), *package = text_of(table, "package");
    const char *cvss = text_of(table, "cvss");

    if (!id || !id[0] || !package) {
        reason_set(why, "[advisory] has no 'id' and 'package'");
        return NULL;
    }
    if (!crate_name_is_same(package, name)) {
        reason_set(why, "'package' is '%s', not '%s'", show(package).text, name);
        return NULL;
    }
    advisory *a = advisory_new(id);
    if (cvss)
        advisory_rate(a, cvss, strlen(cvss));
    if (read_kind(table, a, why) && each_text(table, "aliases", add_alias, a, why))
        return a;
    advisory_free(a);
    return NULL;
}

static bool
read_table(const seine_json *all, const char *name, const char *version,
           advisory **out_advisory, reason *why)
{
    reason note = {""};
    bool is_affected = false;
    advisory *a = read_advisory(all, name, why);

    if (!a)
        return false;
    if (!read_versions(all, version, a, &is_affected, &note, why)) {
        advisory_free(a);
        return false;
    }
    if (!is_affected || seine_json_get(seine_json_get(all, "advisory"), "withdrawn")) {
        advisory_free(a);
        a = NULL;
    }
    *why = note;
    *out_advisory = a;
    return true;
}

bool
advisory_read(const char *text, size_t len, const char *name, const char *version,
              advisory **out_advisory, reason *why)
{
    front_matter front;
    seine_diag diag = SEINE_DIAG;
    seine_json *all = NULL;

    *why = (reason){""};
    if (!find_front_matter(text, len, &front))
        return reason_set(why, "it does not begin with ```toml … ```");
    seine_err e = seine_toml_parse(front.toml, front.len, &all, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK)
        return reason_set(why, "line %llu: %s", (unsigned long long)diag.line,
                          diag.text[0] ? diag.text : seine_err_text(e));
    bool is_fine = read_table(all, name, version, out_advisory, why);
    if (is_fine && *out_advisory)
        (*out_advisory)->title = find_title(front.rest, front.rest_len);
    seine_json_free(all);
    return is_fine;
}
