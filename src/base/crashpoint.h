/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashpoint.h - places at which a test build dies, to see what survives.
 *
 *     SN_CRASHPOINT("db.commit.after");
 *
 * SEINE_CRASH=NAME kills the process (SIGKILL) at that place, NAME@3 at the third time.
 * A release build has no trace of it: the macro is empty unless SEINE_CRASHPOINTS is
 * defined.
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_CRASHPOINT_H
#define SN_CRASHPOINT_H

#ifdef SEINE_CRASHPOINTS
#include <stddef.h>

void sn_crashpoint(const char *name);
/* Writes half of the bytes first. */
void sn_crashpoint_half(const char *name, int fd, const char *bytes, size_t n);
#define SN_CRASHPOINT(name)                    sn_crashpoint(name)
#define SN_CRASHPOINT_HALF(name, fd, bytes, n) sn_crashpoint_half(name, fd, bytes, n)
#else
#define SN_CRASHPOINT(name)                    ((void)0)
#define SN_CRASHPOINT_HALF(name, fd, bytes, n) ((void)0)
#endif

#endif
