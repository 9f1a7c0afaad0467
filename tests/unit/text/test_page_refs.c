/* SPDX-License-Identifier: Apache-2.0 */
#include "text/page_refs.h"

#include <string.h>

#include "check.h"

/* Every URL with the first letter of its kind: Link, Frame, Needed, Base. */
static bool
list(void *user, const sn_page_ref *r, sn_buf *out)
{
    static const char letters[] = {[SN_REF_LINK] = 'L',
                                   [SN_REF_FRAME] = 'F',
                                   [SN_REF_NEEDED] = 'N',
                                   [SN_REF_BASE] = 'B'};
    sn_buf *all = user;

    (void)out;
    sn_buf_printf(all, "%s%c:", all->len > 0 ? " " : "", letters[r->kind]);
    sn_buf_str(all, r->value);
    return false;
}

static void
check_list(sn_page_form form, seine_charset charset, const char *page, const char *want)
{
    sn_buf all;
    sn_page_refs_opts o = {.form = form, .charset = charset, .fn = list, .user = &all};

    sn_buf_init(&all, 10000);
    CHECK_EQ(sn_page_refs(sn_str_of(page), &o, NULL), SEINE_OK);
    CHECK_STR(all.len > 0 ? all.ptr : "", want);
    sn_buf_fini(&all);
}

TEST(page_refs_are_every_url_of_a_page)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"<a href=x>", "L:x"},
        {"<A HREF = 'x&amp;y'>", "L:x&y"},
        {"<img src=a srcset='b 1x, c 2x,d'>", "N:a N:b N:c N:d"},
        {"<link rel=stylesheet href=a><link rel='shortcut icon' href=b><link rel=next "
         "href=c>",
         "N:a N:b L:c"},
        {"<link rel=preload imagesrcset='a 1x' href=b><link href=c>", "N:a N:b L:c"},
        {"<link rel=manifest href=m><link rel=preconnect href=p>", "N:m L:p"},
        {"<script src=a></script><iframe src=b></iframe><frame src=c>", "N:a F:b F:c"},
        {"<video src=a poster=b><source src=c><track src=d></video><audio src=e>",
         "N:a N:b N:c N:d N:e"},
        {"<embed src=a><object data=b><input type=image src=c><body background=d>",
         "N:a N:b N:c N:d"},
        {"<form action=a><button formaction=b><q cite=c>", "L:a L:b L:c"},
        {"<p style='background:url(a)'><p style=\"background:url(&quot;b&quot;)\">",
         "N:a N:b"},
        {"<style>@import 'a'; b{c:url(d)}</style>", "N:a N:d"},
        {"<svg><image href=a /><use xlink:href='b#c'/><a xlink:href=d></svg>",
         "N:a N:b#c L:d"},
        {"<meta http-equiv=refresh content='3; url=a'>", "L:a"},
        {"<base href=/b/>", "B:/b/"},
        /* no tags */
        {"<!-- <a href=x> --><a href=y>", "L:y"},
        {"<!--><a href=y>", "L:y"},
        {"<!-- --!><a href=y>", "L:y"},
        {"<script>'<a href=x>'</script><a href=y>", "L:y"},
        {"<script><!-- <script> </script> <a href=x> --></script><a href=y>", "L:y"},
        {"<title><a href=x></title><textarea><img src=x></textarea><a href=y>", "L:y"},
        {"<style><a href=x></style ><a href=y>", "L:y"},
        {"<noscript><img src=a></noscript>", "N:a"},
        {"< a href=x><a href=y", ""}, /* the page ends inside of the tag */
        {"<a href>", ""},
        {"<a href=x href=z>", "L:x"},
        {"<a title='>' href=x>", "L:x"},
        {"</a href=x><?a href=x><!a href=x><a/href=y>", "L:y"},
        {"<plaintext><a href=x>", ""},
    };

    EACH_ROW(i, rows)
        check_list(SN_FORM_HTML, SEINE_CHARSET_UTF_8, rows[i].page, rows[i].want);
    check_list(SN_FORM_XML, SEINE_CHARSET_UTF_8,
               "<svg><script xlink:href='a'/><![CDATA[<a href='x'>]]><a href='b'/></svg>",
               "N:a L:b");
    check_list(SN_FORM_CSS, SEINE_CHARSET_UTF_8, "a{b:url(c)}", "N:c");
}

