/* SPDX-License-Identifier: Apache-2.0 */
/* A text, read as a breaker and as a list of statuses. A breaker that was read can be
 * made, unless it is off; what is refused changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "seine/breaker_spec.h"
#include "seine/status_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_breaker(const char *text)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    const seine_breaker_opts before = o;
    seine_diag diag = SEINE_DIAG;
    seine_breaker b;
    uint32_t park = 3;

    if (seine_breaker_spec(text, &o, &park, &diag) != SEINE_OK) {
        REQUIRE(diag.text[0] && park == 3);
        REQUIRE(memcmp(&o, &before, sizeof o) == 0);
        return;
    }
    REQUIRE(park >= 1 && o.open_max >= o.open_for);
    if (o.failure_threshold == 0 && o.failure_pct == 0)
        return;
    seine_err e = seine_breaker_init(&b, &o);
    REQUIRE(e == SEINE_OK || e == SEINE_E_NOMEM || o.open_for == 0);
    if (e == SEINE_OK)
        seine_breaker_fini(&b);
}

static void
check_statuses(const char *text, size_t n)
{
    static const char *const also[] = {"net", "timeout", NULL};
    seine_status_set set;
    seine_view bad;
    uint32_t bits = 9;

    if (seine_status_set_parse(text, also, &set, &bits, &bad) != SEINE_OK) {
        REQUIRE(bad.ptr >= text && bad.ptr + bad.len <= text + n && bits == 9);
        return;
    }
    REQUIRE(bits <= 3);
    REQUIRE(!seine_status_set_has(&set, 99) && !seine_status_set_has(&set, 600));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);

    if (!text)
        return 0;
    if (n > 0)
        memcpy(text, bytes, n);
    text[n] = '\0';
    check_breaker(text);
    check_statuses(text, strlen(text));
    free(text);
    return 0;
}
