/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inert.h - text of strangers that a terminal shows and does not obey.
 *
 *     n = sn_inert(title, SN_INERT_SCREEN, out, sizeof out);     "\x1b[31m" in five signs
 *
 * A terminal obeys control characters (C0, DEL, and C1 as UTF-8), and characters that
 * nobody sees turn the direction of writing or hide text (Cf, Zl and Zp of Unicode 15,
 * but for the two joiners, which many languages need). They become \x1b, or \u202e as in
 * JSON, so that JSON stays JSON. Bytes that are no UTF-8 become \x9b. A backslash stays
 * one: this is for eyes, and nothing reads it back.
 *
 * SCREEN keeps tabs and ends of lines; CR LF becomes LF. LINE keeps tabs alone, so that a
 * value is one line, and leaves what is hidden as it is: for a pipe or a file.
 *
 * Time    linear.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_INERT_H
#define SN_INERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef enum sn_inert_how {
    SN_INERT_SCREEN, /* several lines for a terminal */
    SN_INERT_LINE,   /* one line, wherever it goes */
    SN_INERT_ROW     /* one line for a terminal */
} sn_inert_how;

/* Writes at most `cap` bytes, not terminated; returns the length of the whole. */
size_t sn_inert(sn_str bytes, sn_inert_how how, char *out, size_t cap);

/* Length of the character at the beginning that a terminal may show, and the character;
 * 0: control, hidden, not UTF-8, or nothing there. */
size_t sn_inert_char(sn_str bytes, uint32_t *out_char);

bool sn_inert_is_control(uint32_t c);
bool sn_inert_is_hidden(uint32_t c);

#endif
