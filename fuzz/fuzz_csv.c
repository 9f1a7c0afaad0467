/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as CSV. The first chooses the limits, the second the size of the pieces:
 * rows and flaws are those of the bytes at once, stay within the limits, and, written
 * again, read as the same rows. */
#include <stdlib.h>
#include <string.h>

#include "store/csv.h"
#include "store/csv_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* A print of everything a reader says. */
typedef struct print {
    uint64_t hash, rows, flaws;
} print;

static void
mix(print *p, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        p->hash = (p->hash ^ at[i]) * UINT64_C(1099511628211);
    p->hash = (p->hash ^ n) * UINT64_C(1099511628211);
}

/* Valid UTF-8, as a writer makes it. */
static void
mended(sn_buf *b, sn_str s)
{
    uint32_t c;

    for (size_t i = 0; i < s.len;) {
        size_t n = sn_utf8_decode((sn_str){s.ptr + i, s.len - i}, &c);

        sn_buf_add(b, n ? s.ptr + i : "\xef\xbf\xbd", n ? n : 3);
        i += n ? n : 1;
    }
}

static void
check_again(const sn_csv_reader *r, unsigned how)
{
    static char text[1 << 20];
    sn_text_writer p = sn_text_writer_on(text, sizeof text);
    sn_csv_reader other;
    sn_buf b, plain;

    for (size_t i = 0; i < r->n; i++) {
        if (i > 0)
            SN_WRITE(&p, ",");
        sn_csv_cell(&p, r->cells[i], how);
    }
    SN_WRITE(&p, "\n");
    if (p.lost > 0)
        return;
    sn_csv_reader_init(&other, NULL);
    sn_buf_init(&b, SIZE_MAX / 2);
    sn_buf_init(&plain, SIZE_MAX / 2);
    sn_str in = {text, sn_text_writer_len(&p)};
    /* A mark at the start of a text is not a character of it. */
    if (in.len >= 3 && memcmp(in.ptr, "\xef\xbb\xbf", 3) == 0)
        goto out;
    REQUIRE(sn_csv_next(&other, &in, true) == SN_CSV_ROW);
    REQUIRE(other.n == r->n && !other.flaw);
    for (size_t i = 0; i < r->n; i++) {
        sn_str cell = how ? other.cells[i] : sn_csv_unguard(other.cells[i], &plain);

        sn_buf_reset(&b);
        mended(&b, r->cells[i]);
        REQUIRE(sn_str_eq(cell, sn_buf_view(&b)));
    }
    REQUIRE(sn_csv_next(&other, &in, true) == SN_CSV_END);
out:
    sn_csv_reader_fini(&other);
    sn_buf_fini(&b);
    sn_buf_fini(&plain);
}

static void
check_row(const sn_csv_reader *r, const sn_csv_limits *limits, print *p)
{
    size_t sum = 0;
    bool cut = r->flaw != SN_CSV_FINE;

    REQUIRE(r->n >= 1 && r->n <= limits->columns && r->line > 0);
    for (size_t i = 0; i < r->n; i++) {
        REQUIRE(r->cells[i].len <= limits->cell);
        sum += r->cells[i].len;
        if (!cut) /* what is kept of a row that is marred depends on the pieces */
            mix(p, r->cells[i].ptr, r->cells[i].len);
    }
    REQUIRE(sum <= limits->row);
    REQUIRE(!r->flaw || (r->flaw_line >= r->line && r->flaw_column > 0));
    mix(p, &r->line, sizeof r->line);
    mix(p, &(int){(int)r->flaw}, sizeof(int));
    mix(p, &(int){r->is_blank}, sizeof(int));
    if (r->flaw) {
        mix(p, &r->flaw_line, sizeof r->flaw_line);
        mix(p, &r->flaw_column, sizeof r->flaw_column);
    }
    p->rows++;
    p->flaws += r->flaw != SN_CSV_FINE;
}

static print
read_all(sn_str text, size_t piece, const sn_csv_limits *limits, bool write)
{
    print p = {0, 0, 0};
    sn_csv_event event = SN_CSV_MORE;
    sn_csv_reader r;

    sn_csv_reader_init(&r, limits);
    for (size_t at = 0; event != SN_CSV_END;) {
        size_t n = text.len - at < piece ? text.len - at : piece;
        char *part = malloc(n + 1); /* its end is where a sanitizer looks */
        sn_str in = {part, n};

        REQUIRE(part);
        if (n > 0)
            memcpy(part, text.ptr + at, n);
        at += n;
        while ((event = sn_csv_next(&r, &in, at == text.len)) == SN_CSV_ROW) {
            check_row(&r, limits, &p);
            if (write && !r.flaw)
                check_again(&r, p.rows & 1);
        }
        REQUIRE(event != SN_CSV_NOMEM && in.len == 0);
        free(part);
    }
    sn_csv_reader_fini(&r);
    return p;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const sn_csv_limits some[] = {
        SN_CSV_LIMITS, {8, 64, 10000}, {100, 16, 10000}, {100, 100, 3}};
    const sn_csv_limits *limits = &some[n > 0 ? bytes[0] % 4 : 0];
    sn_str text = {(const char *)bytes + (n > 1 ? 2 : n), n > 1 ? n - 2 : 0};
    print whole = read_all(text, SIZE_MAX, limits, true);
    print parts = read_all(text, n > 1 ? 1 + bytes[1] % 16 : 1, limits, false);

    REQUIRE(whole.rows == parts.rows && whole.flaws == parts.flaws);
    REQUIRE(whole.hash == parts.hash);
    return 0;
}
