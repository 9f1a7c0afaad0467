/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_path.h - the path of a request as a server looks it up, and prefixes of it.
 *
 *     char plain[SN_REQUEST_PATH];
 *     sn_str path = sn_request_path(SN_STR("/a/%2e%2e//%6Cogin?x"), plain);   /login
 *     if (sn_request_path_is_below(path, SN_STR("/login")))
 *         …
 *
 * There are many spellings of one path. The servers behind the gate decode %XX, join
 * slashes and follow dots before they look a path up, so the gate does the same: else
 * /%6Cogin would not be counted as /login.
 *
 * Time    plays no part; work is linear.
 * Memory  the caller's. What is longer than the buffer is cut, since prefixes are
 * shorter; dots that lead back from there are followed. Threads any thread.
 */
#ifndef SN_REQUEST_PATH_H
#define SN_REQUEST_PATH_H

#include "base/str.h"

enum { SN_REQUEST_PATH = 1024 };

/* `target` is a path with or without a query, or an absolute URL. The result begins with
 * a slash, and stands in `out`. */
sn_str sn_request_path(sn_str target, char out[SN_REQUEST_PATH]);

/* Is it this path, or one below it? "/api" has "/api" and "/api/x" below it, but not
 * "/apix"; "/api/" has "/api/x", but not "/api". */
bool sn_request_path_is_below(sn_str path, sn_str prefix);

#endif
