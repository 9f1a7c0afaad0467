/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the socket of a running job: JSON lines in, JSON lines out.
 *
 *     {"cmd":"show"}                                 {"ok":{"state":"running",…}}
 *     {"cmd":"set","host-rate":"1/s"}                {"ok":{}}
 *     {"cmd":"set","hosts.e.example.per-host":"1"}   {"ok":{}}
 *     {"cmd":"pause"}, "resume", "stop", "status"    {"ok":{…}}
 *     {"cmd":"dance"}                                {"error":"…"}
 *
 * The socket is `control.sock` in the directory of the job, for its owner alone. A thread
 * of its own serves it: no shard and no output waits for a client. A line has at most 64
 * KiB, there are at most 16 clients, and one that is silent for five seconds is dropped.
 * A socket that a killed process has left is replaced, since the lock of the job says
 * who owns it. The path of the directory may be of any length.
 *
 *     control *c = control_open(path, &hooks);          NULL: there is none; errno
 *     control_close(c);                                 before the fetch is freed
 */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include <seine/fetch_control.h>
#include <seine/plumbing.h>

typedef struct control control;

typedef struct control_hooks {
    seine_fetch *fetch;
    void (*stop)(void *arg); /* ends the run in order; on the thread of the socket */
    void (*say)(const char *line, void *arg); /* tells the user what was changed */
    void *arg;
} control_hooks;

control *control_open(const char *dir, const control_hooks *hooks);
void control_close(control *c); /* NULL is fine */

/* The other end. Sends one line and reads one; *out_answer is the object behind "ok".
 * CONTROL_NOBODY: nobody listens. CONTROL_ERROR: `why` says what the job said, or that it
 * did not answer within `patience_ms`. */
typedef enum control_end { CONTROL_OK, CONTROL_NOBODY, CONTROL_ERROR } control_end;
control_end control_ask(const char *dir, const seine_json *line, int patience_ms,
                        seine_json **out_answer, char why[320]);

/* {"cmd":"…"} */
seine_json *control_line(const char *cmd);

#endif
