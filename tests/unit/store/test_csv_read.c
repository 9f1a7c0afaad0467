/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv_read.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "store/csv.h"

/* Rows as one text: cells in [], "!name line:column" for a flaw, a newline a row. */
typedef struct told {
    char text[8192];
    size_t n;
} told;

static void
tell(told *to, const char *bytes, size_t n)
{
    if (to->n + n < sizeof to->text) {
        memcpy(to->text + to->n, bytes, n);
        to->n += n;
    }
    to->text[to->n] = '\0';
}

static void
tell_row(told *to, const sn_csv_reader *r)
{
    char place[64];

    for (size_t i = 0; i < r->n; i++) {
        tell(to, "[", 1);
        tell(to, r->cells[i].ptr, r->cells[i].len);
        tell(to, "]", 1);
    }
    if (r->is_blank)
        tell(to, "-", 1);
    if (r->flaw)
        tell(to, place,
             (size_t)snprintf(place, sizeof place, "!%d %llu:%llu", r->flaw,
                              (unsigned long long)r->flaw_line,
                              (unsigned long long)r->flaw_column));
    tell(to, "\n", 1);
}

/* All of the text, in pieces of `piece` bytes. */
static told
read_all(sn_str text, size_t piece, const sn_csv_limits *limits)
{
    sn_csv_reader r;
    sn_csv_event event = SN_CSV_MORE;
    told to = {"", 0};
    uint64_t line = 0;

    sn_csv_reader_init(&r, limits);
    for (size_t at = 0; event != SN_CSV_END;) {
        size_t n = text.len - at < piece ? text.len - at : piece;
        sn_str in = {text.ptr + at, n};

        at += n;
        while ((event = sn_csv_next(&r, &in, at == text.len)) == SN_CSV_ROW) {
            CHECK(r.line > line);
            line = r.line;
            tell_row(&to, &r);
        }
        CHECK(in.len == 0);
    }
    sn_csv_reader_fini(&r);
    return to;
}

TEST(csv_read_takes_rows_apart)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"a", "[a]\n"},
        {"a,b\n1,2\n", "[a][b]\n[1][2]\n"},
        {"a,b\r\n1,2\r\n", "[a][b]\n[1][2]\n"},
        {"a,b\r1,2\r", "[a][b]\n[1][2]\n"}, /* CR alone */
        {"a,b\n1,2", "[a][b]\n[1][2]\n"},   /* the last row may lack its end */
        {"a,\n,b\n,\n", "[a][]\n[][b]\n[][]\n"},
        {"\n\na\n", "[]-\n[]-\n[a]\n"}, /* blank lines are told, not hidden */
        {"\r\n\r\na", "[]-\n[]-\n[a]\n"},
        {"\"\"\n", "[]\n"}, /* an empty cell in quotes is no blank line */
        {"\"a,b\",\"c\"\"d\"\n", "[a,b][c\"d]\n"},
        {"\"a\nb\",\"c\r\nd\"\n", "[a\nb][c\r\nd]\n"},
        {"a\"b,c\"\n", "[a\"b][c\"]\n"}, /* quotes within a plain cell are text */
        {" \"a\" ,b\n", "[ \"a\" ][b]\n"},
        {"\"\"\"\"\n", "[\"]\n"},
        {"\xef\xbb\xbf\"a\",b\n", "[a][b]\n"}, /* a byte order mark */
        {"\xef\xbbz,b\n", "[\xef\xbbz][b]\n"}, /* the beginning of one */
        {"\xef", "[\xef]\n"},
        {"a,\xef\xbb\xbf\n", "[a][\xef\xbb\xbf]\n"}, /* not at the start */
        {"\"a\"x,b\nc\n", "[ax][b]!1 1:4\n[c]\n"},   /* text behind a quote */
        {"a\n\"b\"\"\"x\"y\"\n", "[a]\n[b\"x\"y\"]!1 2:6\n"},
        {"a,b\nc,\"d\ne", "[a][b]\n[c][d\ne]!2 2:3\n"}, /* never closed */
        {"a\r\n\"b\r\nc\"x\n", "[a]\n[b\r\ncx]!1 3:3\n"},
        {"a\rb\n\rc\"\n", "[a]\n[b]\n[]-\n[c\"]\n"},
    };

    EACH_ROW(i, rows)
        for (size_t piece = 1; piece < 20; piece++) {
            told to = read_all(sn_str_of(rows[i].in), piece, NULL);

            CHECK_STR(to.text, rows[i].out);
        }
}

TEST(csv_read_bounds_cells_rows_and_columns)
{
    static const sn_csv_limits limits = {4, 8, 3};
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"abcd,efgh\nx\n", "[abcd][efgh]\n[x]\n"},
        {"a,bcdef,g\nx\n", "[a][][]!3 1:3\n[x]\n"}, /* what is over is not kept */
        {"abcd,efgh,i\nx\n", "[abcd][efgh][]!4 1:11\n[x]\n"},
        {"a,b,c\nx\n", "[a][b][c]\n[x]\n"},
        {"a,b,c,d,e\nx\n", "[a][b][c]!5 1:8\n[x]\n"},
        {"a,b,c,d\nx\n", "[a][b][c]!5 1:8\n[x]\n"}, /* the last cell is one too many */
        {"a,b,c,d", "[a][b][c]!5 1:8\n"},
        {"abcde\nx\n", "[]!3 1:1\n[x]\n"}, /* what was not kept is not blank */
        {"\xef\xbf\xbdyy\nx\n", "[\xef]!3 1:1\n[x]\n"}, /* begins like a mark */
        {"a,\"bc\nef\ng\",h\nx\n", "[a][][]!3 1:3\n[x]\n"},
    };

    EACH_ROW(i, rows) {
        told to = read_all(sn_str_of(rows[i].in), SIZE_MAX, &limits);

        CHECK_STR(to.text, rows[i].out);
    }
    /* in pieces the flaw and its place are the same, what was kept may differ */
    EACH_ROW(i, rows)
        for (size_t piece = 1; piece < 6; piece++) {
            told to = read_all(sn_str_of(rows[i].in), piece, &limits);
            const char *got = strchr(to.text, '!'), *want = strchr(rows[i].out, '!');

            CHECK_STR(got ? got : "", want ? want : "");
        }
}

