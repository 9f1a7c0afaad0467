/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask_bytes.h - a URL that was given, with all that was asked for with it, as bytes that
 * a job keeps.
 *
 *     sn_ask_bytes_write(&ask, &buf);             nothing: there is only the URL
 *     e = sn_ask_bytes_read(bytes, arena, &ask);
 *
 * URL, input and line are not in it: they stand in the row beside.
 *
 * Time    plays no part.
 * Memory  the caller's; what is read points into the bytes, fields into the arena.
 * Threads one owner.
 */
#ifndef SN_ASK_BYTES_H
#define SN_ASK_BYTES_H

#include "base/arena.h"
#include "base/buf.h"
#include "seine/input.h"

void sn_ask_bytes_write(const seine_ask *ask, sn_buf *out);

/* STATE_CORRUPT: they are none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_ask_bytes_read(sn_str bytes, sn_arena *arena,
                                             seine_ask *io_ask);

#endif
