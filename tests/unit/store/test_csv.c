/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/csv.h"
#include "store/csv.h"

#include "check.h"
#include "seine/record.h"

static const char *
cell(const char *in, size_t n, unsigned how)
{
    static char buf[512];
    sn_text_writer p = sn_text_writer_on(buf, sizeof buf - 1);

    sn_csv_cell(&p, (sn_str){in, n}, how);
    CHECK_EQ(p.lost, 0);
    *p.at = '\0';
    return buf;
}

TEST(csv_cell_is_written_as_far_as_there_is_room)
{
    char cell[16];

    memset(cell, '#', sizeof cell);
    CHECK_EQ(seine_csv_cell("=1,2", 4, 0, cell, sizeof cell), 7);
    CHECK(memcmp(cell, "\"'=1,2\"#", 8) == 0);
    CHECK_EQ(seine_csv_cell("=1,2", 4, SEINE_CSV_RAW, cell, 0), 6);
    CHECK_EQ(seine_csv_cell("abcdef", 6, 0, cell, 3), 6);
    CHECK(cell[3] == '1'); /* untouched */
    CHECK_EQ(seine_csv_cell("abc", 3, 0, NULL, 9), 3);
    CHECK_EQ(seine_csv_cell(NULL, 9, 0, cell, sizeof cell), 0);
}

TEST(csv_cell_has_quotes_where_rfc_4180_wants_them)
{
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"two words", "two words"},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"\"", "\"\"\"\""},
        {"a\nb", "\"a\nb\""},
        {"a\rb", "\"a\rb\""},
        {" a", "\" a\""}, /* some readers trim */
        {"a ", "\"a \""},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"bad \xff byte", "bad \xef\xbf\xbd byte"},
        {"\x1b[31m", "\x1b[31m"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(cell(rows[i].in, strlen(rows[i].in), 0), rows[i].want);
}

TEST(csv_cell_that_could_be_a_formula_gets_an_apostrophe)
{
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"=1+1", "'=1+1"},
        {"+1+1", "'+1+1"},
        {"-1+1", "'-1+1"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\t=1", "\"'\t'=1\""},
        {"\rx", "\"'\rx\""},
        {"\tx", "\"'\tx\""},
        {" =1", "\"' =1\""}, /* blanks in front are not seen */
        {"\n=1", "\"'\n'=1\""},
        {"\xc2\xa0=1", "'\xc2\xa0=1"},         /* no-break space */
        {"\xef\xbb\xbf=1", "'\xef\xbb\xbf=1"}, /* byte order mark */
        {"\xe2\x80\x8b=1", "'\xe2\x80\x8b=1"}, /* zero width */
        {"\xef\xbc\x9d"
         "1",
         "'\xef\xbc\x9d"
         "1"}, /* full width */
        {"\xef\xbc\x8b"
         "1",
         "'\xef\xbc\x8b"
         "1"},
        {"\xef\xbc\x8d"
         "1",
         "'\xef\xbc\x8d"
         "1"},
        {"\xef\xbc\xa0"
         "A",
         "'\xef\xbc\xa0"
         "A"},
        {"\xe2\x88\x92"
         "1",
         "'\xe2\x88\x92"
         "1"}, /* minus sign */
        {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
        {"=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""},
        {"-", "'-"},
        {"--", "'--"},
        {"-01", "'-01"}, /* no number of JSON */
        {"-1.", "'-1."},
        {"-1e", "'-1e"},
        {"-.5", "'-.5"},
        {"+1", "'+1"},
        /* exactly numbers of JSON, or no formula */
        {"-1", "-1"},
        {"-0", "-0"},
        {"-12.5", "-12.5"},
        {"-1e-5", "-1e-5"},
        {"-1E+5", "-1E+5"},
        {"-0.1", "-0.1"},
        {"a=1", "a=1"},
        {"1-1", "1-1"},
        {"'=1", "''=1"},              /* so that the guard can be undone */
        {"\xff=1", "\xef\xbf\xbd=1"}, /* the replacement is seen */
    };

    EACH_ROW(i, rows) {
        CHECK_STR(cell(rows[i].in, strlen(rows[i].in), 0), rows[i].want);
        if (rows[i].want[0] == '\'' && rows[i].in[0] != '\'')
            CHECK_STR(cell(rows[i].in, strlen(rows[i].in), SEINE_CSV_RAW),
                      rows[i].want + 1);
    }
}

/* To a spreadsheet that separates cells by semicolons or tabs, a quote within what it
 * takes for a cell is text, and so a line end ends the row. */
TEST(csv_cell_is_no_formula_for_readers_of_other_separators)
{
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"a;b", "\"a;b\""},
        {"a\tb", "\"a\tb\""},
        {"a;=1+1", "\"a;'=1+1\""},
        {"a\t@SUM(A1)", "\"a\t'@SUM(A1)\""},
        {"a; \xc2\xa0+1", "\"a;' \xc2\xa0+1\""}, /* blanks are not seen */
        {"a;;=1", "\"a;;'=1\""},
        {"a\n=1", "\"a\n'=1\""},
        {"a\r\n=1", "\"a\r\n'=1\""},
        {"a\r-1", "\"a\r'-1\""},
        {"a;-5", "\"a;'-5\""}, /* followed by the next cell it is no number */
        {"=1;=2", "\"'=1;'=2\""},
        {"-5;6", "\"'-5;6\""},
        {"a;'=1", "\"a;''=1\""}, /* so that the guard can be undone */
        {"a;'b", "\"a;'b\""},
        {"a;\xff=1", "\"a;\xef\xbf\xbd=1\""},
        {"a;\t=1", "\"a;'\t'=1\""},
        {"a;\"=1", "\"a;'\"\"=1\""},
        {"a;b=1", "\"a;b=1\""},
        {";", "\";\""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(cell(rows[i].in, strlen(rows[i].in), 0), rows[i].want);
    CHECK_STR(cell("a;=1", 4, SEINE_CSV_RAW), "\"a;=1\"");
}

TEST(csv_cell_on_a_terminal_shows_controls)
{
    CHECK_STR(cell("a\x1b[31m\nb\x7f\xc2\x9b", 11, SEINE_CSV_SHOWN),
              "a\\x1b[31m\\x0ab\\x7f\\x9b");
    CHECK_STR(cell("\r=1", 3, SEINE_CSV_SHOWN), "'\\x0d'=1");
}

TEST(csv_row_ends_at_a_newline_outside_of_quotes)
{
    CHECK_EQ(sn_csv_row("", 0), 0);
    CHECK_EQ(sn_csv_row("a,b", 3), 0);
    CHECK_EQ(sn_csv_row("a,b\n", 4), 4);
    CHECK_EQ(sn_csv_row("a,b\nc", 5), 4);
    CHECK_EQ(sn_csv_row("\"a\nb\"\nc\n", 9), 6);
    CHECK_EQ(sn_csv_row("\"a\n", 3), 0);
    CHECK_EQ(sn_csv_row("\"a\"\"\n\"\"b\"\n", 10), 10);
    CHECK_EQ(sn_csv_row("a\r\n", 3), 3);
}
