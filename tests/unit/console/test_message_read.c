/* SPDX-License-Identifier: Apache-2.0 */
#include "console/message_read.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

#define DOC  "01JD2Z6W9N0000000000000001"
#define FINE SN_API_ERROR_COUNT

TEST(message_read_says_what_is_wrong)
{
    static const struct {
        const char *text;
        sn_api_error want;
    } rows[] = {
        {"{\"t\":\"ping\",\"n\":3}", FINE},
        {"{\"t\":\"ping\",\"n\":3,\"more\":[1]}", FINE}, /* unknown members are ignored */
        {"{\"t\":\"ping\",\"n\":\"3\"}", SN_API_BAD_MESSAGE},
        {"{\"t\":\"ping\"}", SN_API_BAD_MESSAGE},
        {"{\"t\":\"pong\",\"n\":3}", SN_API_BAD_MESSAGE},
        {"{\"n\":3}", SN_API_BAD_MESSAGE},
        {"[]", SN_API_BAD_JSON},
        {"", SN_API_BAD_JSON},
        {"{\"t\":\"ping\",\"n\":3,\"n\":4}", SN_API_BAD_JSON}, /* a name twice */
        {"{\"t\":\"ping\",\"n\":3,\"x\":[[[[[[[1]]]]]]]}", FINE},
        {"{\"t\":\"ping\",\"n\":3,\"x\":[[[[[[[[1]]]]]]]]}", SN_API_BAD_JSON},
        {"{\"t\":\"ping\",\"n\":3,\"x\":\"[[[[[[[[[[\"}", FINE}, /* a text is not deep */
        {"{\"t\":\"open\",\"doc\":\"" DOC "\"}", FINE},
        {"{\"t\":\"open\",\"doc\":\"" DOC "\",\"v\":1}", SN_API_BAD_MESSAGE},
        {"{\"t\":\"open\",\"doc\":\"" DOC "\",\"v\":1,\"epoch\":\"" DOC "\"}", FINE},
        {"{\"t\":\"open\",\"doc\":\"../etc\"}", SN_API_BAD_MESSAGE},
        {"{\"t\":\"push\",\"doc\":\"" DOC "\",\"base\":0,\"seq\":1,\"updates\":[[3,[0,"
         "\"x\"]]]}",
         FINE},
        {"{\"t\":\"push\",\"doc\":\"" DOC "\",\"base\":9007199254740992,\"seq\":1,"
         "\"updates\":[[3]]}",
         SN_API_BAD_MESSAGE}, /* beyond 53 bits */
        {"{\"t\":\"push\",\"doc\":\"" DOC "\",\"base\":-1,\"seq\":1,\"updates\":[[3]]}",
         SN_API_BAD_MESSAGE},
        {"{\"t\":\"push\",\"doc\":\"" DOC "\",\"base\":0,\"seq\":1,\"updates\":[]}",
         SN_API_BAD_MESSAGE},
        {"{\"t\":\"push\",\"doc\":\"" DOC "\",\"base\":0,\"seq\":1,\"updates\":[[0]]}",
         SN_API_BAD_CHANGE},
        {"{\"t\":\"push\",\"doc\":\"" DOC
         "\",\"base\":0,\"seq\":1,\"updates\":[[[0,\"a\\r\"]]]}",
         SN_API_BAD_CHANGE},
        {"{\"t\":\"cursor\",\"doc\":\"" DOC "\",\"v\":0,\"sel\":[[1,2]]}", FINE},
        {"{\"t\":\"cursor\",\"doc\":\"" DOC "\",\"v\":0,\"sel\":null}", FINE},
        {"{\"t\":\"cursor\",\"doc\":\"" DOC "\",\"v\":0}", SN_API_BAD_MESSAGE},
        {"{\"t\":\"cursor\",\"doc\":\"" DOC "\",\"v\":0,\"sel\":[[1]]}",
         SN_API_BAD_MESSAGE},
        {"{\"t\":\"hello\",\"proto\":2,\"client\":\"q1mZ0v3xTn6d8kYb2LsW4g\"}",
         SN_API_BAD_MESSAGE},
        {"{\"t\":\"hello\",\"proto\":1,\"client\":\"q1mZ0v3xTn6d8kYb2LsW4g\"}", FINE},
        {"{\"t\":\"hello\",\"proto\":1,\"client\":\"q1mZ0v3xTn6d8kYb2LsW4\"}",
         SN_API_BAD_MESSAGE},
    };

    EACH_ROW(i, rows) {
        sn_message m;
        sn_message_why why;

        CHECK_EQ(sn_message_read(sn_str_of(rows[i].text), &m, &why), rows[i].want);
        sn_message_fini(&m);
    }
}

TEST(message_read_counts_updates_sections_and_ranges)
{
    static char text[32768];
    sn_message m;
    sn_message_why why;

    for (int over = 0; over < 2; over++) {
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "{\"t\":\"push\",\"doc\":\"" DOC
                                    "\",\"base\":0,\"seq\":1,\"updates\":[[1]");
        for (int i = 1; i < SN_PUSH_MOST + over; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, ",[1]");
        snprintf(text + n, sizeof text - n, "]}");
        CHECK_EQ(sn_message_read(sn_str_of(text), &m, &why),
                 over ? SN_API_TOO_LARGE : FINE);
        sn_message_fini(&m);
        n = (size_t)snprintf(text, sizeof text,
                             "{\"t\":\"push\",\"doc\":\"" DOC
                             "\",\"base\":0,\"seq\":1,\"updates\":[[1");
        for (int i = 1; i < SN_HUB_SECTIONS + over; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, i % 2 ? ",[1]" : ",1");
        snprintf(text + n, sizeof text - n, "]]}");
        CHECK_EQ(sn_message_read(sn_str_of(text), &m, &why),
                 over ? SN_API_TOO_LARGE : FINE);
        sn_message_fini(&m);
        n = (size_t)snprintf(text, sizeof text,
                             "{\"t\":\"cursor\",\"doc\":\"" DOC
                             "\",\"v\":0,\"sel\":[[0,0]");
        for (int i = 1; i < SN_HUB_RANGES + over; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, ",[0,0]");
        snprintf(text + n, sizeof text - n, "]}");
        CHECK_EQ(sn_message_read(sn_str_of(text), &m, &why),
                 over ? SN_API_TOO_LARGE : FINE);
        sn_message_fini(&m);
    }
}

TEST(message_read_cleans_names)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"desk 2", "desk 2"},
        {"  desk\t2\n ", "desk2"},
        {"\xe2\x80\xaetxt.exe", "txt.exe"}, /* right to left */
        {"a\xe2\x80\x8b\x62", "ab"},        /* no width */
        {"0123456789012345678901234567890123456789more",
         "0123456789012345678901234567890123456789"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\x1b[31m", "[31m"},
    };

    EACH_ROW(i, rows) {
        char out[4 * SN_MESSAGE_NAME + 1];

        sn_message_clean(sn_str_of(rows[i].text), SN_MESSAGE_NAME, out, sizeof out);
        CHECK_STR(out, rows[i].want);
    }
}
