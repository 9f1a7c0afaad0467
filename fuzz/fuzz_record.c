/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of any bytes, parted by the byte 0xfe: the JSON line parses and says what was
 * given, and the row of CSV, read by another reader, too. The first byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "seine/plumbing.h"
#include "seine/record.h"
#include "store/text_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { FIELDS = 16 };

/* Text as it may stand in an output: bad bytes are U+FFFD. By RFC 3629's table. */
static size_t
well_formed(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char first, last, low, high;
        size_t len;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last || forms[i].len > n)
            continue;
        if (forms[i].len > 1 && (p[1] < forms[i].low || p[1] > forms[i].high))
            return 0;
        for (size_t k = 2; k < forms[i].len; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].len;
    }
    return 0;
}

static char *
mended(seine_view v, size_t *out_n)
{
    char *out = malloc(3 * v.len + 1);
    size_t n = 0;

    REQUIRE(out);
    for (size_t i = 0; i < v.len;) {
        size_t len = well_formed((const unsigned char *)v.ptr + i, v.len - i);

        memcpy(out + n, len ? v.ptr + i : "\xef\xbf\xbd", len ? len : 3);
        n += len ? len : 3;
        i += len ? len : 1;
    }
    *out_n = n;
    return out;
}

static void
check_string(const seine_json *value, seine_view want)
{
    const char *got;
    size_t got_n, n;

    if (!want.ptr) {
        REQUIRE(!value);
        return;
    }
    char *text = mended(want, &n);
    REQUIRE(seine_json_string(value, &got, &got_n));
    REQUIRE(got_n == n && memcmp(got, text, n) == 0);
    free(text);
}

/* Valid UTF-8 without what moves a cursor, on one line. */
static void
check_inert(const char *line, size_t n)
{
    REQUIRE(n > 0 && line[n - 1] == '\n');
    for (size_t i = 0; i + 1 < n;) {
        const unsigned char *p = (const unsigned char *)line + i;
        size_t len = well_formed(p, n - i);

        REQUIRE(len > 0 && *p >= 0x20 && *p != 0x7f);
        REQUIRE(!(*p == 0xc2 && p[1] < 0xa0));
        REQUIRE(!(*p == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)));
        i += len;
    }
}

static void
check_json(const seine_record *r, seine_body_form form)
{
    seine_members all = {UINT64_MAX};
    size_t n = seine_record_json(r, 7, &all, form, NULL, 0);
    char *line = malloc(n);
    seine_json *json = NULL;

    REQUIRE(line);
    REQUIRE(seine_record_json(r, 7, &all, form, line, n) == n);
    check_inert(line, n);
    REQUIRE(seine_json_parse(line, n - 1, &json, NULL) == SEINE_OK);
    check_string(seine_json_get(json, "url"), r->url);
    check_string(seine_json_get(json, "input"), r->input);
    check_string(seine_json_get(json, "id"), r->id);
    if (r->type == SEINE_RECORD_SKIP) {
        check_string(seine_json_get(json, "rule"), r->rule);
    } else {
        check_string(seine_json_get(json, "title"), r->title);
        check_string(seine_json_get(json, "final_url"), r->final_url);
        check_string(seine_json_get(json, "content_type"), r->content_type);
        if (form == SEINE_BODY_TEXT)
            check_string(seine_json_get(json, "body"), r->body);
        if (r->fate != SEINE_FATE_OK && r->message.ptr)
            check_string(seine_json_get(seine_json_get(json, "error"), "message"),
                         r->message);
        REQUIRE((r->fields != NULL) == (seine_json_get(json, "headers") != NULL));
        for (size_t i = 0; i < r->n_hops; i++)
            check_string(seine_json_get(
                             seine_json_at(seine_json_get(json, "redirects"), i), "url"),
                         r->hops[i].url);
    }
    const seine_json *tags = seine_json_get(json, "tags");
    REQUIRE(!tags || seine_json_type_of(tags) == SEINE_JSON_OBJECT);
    seine_json *given = NULL;
    if (r->tags.ptr &&
        seine_json_parse(r->tags.ptr, r->tags.len, &given, NULL) == SEINE_OK &&
        seine_json_type_of(given) == SEINE_JSON_OBJECT) {
        seine_text a = {0}, b = {0};

        REQUIRE(seine_json_print(given, &a) == SEINE_OK);
        REQUIRE(tags && seine_json_print(tags, &b) == SEINE_OK);
        REQUIRE(a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0);
        seine_text_free(&a);
        seine_text_free(&b);
    }
    seine_json_free(given);
    seine_json_free(json);
    free(line);
}

/* The next cell by RFC 4180; *out_last: its row ends with it. */
static size_t
read_cell(const char *p, const char *end, char *out, size_t *out_n, bool *out_last)
{
    const char *from = p;
    size_t n = 0;

    if (p < end && *p == '"') {
        for (p++;; p++) {
            REQUIRE(p < end);
            if (*p == '"' && p[1] != '"')
                break;
            p += *p == '"';
            out[n++] = *p;
        }
        p++;
    } else {
        while (p < end && *p != ',' && *p != '\n' && *p != '\r') {
            REQUIRE(*p != '"');
            out[n++] = *p++;
        }
    }
    REQUIRE(p < end);
    *out_last = *p != ',';
    if (*p == '\r')
        p++;
    REQUIRE(*p == ',' || *p == '\n');
    *out_n = n;
    return (size_t)(p + 1 - from);
}

