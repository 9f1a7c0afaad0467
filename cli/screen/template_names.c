/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/template_names.h"

#include <stdio.h>
#include <string.h>

#include "options/suggest.h"

/* Members of records (docs/user/record.md). A name that ends in a dot has members of its
 * own that nobody can list: headers, tags and data. */
static const char *const names[] = {"v",
                                    "type",
                                    "job",
                                    "seq",
                                    "ts",
                                    "input",
                                    "line",
                                    "id",
                                    "tags",
                                    "tags.",
                                    "url",
                                    "key",
                                    "final_url",
                                    "redirects",
                                    "method",
                                    "host",
                                    "ip",
                                    "http",
                                    "depth",
                                    "parent",
                                    "via",
                                    "via.tag",
                                    "via.attr",
                                    "via.text",
                                    "via.line",
                                    "referrers",
                                    "referrers.count",
                                    "referrers.pages",
                                    "outcome",
                                    "ok",
                                    "change",
                                    "status",
                                    "error",
                                    "error.kind",
                                    "error.message",
                                    "error.phase",
                                    "error.retryable",
                                    "error.hint",
                                    "error.timeout_ms",
                                    "attempts",
                                    "tries",
                                    "headers",
                                    "headers.",
                                    "content_type",
                                    "charset",
                                    "charset_from",
                                    "charset_errors",
                                    "content_length",
                                    "bytes_in",
                                    "bytes_body",
                                    "partial",
                                    "notes",
                                    "time",
                                    "time.queue",
                                    "time.throttle",
                                    "time.backoff",
                                    "time.retry_budget",
                                    "time.dns",
                                    "time.connect",
                                    "time.tls",
                                    "time.ttfb",
                                    "time.body",
                                    "time.total",
                                    "tls",
                                    "tls.version",
                                    "tls.verified",
                                    "tls.not_after",
                                    "title",
                                    "lang",
                                    "canonical",
                                    "meta_robots",
                                    "links",
                                    "extract",
                                    "extract.error",
                                    "extract.error.kind",
                                    "sha256",
                                    "data",
                                    "data.",
                                    "body",
                                    "body_b64",
                                    "body_file",
                                    "warc",
                                    "warc.file",
                                    "warc.offset",
                                    "warc.length",
                                    "warc.id",
                                    "reason",
                                    "rule"};

/* Names of curl's --write-out, and others that people expect. */
static const struct {
    const char *theirs, *ours;
} foreign_names[] = {
    {"http_code", "status"},
    {"response_code", "status"},
    {"code", "status"},
    {"status_code", "status"},
    {"url_effective", "final_url"},
    {"remote_ip", "ip"},
    {"http_version", "http"},
    {"size_download", "bytes_in"},
    {"size", "bytes_body"},
    {"bytes", "bytes_body"},
    {"num_redirects", "redirects"},
    {"redirect_url", "final_url"},
    {"time_total", "time.total"},
    {"time_namelookup", "time.dns"},
    {"time_connect", "time.connect"},
    {"time_appconnect", "time.tls"},
    {"time_starttransfer", "time.ttfb"},
    {"errormsg", "error.message"},
    {"exitcode", "outcome"},
    {"method_effective", "method"},
    {"filename_effective", "body_file"},
    {"mime", "content_type"},
    {"referrer", "parent"},
    {"referer", "parent"},
};

bool
template_names_has(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);

        if (len == n && memcmp(names[i], name, n) == 0)
            return true;
        if (names[i][len - 1] == '.' && n > len && memcmp(names[i], name, len) == 0)
            return true;
    }
    return false;
}

const char *
template_names_check(const char *text, size_t len, size_t *out_n)
{
    for (const char *p = text, *end = text + len; p < end; p++) {
        if (*p != '%' || p + 1 >= end)
            continue;
        if (p[1] != '{') { /* "%%" */
            p++;
            continue;
        }
        const char *close = memchr(p, '}', (size_t)(end - p));
        size_t n = close ? (size_t)(close - p) - 2 : 0;

        if (!close)
            return NULL;
        if (!template_names_has(p + 2, n)) {
            *out_n = n;
            return p + 2;
        }
        p = close;
    }
    return NULL;
}

const char *
template_names_near(const char *name, size_t n)
{
    const char *best = NULL;
    char word[64];
    unsigned slip = 3;

    snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), name);
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (strcmp(foreign_names[i].theirs, word) == 0)
            return foreign_names[i].ours;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][strlen(names[i]) - 1] != '.')
            suggest_nearer(word, names[i], &slip, &best);
    return best;
}
