/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of any page: what comes out is JSON with the names of the fields, within its
 * limits, and the memory of the gate is given back. The first byte chooses how the page
 * is read; a line feed ends a selector or pointer of its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seine/extract.h"
#include "seine/plumbing.h"

static uint64_t taken;

static seine_err
take(uint64_t bytes, void *arg)
{
    (void)arg;
    taken += bytes;
    return SEINE_OK;
}

static void
give(uint64_t bytes, void *arg)
{
    (void)arg;
    if (bytes > taken)
        abort();
    taken -= bytes;
}

static void
must(bool is)
{
    if (!is)
        abort();
}

static seine_extract *
make_fields(const char *own)
{
    static const char *const css[] = {"p", "h=div@html", "a@href", "n=:nth-child(2) *"};
    seine_extract *x = NULL;

    must(seine_extract_new(&x) == SEINE_OK);
    for (size_t i = 0; i < sizeof css / sizeof *css; i++)
        must(seine_extract_add(x, SEINE_EXTRACT_CSS, css[i], NULL) == SEINE_OK);
    must(seine_extract_add(x, SEINE_EXTRACT_META, NULL, NULL) == SEINE_OK);
    must(seine_extract_add(x, SEINE_EXTRACT_JSONLD, NULL, NULL) == SEINE_OK);
    must(seine_extract_add(x, SEINE_EXTRACT_TEXT, NULL, NULL) == SEINE_OK);
    must(seine_extract_add(x, SEINE_EXTRACT_POINTER, "all=/-/-", NULL) == SEINE_OK);
    (void)!seine_extract_add(x, SEINE_EXTRACT_CSS, own, NULL);
    (void)!seine_extract_add(x, SEINE_EXTRACT_POINTER, own, NULL);
    return x;
}

static void
check_data(const seine_extract *x, seine_view data, size_t page)
{
    seine_json *json = NULL;

    if (!data.ptr)
        return;
    must(data.len <= (24u << 20) && data.len <= 6 * (32 * page + (1u << 20)));
    must(seine_json_parse(data.ptr, data.len, &json, NULL) == SEINE_OK);
    must(seine_json_size(json) <= seine_extract_count(x));
    seine_json_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/html", "application/json", "text/plain",
                                        "application/xhtml+xml"};
    seine_tree_gate gate = {take, give, NULL};
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    seine_extractor *r = NULL;
    seine_view out;

    if (!line || line == data || memchr(data, 0, (size_t)(line - data)))
        return 0;
    size_t n = (size_t)(line - data) - 1;
    char *own = malloc(n + 1);
    must(own != NULL);
    memcpy(own, data + 1, n);
    own[n] = '\0';
    seine_extract *x = make_fields(own);
    must(seine_extractor_new(x, &r) == SEINE_OK);
    page.body = (seine_view){(const char *)line + 1, size - n - 2};
    if (data[0] % 5 < 4)
        page.content_type = (seine_view){types[data[0] % 5], strlen(types[data[0] % 5])};
    page.url = (seine_view){"http://e.example/a/b", 20};
    page.gate = &gate;
    for (int i = 0; i < 2; i++) {
        (void)!seine_extractor_read(r, &page, &out);
        check_data(x, out, page.body.len);
        must(taken == 0);
    }
    seine_extractor_free(r);
    seine_extract_free(x);
    free(own);
    return 0;
}
