/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_secrets.h - no log and no message shows a cookie.
 *
 * A cookie opens a session: whoever reads it has it. Servers repeat it in URLs, which
 * stand in logs. So the set of secrets of the options learns the cookies of the jar when
 * a run begins, and each one that a server sets, whether the jar takes it or not.
 *
 *     e = sn_cookie_secrets_learn_jar(&opts, wall);
 *     e = sn_cookie_secrets_learn(&opts, SN_STR("sid=1234567; Path=/"));
 *
 * Time    is passed in: Unix time in ns.
 * Memory  that of the set (seine/secret.h).
 * Threads any thread: the set is made to learn from any.
 */
#ifndef SN_COOKIE_SECRETS_H
#define SN_COOKIE_SECRETS_H

#include "base/str.h"
#include "seine/fetch.h"

/* Without a set, or a jar, nothing is learnt. NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_secrets_learn_jar(const seine_fetch_opts *o,
                                                       int64_t wall);

/* The value of a Set-Cookie field. NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_secrets_learn(const seine_fetch_opts *o,
                                                   sn_str set_cookie);

#endif
