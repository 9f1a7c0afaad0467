/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/span_json.h"

#include <string.h>

#include "check.h"

TEST(span_json_writes_the_example_of_the_specification)
{
    sn_buf resource, out;
    sn_span s;

    sn_buf_init(&resource, 4096);
    sn_buf_init(&out, 4096);
    CHECK_EQ(sn_span_resource(&resource, "seine", NULL, NULL), SEINE_OK);
    sn_span_begin(&s, "GET", SN_SPAN_CLIENT, 1763234401123456000, 1763234401165056000);
    memset(s.trace, 0xab, sizeof s.trace);
    memset(s.id, 0x01, sizeof s.id);
    memset(s.parent, 0xff, sizeof s.parent);
    sn_span_int(&s, "http.response.status_code", 503);
    sn_span_event(&s, "dns", 1763234401123457000);
    s.error = "http_busy";
    sn_span_json(&s, 1, sn_buf_view(&resource), SN_STR("0.1.0"), &out);
    sn_buf_char(&out, '\0');
    CHECK_STR(
        out.ptr,
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
        "\"value\":{\"stringValue\":\"seine\"}}]},\"scopeSpans\":[{\"scope\":{"
        "\"name\":\"seine\",\"version\":\"0.1.0\"},\"spans\":[{\"traceId\":"
        "\"abababababababababababababababab\",\"spanId\":\"0101010101010101\","
        "\"parentSpanId\":\"ffffffffffffffff\",\"name\":\"GET\",\"kind\":3,"
        "\"startTimeUnixNano\":\"1763234401123456000\",\"endTimeUnixNano\":"
        "\"1763234401165056000\",\"attributes\":[{\"key\":"
        "\"http.response.status_code\",\"value\":{\"intValue\":\"503\"}}],\"events\":"
        "[{\"timeUnixNano\":\"1763234401123457000\",\"name\":\"dns\"}],\"status\":{"
        "\"code\":2,\"message\":\"http_busy\"}}]}]}]}");
    sn_buf_fini(&resource);
    sn_buf_fini(&out);
}

TEST(span_json_reads_the_attributes_of_a_resource)
{
    static const struct {
        const char *more, *want; /* NULL: INVAL */
    } rows[] = {
        {"a=b", "\"a\",\"value\":{\"stringValue\":\"b\"}"},
        {" a=b%20c , d=e", "\"a\",\"value\":{\"stringValue\":\"b c\"}"},
        {"a=", "\"a\",\"value\":{\"stringValue\":\"\"}"},
        {",,", "service.name"},
        {"a", NULL},    /* no value */
        {"=b", NULL},   /* no key */
        {"a=%", NULL},  /* half an escape … */
        {"a=%2", NULL}, /* … or most of one */
        {"a=%zz", NULL},
    };

    EACH_ROW(i, rows) {
        sn_buf b;

        sn_buf_init(&b, 4096);
        seine_err e = sn_span_resource(&b, "seine", "1", rows[i].more);
        CHECK_EQ(e, rows[i].want ? SEINE_OK : SEINE_E_INVAL);
        sn_buf_char(&b, '\0');
        CHECK(!rows[i].want || strstr(b.ptr, rows[i].want));
        sn_buf_fini(&b);
    }
}
