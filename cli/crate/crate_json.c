/* SPDX-License-Identifier: Apache-2.0 */
/* One JSON object per line, members in a fixed order; what is absent is null. */
#include <stdlib.h>
#include <string.h>

#include <seine/calendar.h>

#include "crate/crate.h"
#include "screen/out.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

static void
put_bytes(textbuf *b, const char *bytes, size_t len)
{
    size_t n = seine_json_quote(bytes, len, NULL, 0);
    char *quoted = xalloc_zeroed(n + 1, 1);

    seine_json_quote(bytes, len, quoted, n + 1);
    textbuf_add(b, quoted, n);
    free(quoted);
}

static void
put_text(textbuf *b, const char *text)
{
    if (text)
        put_bytes(b, text, strlen(text));
    else
        textbuf_put(b, "null");
}

static void
put_member(textbuf *b, const char *name, const char *text)
{
    textbuf_put(b, ",\"%s\":", name);
    put_text(b, text);
}

static void
put_hundredths(textbuf *b, const char *name, unsigned n)
{
    textbuf_put(b, ",\"%s\":%u.%02u", name, n / 100, n % 100);
}

/* An element of a list of words: a text, or the object of a keyword or category. */
static bool
word_of(const seine_json *one, const char **out, size_t *out_len)
{
    static const char *const names[] = {"keyword", "slug", "id"};
    bool is_text = seine_json_string(one, out, out_len);

    for (size_t i = 0; !is_text && i < sizeof names / sizeof *names; i++)
        is_text = seine_json_string(seine_json_get(one, names[i]), out, out_len);
    return is_text;
}

static void
put_words(textbuf *b, const seine_json *list)
{
    const char *text, *comma = "";
    size_t n;

    textbuf_put(b, "[");
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (word_of(seine_json_at(list, i), &text, &n)) {
            textbuf_put(b, "%s", comma);
            put_bytes(b, text, n);
            comma = ",";
        }
    textbuf_put(b, "]");
}

static void
put_texts(textbuf *b, char *const *all, size_t from, size_t count)
{
    textbuf_put(b, "[");
    for (size_t i = from; i < count; i++) {
        textbuf_put(b, i > from ? "," : "");
        put_text(b, all[i]);
    }
    textbuf_put(b, "]");
}

static void
put_dependencies(textbuf *b, const char *name, const crate_facts *f, dep_kind wanted)
{
    const char *comma = "";

    textbuf_put(b, ",\"%s\":[", name);
    for (size_t i = 0; i < f->n_deps; i++) {
        const crate_dep *d = &f->deps[i];

        if (d->kind != wanted)
            continue;
        textbuf_put(b, "%s{\"name\":", comma);
        put_text(b, d->name);
        put_member(b, "version", d->req);
        textbuf_put(b, ",\"features\":");
        put_words(b, d->features);
        textbuf_put(b, "}");
        comma = ",";
    }
    textbuf_put(b, "]");
}

static void
put_advisory(textbuf *b, const advisory *a)
{
    bool is_rated = (a->kinds & ADVISORY_VULNERABILITY) != 0;

    textbuf_put(b, "{\"id\":");
    put_text(b, a->ids[0]);
    textbuf_put(b, ",\"aliases\":");
    put_texts(b, a->ids, 1, a->n_ids);
    put_member(b, "kind", advisory_kind(a));
    put_member(b, "severity", is_rated ? seine_severity_name(a->severity) : NULL);
    if (a->tenths >= 0)
        textbuf_put(b, ",\"score\":%d.%d", a->tenths / 10, a->tenths % 10);
    else
        textbuf_put(b, ",\"score\":null");
    put_member(b, "cvss", a->cvss);
    put_member(b, "title", a->title);
    textbuf_put(b, ",\"patched\":");
    put_texts(b, a->patched, 0, a->n_patched);
    textbuf_put(b, "}");
}

/* Without a source that answered nothing is known, and nothing is claimed. */
static void
put_audit(textbuf *b, const crate_run *r, const crate_report *c)
{
    const crate_judgement *j = &c->judged;
    seine_date d = seine_calendar_date(r->clock);
    const char *comma = "";

    textbuf_put(b, ",\"security_audit\":{");
    if (j->is_audited)
        textbuf_put(b,
                    "\"vulnerabilities\":%zu,\"last_audit\":\"%04d-%02d-%02dT%02d:%02d:"
                    "%02dZ\"",
                    j->security.vulnerabilities, d.year, d.month, d.day, d.hour, d.minute,
                    d.second);
    else
        textbuf_put(b, "\"vulnerabilities\":null,\"last_audit\":null");
    if (j->is_audited)
        put_hundredths(b, "security_score", j->security.hundredths);
    else
        textbuf_put(b, ",\"security_score\":null");
    textbuf_put(b, ",\"advisories\":[");
    for (size_t i = 0; i < c->advisories.count; i++)
        if (advisory_is_listed(c->advisories.items[i])) {
            textbuf_put(b, "%s", comma);
            put_advisory(b, c->advisories.items[i]);
            comma = ",";
        }
    textbuf_put(b, "]}");
}

static void
put_facts(textbuf *b, const crate_facts *f)
{
    textbuf_put(b, ",\"downloads\":%llu,\"recent_downloads\":%llu",
                (unsigned long long)f->downloads, (unsigned long long)f->recent);
    put_member(b, "documentation", f->documentation);
    put_member(b, "repository", f->repository);
    put_member(b, "homepage", f->homepage);
    put_member(b, "license", f->license);
    textbuf_put(b, ",\"keywords\":");
    put_words(b, f->keywords);
    textbuf_put(b, ",\"categories\":");
    put_words(b, f->categories);
    put_dependencies(b, "dependencies", f, DEP_NORMAL);
    put_dependencies(b, "dev_dependencies", f, DEP_DEV);
}

static void
put_parts(textbuf *b, const crate_judgement *j)
{
    static const char *const names[SCORE_PARTS] = {
        "downloads", "documentation", "repository", "license", "keywords", "recent"};

    textbuf_put(b, ",\"quality_parts\":{");
    for (int i = 0; i < SCORE_PARTS; i++)
        textbuf_put(b, "%s\"%s\":%u.%02u", i ? "," : "", names[i], j->parts[i] / 100,
                    j->parts[i] % 100);
    textbuf_put(b, "}");
}

void
crate_print_json(const crate_run *r, const crate_report *c)
{
    const crate_judgement *j = &c->judged;
    textbuf b = {0};
    bool has_status = j->status_reason[0] != '\0';

    textbuf_put(&b, "{\"name\":");
    put_text(&b, c->facts.name);
    put_member(&b, "version", c->facts.num);
    if (!r->is_audit) {
        put_facts(&b, &c->facts);
        put_hundredths(&b, "quality_score", j->quality);
    }
    put_audit(&b, r, c);
    put_member(&b, "maintenance_status",
               has_status ? crate_status_name(j->status) : NULL);
    if (!r->is_audit)
        put_dependencies(&b, "build_dependencies", &c->facts, DEP_BUILD);
    put_member(&b, "maintenance_reason", has_status ? j->status_reason : NULL);
    put_member(&b, "recommendation", crate_verdict_name(j->verdict));
    textbuf_put(&b, ",\"reasons\":");
    put_texts(&b, j->reasons, 0, j->n_reasons);
    if (r->is_audit)
        put_member(&b, "file", c->file);
    else if (r->set->verbose)
        put_parts(&b, j);
    textbuf_put(&b, "}\n");
    out_bytes(b.text, b.len);
    textbuf_free(&b);
}
