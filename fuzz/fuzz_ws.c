/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a WebSocket client, in pieces of a length that the first byte gives: no
 * message is longer than allowed, text is UTF-8, and frames that wait are bounded. */
#include <stdlib.h>

#include "base/str.h"
#include "console/ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { MOST = 300 };

static void
on_message(void *arg, sn_str text, bool is_binary)
{
    sn_ws **ws = arg;

    REQUIRE(text.len <= MOST);
    REQUIRE(is_binary || sn_utf8_valid(text));
    if (sn_ws_waiting(*ws) < 65536)
        (void)!sn_ws_send(*ws, text, is_binary);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_ws *ws = NULL;
    sn_ws_opts opts = {MOST, n > 0 && (bytes[0] & 1), on_message, &ws};
    size_t piece = n > 0 ? 1 + bytes[0] / 2u : 1;
    bool goes_on = true;
    sn_buf out;

    if (n == 0 || sn_ws_new(&opts, &ws) != SEINE_OK)
        return 0;
    sn_buf_init(&out, 1 << 20);
    for (size_t at = 1; at < n; at += piece) {
        bool before = goes_on;

        goes_on = sn_ws_feed(
            ws, (sn_str){(const char *)bytes + at, n - at < piece ? n - at : piece});
        REQUIRE(before || !goes_on); /* what has ended stays so */
        sn_ws_write(ws, &out, 100);
        sn_buf_reset(&out);
    }
    while (sn_ws_write(ws, &out, 4096) > 0)
        sn_buf_reset(&out);
    sn_buf_fini(&out);
    sn_ws_free(ws);
    return 0;
}
