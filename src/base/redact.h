/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - a URL as it may be shown: the same, without its secrets.
 *
 *     https://joe:pw@e.org/a?page=2&access_token=abc#top
 *     https://REDACTED@e.org/a?page=2&access_token=REDACTED#top
 *
 * Gone are the user information and the values of parameters whose names speak
 * of secrets (token, key, password, signature, session, x-amz-… : the list is in
 * the source), in the query, in the fragment and behind semicolons in the path.
 * Case, percent signs and punctuation in a name do not hide it. In doubt a value
 * goes: what is lost in a log line is small, what leaks is not.
 *
 * Time    plays no part.
 * Memory  none beyond the caller's.
 * Threads any thread.
 */
#ifndef SN_REDACT_H
#define SN_REDACT_H

#include "base/str.h"

#define SN_REDACTED "REDACTED"

/* Writes the URL, or as much of it as `cap` holds, without a terminator; returns
 * how many bytes were written. Any bytes will do for a URL. */
size_t sn_redact(sn_str url, char *out_bytes, size_t cap);

#endif
