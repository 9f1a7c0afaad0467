/* SPDX-License-Identifier: Apache-2.0 */
/* A document of Markdown: what fuzz/doc_oracle.h says. */
#include "text/markdown.h"

#include "doc_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static seine_err
read_document(sn_str doc, sn_doc_fn to)
{
    static sn_markdown reader;
    static bool is_ready;

    if (!is_ready)
        sn_markdown_init(&reader);
    is_ready = true;
    return sn_markdown_read(&reader, doc, to);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    check_document((sn_str){(const char *)bytes, n}, read_document);
    return 0;
}
