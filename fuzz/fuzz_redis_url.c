/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of Redis. What is accepted is within its bounds, and its shown form, which has no
 * password, is accepted again and names the same server.
 */
#include <stdlib.h>
#include <string.h>

#include "store/redis_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str text = {(const char *)bytes, n};
    char shown[SN_REDIS_SHOWN];
    seine_diag diag = SEINE_DIAG;
    sn_redis_url u, again;

    if (sn_redis_url_parse(text, &u, &diag) != SEINE_OK) {
        REQUIRE(diag.text[0]);
        return 0;
    }
    REQUIRE((u.host.len == 0) != (u.path.len == 0));
    REQUIRE(u.path.len <= SN_REDIS_PATH && (u.path.len > 0 || u.port > 0));
    REQUIRE(u.user.len == 0 || u.password.len > 0);
    REQUIRE(memchr(u.host.ptr ? u.host.ptr : "", '\0', u.host.len) == NULL);
    sn_redis_url_shown(&u, shown);
    if (u.host.len > 0 && u.host.len < 200) {
        REQUIRE(sn_redis_url_parse(sn_str_of(shown), &again, &diag) == SEINE_OK);
        REQUIRE(sn_str_eq(u.host, again.host) && u.port == again.port &&
                u.db == again.db);
        sn_redis_url_fini(&again);
    }
    sn_redis_url_fini(&u);
    return 0;
}