TEST(csv_read_flaws_have_words)
{
    for (int f = SN_CSV_FINE; f <= SN_CSV_MANY_COLUMNS; f++)
        CHECK(strlen(sn_csv_flaw_text((sn_csv_flaw)f)) > 3);
}

/* A text of letters that matter. */
static sn_str
some(sn_rng *rng, char *mem, size_t most)
{
    static const char letters[] = "ab,;\"\r\n '=+-@1.\t\xc3\xa9";
    size_t n = sn_rng_below(rng, most);

    for (size_t i = 0; i < n; i++)
        mem[i] = letters[sn_rng_below(rng, sizeof letters - 1)];
    return (sn_str){mem, n};
}

/* P11: what the writer writes reads back equal, guard and all. */
TEST(csv_read_gives_back_what_the_writer_wrote)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20000; round++) {
        char mem[4][16], text[512];
        sn_str cells[4];
        size_t n = 1 + sn_rng_below(&rng, 4);
        unsigned how = (unsigned)sn_rng_below(&rng, 2); /* SEINE_CSV_RAW or not */
        sn_text_writer p = sn_text_writer_on(text, sizeof text);
        sn_csv_reader r;
        sn_buf room;

        sn_buf_init(&room, sizeof text);
        for (size_t i = 0; i < n; i++) {
            cells[i] = some(&rng, mem[i], 10);
            if (!sn_utf8_valid(cells[i]))
                cells[i] = SN_STR("''=1");
            if (i > 0)
                SN_WRITE(&p, ",");
            sn_csv_cell(&p, cells[i], how);
        }
        SN_WRITE(&p, "\n");
        sn_csv_reader_init(&r, NULL);
        sn_str in = {text, sn_text_writer_len(&p)};
        CHECK_EQ(sn_csv_next(&r, &in, true), SN_CSV_ROW);
        CHECK_EQ(r.n, n);
        CHECK_EQ(r.flaw, SN_CSV_FINE);
        CHECK_EQ(in.len, 0);
        for (size_t i = 0; i < n && i < r.n; i++)
            CHECK(sn_str_eq(how ? r.cells[i] : sn_csv_unguard(r.cells[i], &room),
                            cells[i]));
        CHECK_EQ(sn_csv_next(&r, &in, true), SN_CSV_END);
        CHECK_EQ(sn_csv_next(&r, &in, true), SN_CSV_END);
        sn_csv_reader_fini(&r);
        sn_buf_fini(&room);
    }
}

/* A second reader, of a whole text without flaws, byte by byte. */
static told
model(sn_str s)
{
    told to = {"", 0};
    size_t i = 0;

    while (i < s.len) {
        size_t from = i;
        bool more = true;

        while (more) {
            tell(&to, "[", 1);
            if (i < s.len && s.ptr[i] == '"') {
                for (i++; i < s.len; i++) {
                    if (s.ptr[i] == '"' && (i + 1 == s.len || s.ptr[i + 1] != '"'))
                        break;
                    i += s.ptr[i] == '"';
                    tell(&to, s.ptr + i, 1);
                }
                i++;
            } else {
                for (; i < s.len && !strchr(",\r\n", s.ptr[i]); i++)
                    tell(&to, s.ptr + i, 1);
            }
            tell(&to, "]", 1);
            more = i < s.len && s.ptr[i] == ',';
            if (i == from && !more)
                tell(&to, "-", 1);
            i += more;
        }
        if (i + 1 < s.len && s.ptr[i] == '\r' && s.ptr[i + 1] == '\n')
            i++;
        i++;
        tell(&to, "\n", 1);
    }
    return to;
}

TEST(csv_read_agrees_with_a_second_reader_in_pieces_of_any_size)
{
    sn_rng rng = sn_rng_seed(check_seed());
    int compared = 0;

    for (int round = 0; round < 5000; round++) {
        char mem[48];
        sn_str text = some(&rng, mem, sizeof mem);
        told whole = read_all(text, SIZE_MAX, NULL), want = model(text);
        told parts = read_all(text, 1 + sn_rng_below(&rng, 5), NULL);

        CHECK_STR(parts.text, whole.text);
        if (strchr(whole.text, '!')) /* the other one knows no flaws */
            continue;
        CHECK_STR(whole.text, want.text);
        compared++;
    }
    CHECK(compared > 1000);
}

TEST(csv_read_says_when_memory_runs_out)
{
    FAIL_EACH(f)
    {
        sn_csv_reader r;
        char text[400];
        sn_csv_event event;

        memset(text, ',', sizeof text);
        memset(text + 200, 'x', 200);
        sn_csv_reader_init(&r, NULL);
        sn_str in = {text, sizeof text};
        event = sn_csv_next(&r, &in, true);
        CHECK(event == SN_CSV_ROW || event == SN_CSV_NOMEM);
        if (event == SN_CSV_ROW)
            CHECK_EQ(r.n, 201);
        sn_csv_reader_fini(&r);
    }
}
