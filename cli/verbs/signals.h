/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - reads INT, TERM, HUP, USR1 and WINCH from a descriptor.
 *
 * The signals are blocked before any thread starts, so that only the thread that polls
 * the descriptor sees them. A signal that was ignored when the program started (nohup)
 * stays ignored.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* The descriptor, or -1. */
int signals_open(void);

/* The number of the next signal, or 0. */
int signals_next(int fd);

#endif
