/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body_coding.h - applies content codings to a body, and damages the result.
 *
 *     snc_body_coding how = {.codings = {SNC_CODING_GZIP, SNC_CODING_BR}, .count = 2};
 *     e = snc_body_code(&body, &how, &text);
 *
 * The body's wire is replaced by one that gives the encoded bytes. A body of up to
 * 256 KiB is encoded at once, so that its length is known; a longer one while it is sent.
 * Then `cut` bytes are missing at the end, one byte is wrong, and empty encoded texts or
 * other bytes follow.
 *
 * Time    plays no part. Encoding costs the server's thread about 20 ms a MiB. With
 *         several codings, or with an end that is held back to be damaged, many MiB may
 *         give one byte, so such a body has 64 MiB at most.
 * Memory  a coder each (coder.h), and 33 KiB a coding, while it is sent.
 * Threads one owner.
 */
#ifndef SNC_BODY_CODING_H
#define SNC_BODY_CODING_H

#include "chaos/coder.h"
#include "chaos/wire.h"

/* Takes over the pieces of `body`, which lie in `text`. NOMEM; FULL: several
 * codings, or a damaged end, of a body of more than 64 MiB. */
SEINE_MUST_CHECK seine_err snc_body_code(snc_wire *body, const snc_body_coding *how,
                                         sn_buf *text);

#endif
