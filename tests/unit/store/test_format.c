/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/format.h"

#include "check.h"

TEST(format_of_an_output_is_told_by_its_ending)
{
    static const struct {
        const char *path;
        seine_sink_format format;
        seine_sink_pack pack;
    } rows[] = {
        {"a.jsonl", SEINE_SINK_JSONL, SEINE_PACK_NONE},
        {"a.ndjson", SEINE_SINK_JSONL, SEINE_PACK_NONE},
        {"dir.csv/a.jsonl.gz", SEINE_SINK_JSONL, SEINE_PACK_GZIP},
        {"a.csv.zst", SEINE_SINK_CSV, SEINE_PACK_ZSTD},
        {"a.sqlite", SEINE_SINK_SQLITE, SEINE_PACK_NONE},
        {"a.sqlite3", SEINE_SINK_SQLITE, SEINE_PACK_NONE},
        {"a.db", SEINE_SINK_SQLITE, SEINE_PACK_NONE},
        {"a.db.gz", SEINE_SINK_AUTO, SEINE_PACK_GZIP}, /* nobody writes to packed rows */
        {"a.warc.gz", SEINE_SINK_WARC, SEINE_PACK_GZIP},
        {"a.gz", SEINE_SINK_AUTO, SEINE_PACK_GZIP},
        {"a.jsonl.gz.gz", SEINE_SINK_AUTO, SEINE_PACK_GZIP}, /* packed once at most */
        {"a.xml", SEINE_SINK_AUTO, SEINE_PACK_NONE},         /* read and never written */
        {"a.html", SEINE_SINK_AUTO, SEINE_PACK_NONE},
        {"a.JSONL", SEINE_SINK_AUTO, SEINE_PACK_NONE}, /* case counts */
        {"ajsonl", SEINE_SINK_AUTO, SEINE_PACK_NONE},
        {".jsonl", SEINE_SINK_JSONL, SEINE_PACK_NONE},
        {"-", SEINE_SINK_AUTO, SEINE_PACK_NONE},
        {"", SEINE_SINK_AUTO, SEINE_PACK_NONE},
        {NULL, SEINE_SINK_AUTO, SEINE_PACK_NONE},
    };

    EACH_ROW(i, rows) {
        seine_sink_pack pack = SEINE_PACK_AUTO;

        CHECK_EQ(seine_format_of_output(rows[i].path, &pack), rows[i].format);
        CHECK_EQ(pack, rows[i].pack);
        CHECK_EQ(seine_format_of_output(rows[i].path, NULL), rows[i].format);
    }
}

TEST(format_of_an_input_is_told_by_its_ending_or_left_to_its_bytes)
{
    static const struct {
        const char *path;
        seine_input_format format;
    } rows[] = {
        {"a.jsonl", SEINE_INPUT_JSONL},  {"a.ndjson.gz", SEINE_INPUT_JSONL},
        {"a.csv.zst", SEINE_INPUT_CSV},  {"sitemap.xml.gz", SEINE_INPUT_SITEMAP},
        {"a.html", SEINE_INPUT_HTML},    {"a.htm", SEINE_INPUT_HTML},
        {"a.warc.gz", SEINE_INPUT_AUTO}, /* begins with WARC/ */
        {"a.txt", SEINE_INPUT_AUTO},     {"-", SEINE_INPUT_AUTO},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(seine_format_of_input(rows[i].path), rows[i].format);
}

TEST(format_has_a_name_if_records_are_written_in_it)
{
    static const struct {
        const char *name;
        seine_err err;
        seine_sink_format format;
    } rows[] = {
        {"jsonl", SEINE_OK, SEINE_SINK_JSONL},
        {"csv", SEINE_OK, SEINE_SINK_CSV},
        {"sqlite", SEINE_OK, SEINE_SINK_SQLITE},
        {"warc", SEINE_OK, SEINE_SINK_WARC},
        {"JSONL", SEINE_E_INVAL, SEINE_SINK_RAW},
        {"html", SEINE_E_INVAL, SEINE_SINK_RAW},
        {"csv.gz", SEINE_E_INVAL, SEINE_SINK_RAW},
        {"", SEINE_E_INVAL, SEINE_SINK_RAW},
    };

    EACH_ROW(i, rows) {
        seine_sink_format format = SEINE_SINK_RAW;

        CHECK_EQ(seine_format_by_name(rows[i].name, &format), rows[i].err);
        CHECK_EQ(format, rows[i].format); /* untouched on failure */
    }
}

TEST(format_is_packed_or_never)
{
    CHECK(seine_format_packs(SEINE_SINK_JSONL));
    CHECK(seine_format_packs(SEINE_SINK_CSV));
    CHECK(seine_format_packs(SEINE_SINK_WARC));
    CHECK(!seine_format_packs(SEINE_SINK_SQLITE));
    CHECK(!seine_format_packs(SEINE_SINK_RAW));
    CHECK(!seine_format_packs(SEINE_SINK_AUTO));
}

TEST(format_in_front_of_a_path_is_split_off)
{
    static const struct {
        const char *text, *path;
        seine_sink_format format;
        seine_sink_pack pack;
    } rows[] = {
        {"jsonl:a", "a", SEINE_SINK_JSONL, SEINE_PACK_AUTO},
        {"csv.gz:a.b", "a.b", SEINE_SINK_CSV, SEINE_PACK_GZIP},
        {"warc.zst:-", "-", SEINE_SINK_WARC, SEINE_PACK_ZSTD},
        {"jsonl:", "", SEINE_SINK_JSONL, SEINE_PACK_AUTO},
        {"jsonl:a:b", "a:b", SEINE_SINK_JSONL, SEINE_PACK_AUTO},
        {"sqlite.gz:a", "sqlite.gz:a", SEINE_SINK_AUTO, SEINE_PACK_AUTO},
        {"html:a", "html:a", SEINE_SINK_AUTO, SEINE_PACK_AUTO},
        {"c:a.csv", "c:a.csv", SEINE_SINK_AUTO, SEINE_PACK_AUTO}, /* a file's name */
        {"jsonl", "jsonl", SEINE_SINK_AUTO, SEINE_PACK_AUTO},
        {":a", ":a", SEINE_SINK_AUTO, SEINE_PACK_AUTO},
    };

    EACH_ROW(i, rows) {
        seine_sink_format format = SEINE_SINK_AUTO;
        seine_sink_pack pack = SEINE_PACK_AUTO;

        CHECK_STR(seine_format_split(rows[i].text, &format, &pack), rows[i].path);
        CHECK_EQ(format, rows[i].format);
        CHECK_EQ(pack, rows[i].pack);
    }
}
