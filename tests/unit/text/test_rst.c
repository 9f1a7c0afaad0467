/* SPDX-License-Identifier: Apache-2.0 */
#include "text/rst.h"

#include <stdlib.h>

#include "check.h"
#include "doc_dump.h"
#include "failing.h"

static doc_dump
read_rst(const char *text)
{
    sn_rst r;
    doc_dump d = {"", ""};

    sn_rst_init(&r);
    CHECK_EQ(sn_rst_read(&r, sn_str_of(text), (sn_doc_fn){doc_dump_event, &d}), SEINE_OK);
    sn_rst_fini(&r);
    return d;
}

typedef struct row {
    const char *text, *want;
} row;

TEST(rst_finds_links)
{
    static const row rows[] = {
        {"`a <b>`_", "1:1 a b (a)"},
        {"x `a b <https://e.example/c>`__ y", "1:3 a https://e.example/c (a b)"},
        {"`a\n<b>`_", "1:1 a b (a)"},
        {"`a\n  b <c>`_", "1:1 a c (a b)"},
        {"`<b>`_", "1:1 a b ()"},
        {"`a <b_>`_", ""}, /* another name */
        {"`a <b\\_>`_", "1:1 a b_ (a)"},
        {"`a <b>`", ""}, /* interpreted text */
        {":doc:`a <b>`", "1:1 doc b (a)"},
        {"see (:doc:`/a/b`)", "1:6 doc /a/b ()"},
        {":std:doc:`a`", "1:1 doc a ()"},
        {":ref:`My  Label`", "1:1 ref My Label ()"},
        {":ref:`the\ntext <b c>`", "1:1 ref b c (the text)"},
        {":download:`a <b.zip>`", "1:1 a b.zip (a)"},
        {":doc:`!a`", ""}, /* no link */
        {":py:func:`a <b>`", ""},
        {"x:doc:`a`", "1:2 doc a ()"},
        {":`a`", ""},
        {"a:b:c `a <b>`_", "1:7 a b (a)"},
        {"see https://e.example/a.", "1:5 a https://e.example/a (https://e.example/a)"},
        {"<https://e.example/a>", "1:2 a https://e.example/a (https://e.example/a)"},
        {".. _a: b", "1:4 a b (a)"},
        {".. _`a b`: c", "1:4 a c (a b)"},
        {".. _a: b_", ""}, /* the same as b */
        {".. _a:", ""},
        {".. __: b", "1:4 a b (_)"},
        {"__ b", "1:4 a b ()"},
        {".. image:: a.png\n   :target: b", "1:12 img a.png () | 2:13 a b ()"},
        {".. |x| image:: a.png", "1:16 img a.png ()"},
        {".. include:: a.rst", "1:14 a a.rst ()"},
        {".. [1] https://e.example/a", "1:8 a https://e.example/a (https://e.example/a)"},
        {".. note::\n\n   `a <b>`_", "3:4 a b (a)"},
        {":Home: https://e.example/", "1:8 a https://e.example/ (https://e.example/)"},
        {"- `a <b>`_\r\n- c", "1:3 a b (a)"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_rst(rows[i].text).links, rows[i].want);
}

TEST(rst_finds_no_links_in_code_and_comments)
{
    static const row rows[] = {
        {"``https://e.example/``", ""},
        {"x::\n\n  https://e.example/\n\n`a <b>`_", "5:1 a b (a)"},
        {".. code-block:: c\n\n   https://e.example/\n\nx `a <b>`_", "5:3 a b (a)"},
        {".. a comment\n   https://e.example/\n\n`a <b>`_", "4:1 a b (a)"},
        {">>> https://e.example/\nx\n\n`a <b>`_", "4:1 a b (a)"},
        {"``never closed `a <b>`_", "1:16 a b (a)"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_rst(rows[i].text).links, rows[i].want);
}

TEST(rst_anchors_are_those_of_docutils_and_github)
{
    static const row rows[] = {
        {"Hello, World\n============", "hello-world | hello-world"},
        {"What's new?\n-----------", "what-s-new | whats-new"},
        {"=====\nTitle\n=====", "title | title"},
        {"A\n=\n\nA\n=", "a | a | a-1 | a-1"},
        {".. _My Target:", "My Target | my-target"},
        {"x _`inline target` y", "inline target | inline-target"},
        {"Caf\xc3\xa9\n====", "cafe | caf\xc3\xa9"},
        {"A longer title\n===", ""}, /* the line is too short */
        {"a table\n\n==== ====\na    b\n==== ====", ""},
        {"1. Install\n----------", "install | 1-install"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_rst(rows[i].text).anchors, rows[i].want);
}

TEST(rst_work_is_linear)
{
    static const char *const pieces[] = {"`",          "``",       "`a <",   ".. ",
                                         ".. _a: b\n", "http://a", "a\n=\n", ":x:`",
                                         "_`",         "\\",       " "};

    EACH_ROW(i, pieces) {
        size_t len = strlen(pieces[i]), n = 200000 / len * len;
        char *text = malloc(n);
        doc_dump d = {"", ""};
        sn_rst r;

        for (size_t at = 0; at < n; at += len)
            memcpy(text + at, pieces[i], len);
        sn_rst_init(&r);
        CHECK_EQ(sn_rst_read(&r, (sn_str){text, n}, (sn_doc_fn){doc_dump_event, &d}),
                 SEINE_OK);
        sn_rst_fini(&r);
        free(text);
    }
}

static void
ignore_event(void *user, const sn_doc_event *e)
{
    (void)user, (void)e;
}

TEST(rst_survives_failing_allocations)
{
    FAIL_EACH(round)
    {
        sn_rst r;

        sn_rst_init(&r);
        seine_err e = sn_rst_read(&r, SN_STR("A\n=\n\n`a <b>`_\n\n.. _c: d\n"),
                                  (sn_doc_fn){ignore_event, NULL});
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_rst_fini(&r);
    }
}
