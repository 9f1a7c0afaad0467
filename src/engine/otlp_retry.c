/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "engine/otlp.h"

enum { TRIES_MOST = 5 };
#define OLDEST  SEINE_SECS(60)
#define FIRST   SEINE_SECS(1)
#define LONGEST SEINE_SECS(30)

bool
sn_otlp_may_pass(unsigned status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 ||
           status == 504;
}

bool
sn_otlp_again(sn_otlp_retry *r, seine_time now, seine_span asked, uint64_t dice,
              seine_time *out_at)
{
    seine_span most = FIRST << (r->tries < 5 ? r->tries : 5);

    r->tries++;
    if (r->tries >= TRIES_MOST)
        return false;
    most = sn_time_min(most, LONGEST);
    seine_span wait = asked >= 0 ? asked : (seine_span)(dice % (uint64_t)(most + 1));
    *out_at = sn_time_add(now, wait);
    return sn_time_sub(*out_at, r->began) < OLDEST;
}
