/* SPDX-License-Identifier: Apache-2.0 */
/* report_markdown.h - text of strangers in Markdown. */
#ifndef CLI_REPORT_MARKDOWN_H
#define CLI_REPORT_MARKDOWN_H

#include "screen/textbuf.h"

/* One line in which no character is markup. */
void markdown_text(textbuf *out, const char *text);

#endif
