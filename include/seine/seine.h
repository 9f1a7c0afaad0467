/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seine.h - the whole contract in one line: #include <seine/seine.h>.
 *
 * One header per noun; each opens with what it is for and five lines of use.
 * tools/check-headers sees to it that none is missing here.
 */
#ifndef SEINE_SEINE_H
#define SEINE_SEINE_H

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/attempt.h"
#include "seine/breaker.h"
#include "seine/breakers.h"
#include "seine/budget.h"
#include "seine/calendar.h"
#include "seine/call.h"
#include "seine/charset.h"
#include "seine/clock.h"
#include "seine/convert.h"
#include "seine/cookie_jar.h"
#include "seine/crawl.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/eta.h"
#include "seine/explain.h"
#include "seine/family.h"
#include "seine/fetch.h"
#include "seine/format.h"
#include "seine/input.h"
#include "seine/jsonptr.h"
#include "seine/key.h"
#include "seine/keyed.h"
#include "seine/limiter.h"
#include "seine/links.h"
#include "seine/log.h"
#include "seine/metrics.h"
#include "seine/mime.h"
#include "seine/outcome.h"
#include "seine/pool.h"
#include "seine/psl.h"
#include "seine/record.h"
#include "seine/retry.h"
#include "seine/retry_hint.h"
#include "seine/robots.h"
#include "seine/secret.h"
#include "seine/secure.h"
#include "seine/seen.h"
#include "seine/select.h"
#include "seine/shared.h"
#include "seine/sink.h"
#include "seine/sitemap.h"
#include "seine/summary.h"
#include "seine/tally.h"
#include "seine/throttle.h"
#include "seine/time.h"
#include "seine/tree.h"
#include "seine/url.h"
#include "seine/version.h"
#include "seine/view.h"
#include "seine/warc.h"

#endif
