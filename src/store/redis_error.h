/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_error.h - what an error of a Redis server means, in words that hold no secret.
 *
 *     char why[SN_REDIS_WHY];
 *     e = sn_redis_error_read(SN_STR("NOAUTH Authentication required."), why);
 *
 * A server repeats parts of a command in its error, passwords included. So only the
 * first word of the error, which names its kind, is ever shown.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_REDIS_ERROR_H
#define SN_REDIS_ERROR_H

#include "base/str.h"

#define SN_REDIS_WHY 128 /* bytes of a reason, the terminator included */

/* STORE_UNAVAILABLE: the server cannot do it now, or not for us; INVAL: the command is
 * wrong. The text reads on from "Redis …". */
seine_err sn_redis_error_read(sn_str error, char out_why[SN_REDIS_WHY]);

#endif
