/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "console/records.h"

static const char line[] = "{\"seq\":3,\"url\":\"https://e.example/\",\"status\":200,"
                           "\"error\":{\"kind\":\"timeout\"},\"item\":{\"sku\":\"A,1\","
                           "\"cost\":\"=1+1\",\"tags\":[1,2]},\"none\":null}";

static void
check_text(sn_buf *b, const char *want)
{
    sn_buf_char(b, '\0');
    CHECK_EQ(sn_buf_done(b), SEINE_OK);
    CHECK_STR(b->ptr, want);
    sn_buf_fini(b);
}

TEST(records_fields_are_found_by_their_paths)
{
    sn_buf b;

    sn_buf_init(&b, 4096);
    sn_records_project(sn_str_of(line), "url,error.kind,item.sku,missing,item.tags", &b);
    check_text(&b, "{\"url\":\"https://e.example/\",\"error.kind\":\"timeout\","
                   "\"item.sku\":\"A,1\",\"item.tags\":[1,2]}");
    sn_buf_init(&b, 4096);
    sn_records_project(SN_STR("not json"), "url", &b);
    check_text(&b, "{}");
}

TEST(records_fields_as_csv_are_inert)
{
    sn_buf b;

    sn_buf_init(&b, 4096);
    sn_records_csv_head("seq,item.sku,=x", &b);
    sn_records_csv(sn_str_of(line), "seq,item.sku,item.cost,none,missing,status", &b);
    check_text(&b, "seq,item.sku,'=x\r\n3,\"A,1\",'=1+1,,,200\r\n");
}

TEST(records_fields_of_any_length_fit)
{
    sn_buf text, b;

    sn_buf_init(&text, 1 << 20);
    sn_buf_text(&text, "{\"a\":\"");
    for (int i = 0; i < 10000; i++)
        sn_buf_text(&text, ",");
    sn_buf_text(&text, "\"}");
    sn_buf_init(&b, 1 << 20);
    sn_records_csv(sn_buf_view(&text), "a", &b);
    CHECK_EQ(b.len, 10000 + 2 + 2);
    sn_buf_fini(&b);
    sn_buf_fini(&text);
}
