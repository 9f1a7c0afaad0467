/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ignore_marks.h - which lines of a document does a comment except from checking?
 *
 *     text <!-- seine-ignore -->          this line
 *
 *     <!-- seine-ignore -->               alone on its line: the next lines that are not
 *     text                                blank
 *
 *     <!-- seine-ignore-begin -->         everything up to the end mark, or to the end of
 *     <!-- seine-ignore-end -->           the document
 *
 * In reStructuredText a comment is a line ".. seine-ignore".
 *
 *     sn_buf_init(&ranges, cap);
 *     sn_ignore_marks(text, false, &ranges);
 *     bool is_ignored = sn_is_ignored(&ranges, line);
 *
 * Time    plays no part; linear in the bytes, a binary search per question.
 * Memory  8 bytes a mark.
 * Threads one owner.
 */
#ifndef SN_IGNORE_MARKS_H
#define SN_IGNORE_MARKS_H

#include "base/buf.h"

/* Appends the ranges of lines, in order. Markdown gives its masked text, in which marks
 * inside of code are blanked. */
void sn_ignore_marks(sn_str text, bool is_rst, sn_buf *out_ranges);
bool sn_is_ignored(const sn_buf *ranges, uint32_t line);

#endif
