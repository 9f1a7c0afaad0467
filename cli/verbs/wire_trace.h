/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_trace.h - shows what is sent and received (-v), as curl does, and writes the heads
 * of responses to a file (--dump-header).
 *
 *     * http://e.example/
 *     * trying 192.0.2.1 port 80
 *     > GET / HTTP/1.1
 *     < HTTP/1.1 200 OK
 *     * dns 0 ms, connect 12 ms, tls 0 ms, first byte 38 ms, all 51 ms
 *
 * Lines are whole, secrets are REDACTED, and nothing of the web moves the cursor.
 *
 *     wire_trace t;
 *     int code = wire_trace_open(&t, a, &b);
 *     wire_trace_tell(&trace, &t);
 *     wire_trace_end(&t, record);
 *     wire_trace_close(&t);
 *
 * Threads any thread, between open and close.
 */
#ifndef CLI_WIRE_TRACE_H
#define CLI_WIRE_TRACE_H

#include <seine/fetch.h>

#include "options/fetch_settings.h"
#include "screen/terminal.h"

typedef struct wire_trace {
    terminal *terminal;
    screen screen; /* of standard error */
    bool shows;    /* -v of a few URLs */
    int fd;        /* of --dump-header; -1: none */
    bool on_stdout;
} wire_trace;

/* SAY_DONE, or the exit code after an error message. */
int wire_trace_open(wire_trace *t, const args *a, terminal *b);
void wire_trace_close(wire_trace *t);

/* Whether anybody wants to be told. */
bool wire_trace_is_on(const wire_trace *t);

void wire_trace_tell(const seine_trace *what, wire_trace *t);
void wire_trace_end(wire_trace *t, const seine_record *r);

#endif