TEST(page_refs_come_as_utf8_but_a_query_keeps_its_bytes)
{
    check_list(SN_FORM_HTML, SEINE_CHARSET_WINDOWS_1252, "<a href='caf\xe9?q=\xe9#\xe9'>",
               "L:caf\xc3\xa9?q=%E9#\xc3\xa9");
    check_list(SN_FORM_HTML, SEINE_CHARSET_UTF_8, "<a href='caf\xc3\xa9?q=\xc3\xa9'>",
               "L:caf\xc3\xa9?q=\xc3\xa9");
}

/* Every URL gets an x before it, apart from those that begin with k. */
static bool
change(void *user, const sn_page_ref *r, sn_buf *out)
{
    (void)user;
    if (!out || (r->value.len > 0 && r->value.ptr[0] == 'k'))
        return false;
    sn_buf_char(out, 'x');
    sn_buf_str(out, r->value);
    return true;
}

TEST(page_refs_are_replaced_and_all_other_bytes_stay)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"a<a href=b  c>d", "a<a href=\"xb\"  c>d"},
        {"<a href='k'>\xff\x80<a href=b>\xfe", "<a href='k'>\xff\x80<a href=\"xb\">\xfe"},
        {"<a href='a&amp;b\"'>", "<a href=\"xa&amp;b&quot;\">"},
        {"<img srcset='a 1x, k 2x'>", "<img srcset=\"xa 1x, k 2x\">"},
        {"<p style='a:url(b);c:url(k)'>", "<p style=\"a:url(xb);c:url(k)\">"},
        {"<style>a{b:url('c')}</style>", "<style>a{b:url('xc')}</style>"},
        {"<meta http-equiv=refresh content='3;url=a'>",
         "<meta http-equiv=refresh content=\"3; url=xa\">"},
        {"<base href='/b/' target=c>", "<base href=\"\" target=c>"},
        {"<script src=a integrity=sha256-x crossorigin></script>",
         "<script src=\"xa\" data-integrity=sha256-x data-crossorigin></script>"},
        {"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'\">",
         "<meta data-http-equiv=\"Content-Security-Policy\" content=\"default-src "
         "'self'\">"},
        {"<meta http-equiv=content-type content='text/html'>",
         "<meta http-equiv=content-type content='text/html'>"},
        {"nothing here", "nothing here"},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_page_refs_opts o = {.charset = SEINE_CHARSET_UTF_8, .fn = change};
        sn_buf out;

        sn_buf_init(&out, 10000);
        CHECK_EQ(sn_page_refs(sn_str_of(rows[i].page), &o, &out), SEINE_OK);
        CHECK_STR(out.len > 0 ? out.ptr : "", rows[i].want);
        sn_buf_fini(&out);
    }
}

TEST(page_refs_add_the_charset_of_the_header_to_the_head)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"<!doctype html><html><head id=a><title>b",
         "<!doctype html><html><head id=a><meta charset=\"koi8-r\"><title>b"},
        {"<!doctype html><title>b", "<!doctype html><meta charset=\"koi8-r\"><title>b"},
        {"<html><body>b", "<html><meta charset=\"koi8-r\"><body>b"},
    };

    EACH_ROW(i, rows) {
        sn_page_refs_opts o = {
            .charset = SEINE_CHARSET_KOI8_R, .fn = change, .meta = "koi8-r"};
        sn_buf out;

        sn_buf_init(&out, 10000);
        CHECK_EQ(sn_page_refs(sn_str_of(rows[i].page), &o, &out), SEINE_OK);
        CHECK_STR(out.ptr, rows[i].want);
        sn_buf_fini(&out);
    }
}

TEST(page_refs_know_which_types_name_urls)
{
    sn_page_form form;

    CHECK(sn_page_refs_form(SN_STR("text/html; charset=x"), &form) &&
          form == SN_FORM_HTML);
    CHECK(sn_page_refs_form(SN_STR("Text/CSS"), &form) && form == SN_FORM_CSS);
    CHECK(sn_page_refs_form(SN_STR("image/svg+xml"), &form) && form == SN_FORM_XML);
    CHECK(!sn_page_refs_form(SN_STR("image/png"), &form));
    CHECK(!sn_page_refs_form(SN_STR(""), &form));
}