static size_t
quotes_at(const char *p, size_t n)
{
    size_t run = 0;

    while (run < n && p[run] == '\'')
        run++;
    return run;
}

/* Where a spreadsheet may see a cell begin, in front and behind other separators, the row
 * has one ' more than the text, or none more and no sign follows. */
static void
check_cell(const char *got, size_t got_n, seine_view want, bool raw)
{
    size_t n, i = 0, k = 0;
    char *text = mended(want, &n);

    while (k < n || i < got_n) {
        bool begins = k == 0 || strchr(";\t\n\r", text[k - 1]) != NULL;

        if (!raw && begins && (k == 0 || text[k - 1] != '\0')) {
            size_t run = quotes_at(text + k, n - k), has = quotes_at(got + i, got_n - i);
            char next = k + run < n ? text[k + run] : 'x';

            REQUIRE(has == run + 1 ||
                    (has == run && (!strchr("=+@\t\r", next) || !next)));
            i += has;
            k += run;
            if (k == n)
                break;
        }
        REQUIRE(k < n && i < got_n && got[i++] == text[k++]);
    }
    REQUIRE(k == n && i == got_n);
    free(text);
}

static void
check_csv(const seine_record *r, unsigned how)
{
    static const int columns = 15;
    seine_view want[15] = {0};
    size_t n = seine_record_csv(r, 7, NULL, how, NULL, 0), at = 0, len;
    char *row = malloc(n + 1), *cell = malloc(n + 1);
    bool last = false;

    REQUIRE(row && cell);
    REQUIRE(seine_record_csv(r, 7, NULL, how, row, n) == n);
    want[2] = r->input;
    want[3] = r->url;
    if (r->type == SEINE_RECORD_RESULT) {
        want[4] = r->final_url;
        want[8] = r->content_type;
        want[12] = r->title;
    } else {
        want[14] = r->rule;
    }
    for (int i = 0; i < columns; i++) {
        REQUIRE(!last);
        at += read_cell(row + at, row + n, cell, &len, &last);
        if (i == 2 || i == 3 || i == 4 || i == 8 || i == 12 ||
            (i == 14 && r->type == SEINE_RECORD_SKIP))
            check_cell(cell, len, want[i], how & SEINE_CSV_RAW);
    }
    REQUIRE(last && at == n);
    free(row);
    free(cell);
}

/* The parser takes no zero in a name and no name twice: names are ASCII, as those of
 * fields are. */
static seine_view
as_name(seine_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (v.ptr[i] <= 0)
            return (seine_view){"x", 1};
    return v.ptr ? v : (seine_view){"", 0};
}

/* Tags that are JSON but not for the parser: a name twice, a number beyond 64 bits. */
static bool
is_beyond_parser(seine_view tags)
{
    char *copy = malloc(6 * tags.len + 1);
    sn_text_writer p = sn_text_writer_on(copy, 6 * tags.len + 1);
    seine_json *json = NULL;
    bool valid = sn_text_writer_object(&p, tags);
    bool parsed = seine_json_parse(tags.ptr, tags.len, &json, NULL) == SEINE_OK;

    REQUIRE(copy && p.lost == 0);
    seine_json_free(json);
    free(copy);
    return valid && !parsed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    seine_view f[FIELDS] = {{NULL, 0}};
    seine_fault fault = SEINE_FAULT;
    uint8_t choice = n > 0 ? bytes[0] : 0;

    for (size_t at = 1, k = 0; at < n && k < FIELDS; k++) {
        const uint8_t *end = memchr(bytes + at, 0xfe, n - at);
        size_t len = end ? (size_t)(end - bytes) - at : n - at;

        f[k] = (seine_view){(const char *)bytes + at, len};
        at += len + 1;
    }
    seine_hop hops[] = {{f[8].ptr ? f[8] : (seine_view){"", 0}, 301}};
    seine_field fields[] = {{as_name(f[9]), f[10].ptr ? f[10] : (seine_view){"", 0}},
                            {as_name(f[11]), {"", 0}}};
    if (f[3].ptr && is_beyond_parser(f[3]))
        f[3] = (seine_view){NULL, 0};
    seine_record r = {
        .type = choice & 1 ? SEINE_RECORD_SKIP : SEINE_RECORD_RESULT,
        .fate = choice & 2 ? SEINE_FATE_TIMEOUT : SEINE_FATE_OK,
        .fault = &fault,
        .input = f[0],
        .url = f[1],
        .title = f[2],
        .tags = f[3],
        .id = f[4],
        .message = f[5],
        .final_url = f[6],
        .content_type = f[7],
        .rule = f[5],
        .body = f[12],
        .hops = hops,
        .n_hops = choice >> 2 & 1,
        .fields = choice & 8 ? fields : NULL,
        .n_fields = choice & 8 ? 2 : 0,
        .wall = (int64_t)n * INT64_C(1234567890123457),
        .total = (int64_t)n,
        .content_length = -1,
    };
    fault.code = choice & 2 ? SEINE_E_STALLED : SEINE_OK;
    check_json(&r, choice & 16 ? SEINE_BODY_TEXT : SEINE_BODY_B64);
    check_csv(&r, choice >> 5 & (SEINE_CSV_RAW | SEINE_CSV_CRLF));
    return 0;
}
