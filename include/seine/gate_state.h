/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_state.h - the debts of a gate's clients in a file, so that a restart forgives
 * none.
 *
 *     seine_gate_loaded was;
 *     e = seine_gate_load(gate, "gate.state", seine_now(), wall, &was, &diag);
 *     if (e == SEINE_E_UNKNOWN)
 *         puts("there is no file yet");
 *     …
 *     e = seine_gate_save(gate, "gate.state", seine_now(), wall, &diag);     every 10 s
 *
 * The file names each client that owes tokens, and how much; who is not in it starts
 * full. It is written under another name and renamed, so that a reader sees the old one
 * or the new one, whatever kills the writer. Times in it are wall time: a machine whose
 * clock is set back while the gate is down makes clients wait longer, up to an empty
 * bucket, and never lets them in earlier than a true clock would. Values of fields that
 * policies count by are in it as digests alone.
 *
 * Time    is passed in: the monotonic one, and the wall time in ns of the same moment.
 * Memory  64 KiB while a file is read or written.
 * Threads any thread; checks may go on meanwhile.
 */
#ifndef SEINE_GATE_STATE_H
#define SEINE_GATE_STATE_H

#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/gate.h"
#include "seine/time.h"

typedef struct seine_gate_loaded {
    seine_span age;    /* since it was written */
    uint64_t clients;  /* that still owe */
    uint64_t left_out; /* their policy is gone or counts otherwise, or the gate is full */
    uint64_t reserved[2];
} seine_gate_loaded;

SEINE_BEGIN

/* IO: the diag says why; NOMEM. */
SEINE_MUST_CHECK seine_err seine_gate_save(const seine_gate *g, const char *path,
                                           seine_time now, int64_t wall,
                                           seine_diag *diag);

/* All of the file is checked before the gate learns any of it. UNKNOWN: there is no such
 * file. STATE_CORRUPT, STATE_FOREIGN, STATE_NEWER: nothing was loaded. IO. A policy whose
 * rate has changed keeps the tokens of its clients. */
SEINE_MUST_CHECK seine_err seine_gate_load(seine_gate *g, const char *path,
                                           seine_time now, int64_t wall,
                                           seine_gate_loaded *out_loaded,
                                           seine_diag *diag);

SEINE_END

#endif
