/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - INT, TERM, HUP, USR1 and WINCH as something to read.
 *
 * Blocked before any thread starts, so that all of them leave the signals to the one
 * that polls the descriptor. One that was ignored when the program began (nohup) stays
 * ignored.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* The descriptor, or -1. */
int signals_open(void);

/* The next one that came, or 0. */
int signals_next(int fd);

#endif
