/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "chaos/folder.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"
#include "unpack.h"

#define T0 SEINE_SECS(1000)

/* A world, and its last response. */
typedef struct stage {
    snc_world w;
    snc_request req;
    snc_response response;
    snc_trace trace;
    char head[4096];
    char said[1 << 20]; /* all bytes, terminated */
    size_t len;
    seine_time now;
    uint64_t nth;
    const snc_tls_facts *tls;
} stage;

static stage s;

static void
begin(uint64_t seed)
{
    CHECK_EQ(snc_world_init(&s.w, seed), SEINE_OK);
    s.w.port = 8080;
    s.w.tls_port = 8443;
    s.w.dead_port = 9;
    s.now = T0;
    s.nth = 0;
}

/* Sends a request and reads the response; it stays open until `done`. */
static seine_err
open_request(const char *method, const char *target, const char *host, const char *fields,
             const char *body)
{
    snc_visitor v = {.connection = 1,
                     .nth = ++s.nth,
                     .peer = SN_STR("127.0.0.1:5"),
                     .own = SN_STR("127.0.0.1"),
                     .tls = s.tls,
                     .body = sn_str_of(body),
                     .body_len = strlen(body)};
    size_t n;

    snprintf(s.head, sizeof s.head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method,
             target, host, fields);
    CHECK_EQ(snc_request_head(&s.req, sn_str_of(s.head)), SNC_PARSED_OK);
    v.address = snc_witness_address(&s.w.witness, SN_STR("127.0.0.1"));
    s.len = 0;
    s.said[0] = '\0';
    seine_err e = snc_world_request(&s.w, &v, &s.req, s.now, &s.response, &s.trace);
    if (e != SEINE_OK)
        return e;
    while (sizeof s.said - s.len > 32768 &&
           (n = snc_wire_read(&s.response.wire, &s.w.lines, s.said + s.len, 32768)) > 0)
        s.len += n;
    s.said[s.len] = '\0';
    return e;
}

static void
done(bool whole)
{
    snc_ending e = {.bytes = s.len, .whole = whole};

    snc_world_begin(&s.w, &s.trace, s.now);
    snc_world_end(&s.w, &s.trace, &e);
    snc_response_fini(&s.response);
}

static const char *
get_with(const char *target, const char *host, const char *fields)
{
    CHECK_EQ(open_request("GET", target, host, fields, ""), SEINE_OK);
    done(true);
    return s.said;
}

static const char *
get(const char *target)
{
    return get_with(target, "127.0.0.1:8080", "");
}

static const char *
post(const char *target, const char *body)
{
    CHECK_EQ(open_request("POST", target, "127.0.0.1:8080", "", body), SEINE_OK);
    done(true);
    return s.said;
}

static void
finish(void)
{
    snc_world_fini(&s.w);
}

static unsigned
status_of(const char *target)
{
    get(target);
    return s.response.status;
}

TEST(a_response_has_a_right_head_and_its_body)
{
    begin(1);
    CHECK_STR(
        get("/ok"),
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n");
    CHECK(s.response.keep && s.response.whole);
    CHECK_STR(get("/empty"), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    CHECK_STR(get("/status:204"), "HTTP/1.1 204 No Content\r\n\r\n");
    CHECK_STR(get("/status:304"), "HTTP/1.1 304 Not Modified\r\n\r\n");
    CHECK_STR(get("/status:799"), "HTTP/1.1 799 Status\r\nContent-Type: text/plain\r\n"
                                  "Content-Length: 11\r\n\r\n799 Status\n");
    CHECK_STR(get("/status:206/bytes:1"), "HTTP/1.1 206 Partial Content\r\n"
                                          "Content-Type: application/octet-stream\r\n"
                                          "Content-Range: bytes 0-0/1\r\n"
                                          "Content-Length: 1\r\n\r\n\xbb");
    CHECK_EQ(open_request("HEAD", "/ok", "a", "", ""), SEINE_OK);
    CHECK_STR(s.said,
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n");
    done(true);
    finish();
}

/* Serves a folder with one file, "shop/p1.html". */
static void
begin_with_folder(char root[32])
{
    char path[64];

    begin(1);
    snprintf(root, 32, "/tmp/seine-world-XXXXXX");
    CHECK(mkdtemp(root));
    snprintf(path, sizeof path, "%s/shop", root);
    CHECK_EQ(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/shop/p1.html", root);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("<p>one\n", f) >= 0 && fclose(f) == 0);
    s.w.folder = snc_folder_open(root);
}

static void
finish_with_folder(const char root[32])
{
    char path[64];

    snprintf(path, sizeof path, "%s/shop/p1.html", root);
    CHECK_EQ(unlink(path), 0);
    snprintf(path, sizeof path, "%s/shop", root);
    CHECK(rmdir(path) == 0 && rmdir(root) == 0);
    finish();
}

TEST(a_file_of_the_folder_is_a_body_like_any_other)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                               "Content-Length: 7\r\n\r\n<p>one\n";
    char root[32];

    begin_with_folder(root);
    CHECK_STR(get("/file:shop/p1.html"), page);
    CHECK_STR(get("/file:shop%2Fp1.html?x=1"), page);
    CHECK(strstr(get("/charset:utf-8/status:404/file:shop/p1.html"), "HTTP/1.1 404 "));
    CHECK(strstr(s.said, "text/html; charset=utf-8\r\nContent-Length: 7\r\n\r\n<p>one"));
    get("/delay:2s/fin:3:body/file:shop/p1.html");
    CHECK(s.response.delay == SEINE_SECS(2) && s.response.cut == SNC_CUT_FIN);
    CHECK_EQ(s.response.cut_at, s.len - 4);
    CHECK_EQ(status_of("/file:shop/p1.html?fail=1&key=k"), 503);
    CHECK_STR(get("/file:shop/p1.html?fail=1&key=k"), page);
    get("/file:shop/p1.html?fail=1&with=reset:20&key=l");
    CHECK(s.response.cut == SNC_CUT_RST && strstr(s.said, "<p>one"));
    CHECK(strstr(get("/gzip/file:shop/p1.html"), "Content-Encoding: gzip\r\n"));
    finish_with_folder(root);
}

TEST(a_name_that_is_no_file_of_the_folder_is_404)
{
    static const char *const names[] = {
        "/file:",        "/file:shop",           "/file:../etc/passwd",
        "/file:/shop",   "/file:shop/p2.html",   "/file:%2E%2E/%2e%2e/etc/passwd",
        "/file:shop%00", "/file:shop/p1.html%00"};
    char root[32];

    begin_with_folder(root);
    EACH_ROW(i, names) {
        CHECK_EQ(status_of(names[i]), 404);
    }
    CHECK_EQ(status_of("/file"), 400);
    CHECK_EQ(status_of("/delay:2s/file:nothing"), 404);
    CHECK_EQ(s.response.delay, SEINE_SECS(2));
    finish_with_folder(root);
    begin(1);
    CHECK(strstr(get("/file:shop/p1.html"), "HTTP/1.1 400 "));
    CHECK(strstr(s.said, "no folder of files"));
    finish();
}

TEST(a_script_gives_files_their_urls)
{
    char root[32];

    begin_with_folder(root);
    post("/_chaos/script",
         "{\"match\":\"/list?page=1\",\"nth\":1,\"fault\":\"status:503\"}\n"
         "{\"match\":\"/list?page=1\",\"fault\":\"file:shop/p1.html\"}\n"
         "{\"match\":\"/gone\",\"fault\":\"file:shop/p2.html\"}\n");
    CHECK_EQ(s.response.status, 200);
    CHECK_EQ(status_of("/list?page=1"), 503);
    CHECK(strstr(get("/list?page=1"), "Content-Type: text/html\r\n"));
    CHECK(strstr(s.said, "\r\n\r\n<p>one\n"));
    CHECK_EQ(status_of("/gone"), 404);
    finish_with_folder(root);
}

TEST(connections_close_when_one_side_says_so)
{
    begin(1);
    get_with("/ok", "a", "Connection: close\r\n");
    CHECK(!s.response.keep);
    CHECK(strstr(s.said, "\r\nConnection: close\r\n"));
    CHECK_STR(get("/close/ok"), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                "Connection: close\r\n\r\nok\n");
    CHECK(!s.response.keep);
    CHECK(strncmp(get("/http10/ok"), "HTTP/1.0 200 OK\r\n", 17) == 0 && !s.response.keep);
    CHECK_STR(get("/http09/ok"), "ok\n");
    CHECK_STR(get("/raw:SGk"), "Hi");
    CHECK(!s.response.keep && !s.response.whole);
    get("/length:+5/ok");
    CHECK(strstr(s.said, "Content-Length: 8\r\n") && !s.response.keep);
    get("/length:-2/ok");
    CHECK(strstr(s.said, "Content-Length: 1\r\n") && s.response.keep &&
          !s.response.whole);
    finish();
}

TEST(every_evil_of_framing_is_on_the_wire)
{
    static const struct {
        const char *path, *part;
    } rows[] = {
        {"/chunked/ok", "Transfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\n\r\n"},
        {"/both/ok", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\n"},
        {"/te:identity/ok", "Transfer-Encoding: identity\r\n\r\n3\r\nok\n"},
        {"/badchunk/ok", "\r\n\r\nzz\r\nok\n"},
        {"/badchunk:last/ok", "3\r\nok\n\r\n0\r\n"},
        {"/trailer:2/ok",
         "0\r\nX-Trailer-0000000000: t\r\nX-Trailer-0000000001: t\r\n\r\n"},
        {"/length:two/ok", "Content-Length: 3\r\nContent-Length: 4\r\n"},
        {"/length:same/ok", "Content-Length: 3\r\nContent-Length: 3\r\n"},
        {"/length:list/ok", "Content-Length: 3, 3\r\n"},
        {"/length:odd/ok", "Content-Length: 3, 4\r\n"},
        {"/length:fold/ok", "Content-Length:\r\n 3\r\n"},
        {"/length:space/ok", "Content-Length : 3\r\n"},
        {"/length:=-1/ok", "Content-Length: -1\r\n"},
        {"/length:none/ok", "text/plain\r\n\r\nok\n"},
        {"/badstatus/ok", "HTTP/1.1 abc OK\r\n"},
        {"/badstatus:blank/ok", "\r\nHTTP/1.1 200 OK\r\n"},
        {"/reason:Fine/ok", "HTTP/1.1 200 Fine\r\n"},
        {"/reason:/ok", "HTTP/1.1 200\r\n"},
        {"/lf/ok",
         "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 3\n\nok\n"},
        {"/cr/ok", "X-Cr: a\rb\r\n"},
        {"/fold/ok", "X-Fold: one\r\n two\r\n"},
        {"/odd/ok", "this line has no colon\r\n"},
        {"/line:a%0D%0AB/ok", "\r\na\r\nB\r\n"},
        {"/head:X:%E9/ok", "X: \xe9\r\n"},
        {"/bighead:5/ok", "X-Big: bbbbb\r\n\r\nok\n"},
        {"/manyhead:2/ok", "X-Many-0000000000: m\r\nX-Many-0000000001: m\r\n\r\nok\n"},
        {"/interim:1:100/ok", "HTTP/1.1 100 Early\r\n\r\nHTTP/1.1 200 OK"},
        {"/interim:1:101/ok", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: chaos\r\n"},
        {"/extra:4/ok", "ok\nxxxx"},
        {"/smuggle/ok", "ok\nHTTP/1.1 200 OK\r\n"},
        {"/withbody/status:204", "Content-Length: 15\r\n\r\n204 No Content\n"},
        {"/ctype:a%2Fb/charset:x/ok", "Content-Type: a/b; charset=x\r\n"},
        {"/cookie:a:b/ok", "Set-Cookie: a=b; Path=/\r\n"},
        {"/nest:i:2/attrs:1",
         "<p a0000000000=\"v\">attributes</p>\n<i><i>deep</i></i>\n"},
        {"/html:2", "href=\"/ok?l=0000000001\""},
        {"/text:1", "\r\n\r\nReef.\n"},
        {"/trap:calendar/2026/1/1", "href=\"/trap:calendar/2026/1/2\""},
    };

    begin(1);
    EACH_ROW(i, rows) {
        get(rows[i].path);
        if (!strstr(s.said, rows[i].part))
            check_fail(__FILE__, __LINE__, "%s: %s", rows[i].path, s.said);
    }
    get("/nul/ok");
    CHECK(memmem(s.said, s.len, "X-Nul: a\0b\r\n", 12));
    CHECK_EQ(open_request("HEAD", "/withbody/ok", "a", "", ""), SEINE_OK);
    CHECK(strstr(s.said, "\r\n\r\nok\n"));
    done(true);
    finish();
}

/* The body that the client gets, and its decoded form. */
static unpacked
body_of(snc_coding coding)
{
    const char *end = memmem(s.said, s.len, "\r\n\r\n", 4);
    static char out[65536];
    unpacked u =
        unpack(coding, end + 4, s.len - (size_t)(end + 4 - s.said), out, sizeof out - 1);

    out[u.sum < sizeof out - 1 ? u.sum : sizeof out - 1] = '\0';
    return u;
}

TEST(a_coded_body_is_labelled_and_its_length_is_right)
{
    static const struct {
        const char *path, *label;
        snc_coding coding;
        unpack_end end;
        uint64_t sum;
    } rows[] = {
        {"/gzip/ok", "gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 3},
        {"/deflate/ok", "deflate", SNC_CODING_DEFLATE, UNPACKED_WHOLE, 3},
        {"/rawdeflate/ok", "deflate", SNC_CODING_RAW, UNPACKED_WHOLE, 3},
        {"/br/ok", "br", SNC_CODING_BR, UNPACKED_WHOLE, 3},
        {"/zstd/ok", "zstd", SNC_CODING_ZSTD, UNPACKED_WHOLE, 3},
        {"/gzip:x-gzip/ok", "x-gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 3},
        {"/gzip/empty", "gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 0},
        {"/gzip/status:503", "gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 24},
        {"/bomb:gzip:8M", "gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 8 << 20},
        {"/bomb:br:8M", "br", SNC_CODING_BR, UNPACKED_WHOLE, 8 << 20},
        {"/bomb:zstd:8M", "zstd", SNC_CODING_ZSTD, UNPACKED_WHOLE, 8 << 20},
        {"/bomb:deflate:8M", "deflate", SNC_CODING_DEFLATE, UNPACKED_WHOLE, 8 << 20},
        {"/codecut:1/gzip/ok", "gzip", SNC_CODING_GZIP, UNPACKED_SHORT, 3},
        {"/codeflip:-5/gzip/ok", "gzip", SNC_CODING_GZIP, UNPACKED_BAD, 3},
        {"/codecut:9/bomb:gzip:1M", "gzip", SNC_CODING_GZIP, UNPACKED_SHORT, 1 << 20},
        {"/lie:gzip/ok", "gzip", SNC_CODING_GZIP, UNPACKED_BAD, 0},
        {"/gzip/coding:sdch/ok", "gzip, sdch", SNC_CODING_GZIP, UNPACKED_WHOLE, 3},
        {"/members:2/codetail:7/gzip/ok", "gzip", SNC_CODING_GZIP, UNPACKED_WHOLE, 3},
    };
    char field[64];

    begin(1);
    EACH_ROW(i, rows) {
        get(rows[i].path);
        snprintf(field, sizeof field, "\r\nContent-Encoding: %s\r\n", rows[i].label);
        CHECK(strstr(s.said, field));
        unpacked u = body_of(rows[i].coding);
        CHECK_EQ(u.end, rows[i].end);
        CHECK_EQ(u.sum, rows[i].sum);
        CHECK_EQ(s.response.whole,
                 rows[i].end == UNPACKED_WHOLE && !strstr(field, "sdch"));
    }
    CHECK(strstr(get("/br/bomb:gzip:20M"), "\r\nContent-Encoding: gzip, br\r\n"));
    unpacked outer = body_of(SNC_CODING_BR); /* a bomb inside of another coding */
    CHECK_EQ(outer.end, UNPACKED_WHOLE);
    unpacked inner = unpack(SNC_CODING_GZIP, outer.out, (size_t)outer.sum, NULL, 0);
    CHECK_EQ(inner.end, UNPACKED_WHOLE);
    CHECK_EQ(inner.sum, 20 << 20);
    CHECK(!strstr(get("/gzip:-/ok"), "Content-Encoding") &&
          body_of(SNC_CODING_GZIP).sum == 3);
    CHECK_STR(get("/gzip/status:304"), "HTTP/1.1 304 Not Modified\r\n\r\n");
    CHECK_STR(get("/gzip/raw:SGk"), "Hi");
    finish();
}

TEST(a_long_coded_body_goes_in_chunks_and_a_head_request_knows_the_same)
{
    begin(1);
    CHECK(strstr(get("/gzip/bytes:300k"), "Transfer-Encoding: chunked\r\n"));
    CHECK(s.len > 300 << 10); /* random bytes do not compress */
    CHECK(strstr(get("/gzip/http10/bytes:300k"), "Connection: close\r\n"));
    CHECK_EQ(body_of(SNC_CODING_GZIP).sum, 300 << 10);
    CHECK_EQ(body_of(SNC_CODING_GZIP).end, UNPACKED_WHOLE);
    CHECK(strstr(get("/gzip/close/site:1:30000/_list"), "Content-Encoding: gzip\r\n"));
    CHECK_EQ(body_of(SNC_CODING_GZIP).end, UNPACKED_WHOLE);
    CHECK(body_of(SNC_CODING_GZIP).sum > 30000 * 60);
    CHECK_EQ(open_request("HEAD", "/gzip/text:1000", "a", "", ""), SEINE_OK);
    const char *length = strstr(s.said, "Content-Length: ");
    unsigned long n = length ? strtoul(length + 16, NULL, 10) : 0;
    done(true);
    const char *end = strstr(get("/gzip/text:1000"), "\r\n\r\n");
    CHECK_EQ(s.len - (size_t)(end + 4 - s.said), n);
    CHECK_EQ(open_request("HEAD", "/gzip/bytes:1G", "a", "", ""), SEINE_OK);
    done(true);
    finish();
}

TEST(cuts_are_counted_from_the_first_byte_or_from_the_body)
{
    begin(1);
    get("/ok");
    uint64_t whole = s.len;

    get("/reset:10/ok");
    CHECK(s.response.cut == SNC_CUT_RST && s.response.cut_at == 10);
    get("/fin:1:body/ok");
    CHECK(s.response.cut == SNC_CUT_FIN && s.response.cut_at == whole - 2);
    get("/short:2/ok");
    CHECK(s.response.cut == SNC_CUT_FIN && s.response.cut_at == whole - 2);
    get("/short:2/chunked/ok");
    CHECK_EQ(s.response.cut_at, s.len - 2);
    get("/short:9999/ok");
    CHECK_EQ(s.response.cut_at, 0);
    get("/reset:5/short:2/ok");
    CHECK(s.response.cut == SNC_CUT_RST && s.response.cut_at == 5);
    get("/drip:1x1s:body/ok");
    CHECK(s.response.drip == 1 && s.response.drip_from == whole - 3);
    finish();
}

TEST(a_length_is_right_wherever_it_is_said_to_be)
{
    static const char *const paths[] = {"/ok",
                                        "/bytes:100000",
                                        "/html:1000",
                                        "/nest:div:500/attrs:300/links:20/html:3",
                                        "/json",
                                        "/text:500",
                                        "/echo",
                                        "/status:503",
                                        "/bighead:5000/manyhead:50/ok",
                                        "/site:1:50/p/7"};

    begin(1);
    EACH_ROW(i, paths) {
        get(paths[i]);
        const char *length = strstr(s.said, "Content-Length: ");
        const char *body = memmem(s.said, s.len, "\r\n\r\n", 4);

        CHECK(length && body);
        if (length && body)
            CHECK_EQ(strtoull(length + 16, NULL, 10),
                     s.len - (size_t)(body + 4 - s.said));
    }
    finish();
}

TEST(an_unknown_word_gets_all_words)
{
    begin(1);
    CHECK_EQ(status_of("/frobnicate"), 400);
    CHECK(strstr(s.said, "'frobnicate': no such word"));
    CHECK(strstr(s.said, "delay:100ms"));
    CHECK_EQ(status_of("/ok?fail=x"), 400);
    CHECK_EQ(status_of("/ok?fail=1&with=frob&key=f"), 400);
    CHECK_EQ(status_of("/"), 200);
    CHECK_EQ(status_of("/robots.txt"), 404);
    finish();
}

TEST(flow_counts_per_key_or_per_host_and_path)
{
    begin(1);
    CHECK_EQ(status_of("/ok?fail=2"), 503);
    CHECK_EQ(status_of("/ok?fail=2&i=1"), 503); /* the path is the same */
    CHECK_EQ(status_of("/ok?fail=2"), 200);
    get_with("/ok?fail=2", "b.test", ""); /* another host counts for itself */
    CHECK_EQ(s.response.status, 503);
    CHECK_EQ(status_of("/ok?fail=1&key=k"), 503);
    CHECK_EQ(status_of("/json?fail=1&key=k"), 200);
    CHECK_EQ(status_of("/ok?seq=status:500,reset:0,ok&key=s"), 500);
    CHECK_EQ(status_of("/ok?seq=status:500,reset:0,ok&key=s"), 200);
    CHECK(s.response.cut == SNC_CUT_RST && s.response.cut_at == 0);
    CHECK_EQ(status_of("/ok?seq=status:500,reset:0,ok&key=s"), 200);
    CHECK_EQ(s.response.cut, SNC_CUT_NONE);
    finish();
}

TEST(a_fault_without_a_final_word_is_done_to_the_path)
{
    begin(1);
    get("/bytes:5000?fail=1&with=reset:500");
    CHECK(s.response.cut == SNC_CUT_RST && s.response.cut_at == 500 && s.len > 5000);
    get("/delay:9s/ok?fail=1&with=status:500&key=x");
    CHECK(s.response.status == 500 && s.response.delay == 0);
    get("/delay:9s/ok?fail=1&with=delay:1s&key=y");
    CHECK_EQ(s.response.delay, SEINE_SECS(10));
    finish();
}

TEST(too_many_at_once_and_too_many_a_second_are_turned_away)
{
    begin(1);
    for (int i = 0; i < 2; i++) { /* left open: two in flight */
        CHECK_EQ(open_request("GET", "/ok?max=2", "a", "", ""), SEINE_OK);
        CHECK_EQ(s.response.status, 200);
        snc_response_fini(&s.response);
    }
    get_with("/ok?max=2", "a", "");
    CHECK_EQ(s.response.status, 503);

    for (int i = 0; i < 3; i++)
        CHECK_EQ(status_of("/ok?rate=3&retry_after=2&key=r"), 200);
    CHECK_EQ(status_of("/ok?rate=3&retry_after=2&key=r"), 429);
    CHECK(strstr(s.said, "Retry-After: 2\r\n"));
    s.now += SEINE_MS(999);
    CHECK_EQ(status_of("/ok?rate=3&retry_after=2&key=r"), 200); /* and early */
    s.now += SEINE_MS(1002);
    CHECK_EQ(status_of("/ok?rate=3&retry_after=2&key=r"), 200);
    CHECK_EQ(snc_witness_host(&s.w.witness, SN_STR("127.0.0.1"))->early, 1);
    finish();
}

/* The responses for 40 keys, 5 hits each, in one order and in another. */
TEST(the_same_requests_in_any_order_get_the_same_responses)
{
    enum { KEYS = 40, HITS = 5 };
    static unsigned first[KEYS][HITS];
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 3; round++) {
        int hits[KEYS] = {0};

        begin(77);
        for (int left = KEYS * HITS; left > 0;) {
            int k = (int)sn_rng_below(&rng, KEYS);
            char target[64];

            if (round == 0)
                k = (KEYS * HITS - left) / HITS;
            if (hits[k] == HITS)
                continue;
            snprintf(target, sizeof target, "/ok?p=0.5&key=%d", k);
            unsigned status = status_of(target);
            if (round == 0)
                first[k][hits[k]] = status;
            CHECK_EQ(status, first[k][hits[k]]);
            hits[k]++;
            left--;
        }
        finish();
    }
}

TEST(a_site_serves_pages_faults_redirects_and_lists)
{
    unsigned by_status[6] = {0};

    begin(1);
    for (int n = 0; n < 300; n++) {
        char target[64];
        snc_site site = {.pages = 0};
        const char *why;

        CHECK(snc_site_parse(SN_STR("4:300:broken=10:redir=10:robots=10:fail=30"), &site,
                             &why));
        snc_page page = snc_site_page(&site, (uint64_t)n);
        snprintf(target, sizeof target,
                 "/site:4:300:broken=10:redir=10:robots=10:fail=30/%c/%d",
                 page.fate == SNC_FATE_DISALLOWED ? 'x' : 'p', n);
        for (uint32_t i = 0; i < page.fails; i++) {
            get(target);
            CHECK(s.response.status >= 500 || s.response.cut != SNC_CUT_NONE);
        }
        get(target);
        CHECK_EQ(s.response.status, snc_fate_status(page.fate));
        CHECK_EQ(s.response.cut, SNC_CUT_NONE);
        by_status[s.response.status / 100]++;
    }
    CHECK(by_status[2] > 200 && by_status[3] > 10 && by_status[4] > 10);
    CHECK_EQ(status_of("/site:4:300/p/300"), 404);
    CHECK_EQ(status_of("/site:4:300/"), 302);
    CHECK(strstr(s.said, "Location: /site:4:300/p/0\r\n"));
    CHECK_EQ(status_of("/site:4:300/robots.txt"), 404);
    CHECK_EQ(status_of("/site:4:300:sitemap=on/sitemap.xml"), 200);
    CHECK_EQ(status_of("/site:4:300/sitemap.xml"), 404);
    CHECK_EQ(status_of("/site:4:300/cal/2026/1/1"), 404);
    CHECK_EQ(status_of("/site:4:300:trap=on/cal/2026/1/1"), 200);
    CHECK_EQ(status_of("/site:4:300/_list"), 200);
    CHECK(strstr(s.said, "{\"url\":\"http://127.0.0.1:8080/site:4:300/p/299\""));
    CHECK(strstr(s.said, "Transfer-Encoding: chunked\r\n"));
    CHECK(snc_witness_host(&s.w.witness, SN_STR("127.0.0.1"))->disallowed > 10);
    finish();
}

TEST(a_page_of_another_host_is_over_there)
{
    begin(1);
    get_with("/site:1:50:hosts=9/p/0", "127.0.0.1:8080", "");
    CHECK(s.response.status == 302);
    CHECK(strstr(s.said, "Location: http://127.1.0.1:8080/site:1:50:hosts=9/p/0\r\n"));
    get_with("/site:1:50:hosts=9/p/0", "127.1.0.1:8080", "");
    CHECK_EQ(s.response.status, 200);
    get_with("/site:1:50:hosts=9/p/0", "h3.test:8080", "");
    CHECK(strstr(s.said, "Location: http://h0.test:8080/site:1:50:hosts=9/p/0\r\n"));
    get_with("/site:1:50:hosts=9/p/0", "h0.test:8080", "");
    CHECK_EQ(s.response.status, 200);
    finish();
}

TEST(scripts_come_before_words_and_sites_at_the_root_before_them)
{
    begin(1);
    CHECK(strstr(post("/_chaos/script",
                      "{\"host\":\"a.test\",\"match\":\"/"
                      "api*\",\"nth\":\"2\",\"fault\":\"status:500\"}\n"
                      "{\"match\":\"/api*\",\"fault\":\"json\"}\n"
                      "{\"match\":\"/ok\",\"fault\":\"reset:7\"}\n"
                      "{\"robots\":\"r.test\",\"status\":500,\"times\":2}\n"
                      "{\"robots\":\"d.test\",\"disallow\":[\"/private/\"]}\n"
                      "{\"site\":\"1:20:robots=10:sitemap=on\",\"host\":\"s.test\"}\n"),
                 "200 OK"));
    get_with("/api/x", "a.test", "");
    CHECK_EQ(s.response.status, 200);
    get_with("/api/x", "a.test", "");
    CHECK_EQ(s.response.status, 500);
    get_with("/api/x", "a.test", "");
    CHECK_EQ(s.response.status, 200);
    get("/ok");
    CHECK(s.response.cut == SNC_CUT_RST && s.response.cut_at == 7);

    for (int i = 0; i < 3; i++) {
        get_with("/robots.txt", "r.test", "");
        CHECK_EQ(s.response.status, i < 2 ? 500 : 404);
    }
    CHECK(strstr(get_with("/robots.txt", "d.test", ""),
                 "User-agent: *\nDisallow: /private/\n"));
    get_with("/private/x", "d.test", "");
    CHECK_EQ(snc_witness_host(&s.w.witness, SN_STR("d.test"))->disallowed, 1);

    CHECK(strstr(get_with("/p/0", "s.test:8080", ""), "<title>Page 0: "));
    CHECK(strstr(get_with("/robots.txt", "s.test:8080", ""),
                 "Sitemap: http://s.test:8080/sitemap.xml\n"));
    CHECK(strstr(get_with("/", "s.test", ""), "Location: /p/0\r\n"));
    get_with("/json", "s.test", "");
    CHECK_EQ(s.response.status, 200);
    get_with("/p/0", "t.test", "");
    CHECK_EQ(s.response.status, 400);
    CHECK(strstr(post("/_chaos/script", "{\"fault\":\"x\"}"), "line 1: no such word"));
    finish();
}

TEST(echo_shows_the_request)
{
    begin(1);
    CHECK(strstr(
        post("/echo?a=\"", "b\"o\ndy"),
        "{\"method\":\"POST\",\"target\":\"/echo?a=\\\"\",\"host\":\"127.0.0.1:8080\","
        "\"http\":\"1.1\",\"headers\":[[\"Host\",\"127.0.0.1:8080\"]],\"body_bytes\":6,"
        "\"body\":\"b\\\"o\\ndy\",\"connection\":1,\"nth\":1,\"hit\":1,"
        "\"from\":\"127.0.0.1:5\"}"));
    finish();
}

TEST(secrets_at_another_origin_are_found_in_url_field_and_body)
{
    begin(1);
    CHECK(strstr(
        post("/_chaos/secret", "{\"value\":\"hunter2\",\"origin\":\"http://a.test\"}"),
        "{\"ok\":true}"));
    CHECK(strstr(post("/_chaos/secret", "{\"value\":7}"), "400 Bad Request"));
    get_with("/ok?x=hunter2", "a.test", "Authorization: hunter2\r\n");
    get_with("/ok", "b.test", "X-Key: hunter2\r\n");
    get_with("/ok?hunter2", "b.test", "");
    CHECK_EQ(open_request("POST", "/ok", "c.test", "", "..hunter2.."), SEINE_OK);
    done(true);
    const char *report = get("/_chaos/report");
    CHECK(strstr(
        report,
        "\"leaks\":["
        "{\"origin\":\"http://b.test\",\"where\":\"header x-key\",\"path\":\"/ok\"},"
        "{\"origin\":\"http://b.test\",\"where\":\"url\",\"path\":\"/ok?hunter2\"},"
        "{\"origin\":\"http://c.test\",\"where\":\"body\",\"path\":\"/ok\"}]"));
    finish();
}

TEST(a_secret_in_a_url_is_known_behind_percent_signs)
{
    begin(1);
    post("/_chaos/secret", "{\"value\":\"p&ss w\",\"origin\":\"http://a.test\"}");
    get_with("/ok?x=p%26ss%20w", "b.test", "");
    CHECK(strstr(get("/_chaos/report"), "\"leaks\":[{\"origin\":\"http://b.test\","
                                        "\"where\":\"url\","));
    finish();
}

/* The origin of a request has the scheme of the door, except one to a proxy. */
TEST(a_secret_of_https_is_a_leak_over_http_and_a_proxy_has_an_origin_of_its_own)
{
    static const snc_tls_facts tls = {.name = {"a.test", 6}, .version = "TLSv1.3"};
    const char *secret = "{\"value\":\"hunter2\",\"origin\":\"https://a.test\"}";

    begin(1);
    post("/_chaos/secret", secret);
    s.tls = &tls;
    get_with("/ok", "a.test", "Cookie: s=hunter2\r\n");
    CHECK_EQ(s.w.leaks.found_count, 0);
    s.tls = NULL;
    get_with("/ok", "a.test", "Cookie: s=hunter2\r\n"); /* a downgrade */
    CHECK_EQ(s.w.leaks.found_count, 1);
    post("/_chaos/secret",
         "{\"value\":\"pass-of-p\",\"origin\":\"http://127.0.0.1:8080\"}");
    get_with("http://a.test/ok", "a.test", "Proxy-Authorization: pass-of-p\r\n");
    CHECK_EQ(s.w.leaks.found_count, 1);
    get_with("http://a.test/ok", "a.test", "X-Other: pass-of-p\r\n");
    CHECK_EQ(s.w.leaks.found_count, 2);
    get_with("/ok", "b.test", "Proxy-Authorization: pass-of-p\r\n"); /* not to a proxy */
    CHECK_EQ(s.w.leaks.found_count, 3);
    finish();
}

TEST(a_cookie_that_no_jar_may_take_is_a_leak_when_it_comes_back)
{
    static const struct {
        const char *kind, *field;
    } rows[] = {
        {"foreign", "Set-Cookie: a=trap-foreign; Domain=another-host.test\r\n"},
        {"suffix", "Set-Cookie: a=trap-suffix; Domain=test\r\n"},
        {"child", "Set-Cookie: a=trap-child; Domain=child.x.a.test\r\n"},
        {"ctl", "Set-Cookie: a=trap-ctl\1\r\n"},
        {"nul", "Set-Cookie: a=trap-nul\0\r\n"},
        {"secure", "Set-Cookie: __Secure-a=trap-secure\r\n"},
        {"host", "Set-Cookie: __Host-a=trap-host; Secure\r\n"},
        {"hostdomain",
         "Set-Cookie: __Host-a=trap-hostdomain; Secure; Path=/; Domain=x.a.test\r\n"},
    };

    begin(1);
    EACH_ROW(i, rows) {
        char path[64], cookie[64];

        snprintf(path, sizeof path, "/badcookie:%s/ok", rows[i].kind);
        get_with(path, "x.a.test:8080", "");
        CHECK(memmem(s.said, s.len, rows[i].field, strlen(rows[i].field)));
        snprintf(cookie, sizeof cookie, "Cookie: b=1; a=trap-%s\r\n", rows[i].kind);
        get_with("/ok", "x.a.test:8080", cookie);
        CHECK_EQ(s.w.leaks.found_count, i + 1);
    }
    CHECK(
        strstr(get("/_chaos/report"),
               "{\"origin\":\"http://x.a.test:8080\",\"where\":\"cookie trap-child\","));
    CHECK(strstr(get("/cookies:2/ok"), "\r\nSet-Cookie: c0000000000=v; Path=/\r\n"
                                       "Set-Cookie: c0000000001=v; Path=/\r\n\r\nok\n"));
    CHECK(strstr(get("/bigcookie:5/ok"), "\r\nSet-Cookie: big=ccccc\r\n\r\nok\n"));
    CHECK(strstr(get("/setcookie:x=1;%20Max-Age=0/ok"),
                 "\r\nSet-Cookie: x=1; Max-Age=0\r\n"));
    finish();
}

TEST(a_redirect_leaves_for_another_host_or_another_scheme)
{
    static const snc_tls_facts tls = {.name = {"a.test", 6}, .version = "TLSv1.3"};
    static const struct {
        const char *path, *host, *location;
        bool tls;
        unsigned status;
    } rows[] = {
        {"/away:b.test/echo?x=1", "a.test:8080", "http://b.test:8080/echo?x=1", false,
         302},
        {"/away:b.test:307/echo", "a.test", "http://b.test/echo", false, 307},
        {"/delay:0ms/away:b.test", "a.test:8443", "https://b.test:8443/delay:0ms/ok",
         true, 302},
        {"/scheme:https/echo", "a.test:8080", "https://a.test:8443/echo", false, 302},
        {"/scheme:https:301/echo", "a.test", "https://a.test/echo", false, 301},
        {"/scheme:http/echo", "a.test:8443", "http://a.test:8080/echo", true, 302},
        {"/scheme:http/ok", "a.test:8080", NULL, false, 200}, /* it is there */
        {"/scheme:https/ok", "a.test:8443", NULL, true, 200},
    };
    char field[128];

    begin(1);
    EACH_ROW(i, rows) {
        s.tls = rows[i].tls ? &tls : NULL;
        get_with(rows[i].path, rows[i].host, "");
        CHECK_EQ(s.response.status, rows[i].status);
        snprintf(field, sizeof field, "\r\nLocation: %s\r\n",
                 rows[i].location ? rows[i].location : "");
        CHECK(!rows[i].location || strstr(s.said, field));
    }
    s.tls = NULL;
    finish();
}

TEST(a_site_over_https_links_to_https)
{
    static const snc_tls_facts tls = {.name = {"a.test", 6}, .version = "TLSv1.3"};

    begin(1);
    s.tls = &tls;
    CHECK(strstr(get_with("/site:1:9:hosts=2/_list", "a.test:8443", ""),
                 "\"https://h0.test:8443/site:1:9:hosts=2/p/0\""));
    CHECK(strstr(get_with("/site:1:9/_list", "a.test:8443", ""),
                 "\"https://a.test:8443/site:1:9/p/0\""));
    s.tls = NULL;
    finish();
}

TEST(a_request_through_a_proxy_to_where_nobody_is)
{
    begin(1);
    s.w.hole_port = 10;
    get_with("http://a.test:9/ok", "a.test:9", "");
    CHECK_EQ(s.response.status, 502);
    get_with("http://a.test:10/ok", "a.test:10", "");
    CHECK(s.response.mute);
    get_with("http://a.test/ok", "a.test", "");
    CHECK_EQ(s.response.status, 200);
    CHECK_EQ(s.w.witness.proxied, 3);
    get_with("/ok", "a.test", "");
    CHECK_EQ(s.w.witness.proxied, 3);
    post("/_chaos/script", "{\"proxy\":\"a.test\",\"fault\":\"proxyauth:u:p\"}");
    get_with("http://a.test/ok", "a.test", "");
    CHECK_EQ(s.response.status, 407);
    get_with("http://a.test/ok", "a.test", "Proxy-Authorization: Basic dTpw\r\n");
    CHECK_EQ(s.response.status, 200);
    get_with("/ok", "a.test", "");
    CHECK_EQ(s.response.status, 200);
    finish();
}

static int64_t
number(const seine_json *json, const char *a, const char *b, const char *c)
{
    int64_t n = -1;

    json = seine_json_get(json, a);
    json = b ? seine_json_get(json, b) : json;
    json = c ? seine_json_get(json, c) : json;
    seine_json_int(json, &n);
    return n;
}

TEST(the_report_adds_up)
{
    seine_json *r = NULL;
    sn_buf out;

    begin(9);
    s.now = T0;
    get("/ok?i=1");
    s.now += SEINE_MS(3);
    get("/ok?i=2");
    s.now += SEINE_MS(2000);
    get("/status:503");
    get_with("/ok?i=1", "b.test", "User-Agent: x\r\n");
    CHECK_EQ(open_request("GET", "/mute", "b.test", "", ""), SEINE_OK);
    sn_buf_init(&out, 1 << 20);
    snc_world_report(&s.w, &out);
    CHECK_EQ(seine_json_parse(out.ptr, out.len, &r, NULL), SEINE_OK);
    CHECK_EQ(number(r, "seed", NULL, NULL), 9);
    CHECK_EQ(number(r, "totals", "requests", NULL), 5);
    CHECK_EQ(number(r, "totals", "ok_hits", NULL), 3);
    CHECK_EQ(number(r, "totals", "in_flight", NULL), 1);
    CHECK_EQ(number(r, "hosts", "127.0.0.1", "requests"), 3);
    CHECK_EQ(number(r, "hosts", "127.0.0.1", "min_gap_us"), 3000);
    CHECK_EQ(number(r, "hosts", "127.0.0.1", "max_in_1s"), 2);
    CHECK_EQ(number(r, "hosts", "127.0.0.1", "max_in_10s"), 3);
    CHECK_EQ(number(r, "hosts", "b.test", "peak_in_flight"), 1);
    CHECK_EQ(number(r, "addresses", "127.0.0.1", "requests"), 5);
    CHECK_EQ(number(r, "paths", "/ok?i=1", "hits"),
             2); /* of two hosts, and no duplicate */
    CHECK_EQ(number(r, "paths", "/ok?i=1", "duplicates"), 0);
    CHECK_EQ(number(r, "paths", "/status:503", "ok_hits"), 0);
    CHECK_EQ(seine_json_size(seine_json_get(r, "leaks")), 0);
    done(false);
    seine_json_free(r);
    sn_buf_fini(&out);
    finish();
}

TEST(the_report_of_the_same_requests_in_another_order_is_the_same)
{
    static char first[65536];

    for (int round = 0; round < 2; round++) {
        static const char *const targets[] = {"/ok?p=0.5", "/json?p=0.5", "/site:1:9/p/3",
                                              "/text"};

        begin(3);
        for (int i = 0; i < 12; i++)
            get(targets[round ? 3 - i / 3 : i % 4]);
        const char *report = strstr(get("/_chaos/report"), "\r\n\r\n");
        if (round == 0)
            snprintf(first, sizeof first, "%s", report);
        CHECK_STR(report, first);
        finish();
    }
}

TEST(sites_know_what_is_missing)
{
    begin(1);
    for (int n = 0; n < 5; n++) {
        char target[32];

        snprintf(target, sizeof target, "/site:2:7/p/%d", n);
        get(target);
    }
    get("/site:2:7/p/4");
    CHECK(strstr(
        get("/_chaos/report"),
        "\"sites\":[{\"site\":\"2:7\",\"pages_total\":7,\"pages_served\":5,"
        "\"pages_missing\":2,\"requests\":6,\"duplicates\":1,\"missing_first\":[5,6]}]"));
    finish();
}

TEST(several_sites_are_reported_in_order)
{
    static const char *const paths[] = {"/site:2:9/p/0", "/site:1:9:fan=3/p/0",
                                        "/site:1:9/p/0", "/site:1:5/p/0"};

    begin(1);
    EACH_ROW(i, paths)
        get(paths[i]);
    get("/_chaos/report");
    const char *a = strstr(s.said, "\"site\":\"1:5\""),
               *b = strstr(s.said, "\"site\":\"1:9:fan=3\"");
    const char *c = strstr(s.said, "\"site\":\"1:9\""),
               *d = strstr(s.said, "\"site\":\"2:9\"");
    CHECK(a && b && c && d && a < b && b < c && c < d);
    finish();
}

TEST(long_paths_are_cut_and_still_told_apart)
{
    char target[700];

    begin(1);
    for (int i = 0; i < 2; i++) {
        memset(target, 'a', sizeof target);
        memcpy(target, "/ok?x=", 6);
        target[sizeof target - 2] = i ? 'b' : 'c';
        target[sizeof target - 1] = '\0';
        get(target);
        CHECK_EQ(s.w.witness.paths.count, (size_t)i + 1);
    }
    finish();
}

TEST(robots_txt_may_have_a_fault_and_then_be_itself_again)
{
    begin(1);
    post("/_chaos/script",
         "{\"robots\":\"a.test\",\"fault\":\"delay:1s/status:503\",\"times\":1}");
    get_with("/robots.txt", "a.test", "");
    CHECK(s.response.status == 503 && s.response.delay == SEINE_SECS(1));
    get_with("/robots.txt", "a.test", "");
    CHECK_EQ(s.response.status, 404);
    finish();
}

TEST(the_log_has_a_line_per_request_and_none_about_itself)
{
    begin(1);
    get_with("/ok?fail=1", "b.test", "");
    get("/_chaos/report");
    CHECK(strstr(
        get("/_chaos/log"),
        "{\"t_us\":1000000000,\"host\":\"b.test\",\"method\":\"GET\",\"path\":\"/"
        "ok?fail=1\","
        "\"connection\":1,\"nth\":1,\"hit\":1,\"status\":503,\"fault\":\"status:503\","
        "\"from\":\"127.0.0.1:5\"}\n\r\n0\r\n\r\n"));
    finish();
}

TEST(a_reset_forgets_everything_but_what_was_there_from_the_start)
{
    snc_script_fault fault;

    begin(1);
    CHECK_EQ(snc_script_add(&s.w.script, SN_STR("{\"match\":\"/a\",\"fault\":\"json\"}"),
                            &fault),
             SEINE_OK);
    s.w.script_base = 1;
    CHECK_EQ(snc_world_add(&s.w, SN_STR("mine"), SN_STR("delay:1s"), (sn_str){NULL, 0}),
             SEINE_OK);
    post("/_chaos/script", "{\"match\":\"/b\",\"fault\":\"json\"}");
    CHECK_EQ(status_of("/ok?fail=1"), 503);
    CHECK_EQ(open_request("GET", "/ok?max=1", "a", "", ""), SEINE_OK);
    snc_trace open = s.trace;
    snc_response_fini(&s.response);
    CHECK(strstr(get("/_chaos/reset"), "{\"ok\":true}"));
    snc_ending e = {.whole = true};
    snc_world_end(&s.w, &open, &e); /* its records are gone, and nothing happens */
    CHECK_EQ(status_of("/ok?fail=1"), 503);
    CHECK_EQ(status_of("/a"), 200);
    CHECK_EQ(status_of("/b"), 400);
    get("/mine/ok");
    CHECK_EQ(s.response.delay, SEINE_SECS(1));
    CHECK_EQ(s.w.witness.requests, 4);
    CHECK_EQ(s.w.witness.in_flight, 0);
    finish();
}

TEST(url_words_of_tests_have_names_of_their_own)
{
    static const struct {
        const char *name, *words;
        seine_err want;
    } rows[] = {
        {"mine", "delay:1s", SEINE_OK},   {"mine", "ok", SEINE_E_ALREADY},
        {"ok", "ok", SEINE_E_INVAL},      {"", "ok", SEINE_E_INVAL},
        {"a/b", "ok", SEINE_E_INVAL},     {"a:b", "ok", SEINE_E_INVAL},
        {"other", "frob", SEINE_E_INVAL}, {"other", "mine/status:500", SEINE_OK},
        {"none", "", SEINE_OK},
    };

    begin(1);
    EACH_ROW(i, rows)
        CHECK_EQ(snc_world_add(&s.w, sn_str_of(rows[i].name), sn_str_of(rows[i].words),
                               (sn_str){NULL, 0}),
                 rows[i].want);
    for (int i = 3; i < SNC_WORLD_WORDS; i++) {
        char name[16];

        snprintf(name, sizeof name, "word-%d", i);
        CHECK_EQ(snc_world_add(&s.w, sn_str_of(name), SN_STR("ok"), (sn_str){NULL, 0}),
                 SEINE_OK);
    }
    CHECK_EQ(snc_world_add(&s.w, SN_STR("more"), SN_STR("ok"), (sn_str){NULL, 0}),
             SEINE_E_FULL);
    finish();
}

TEST(bad_requests_are_counted_by_what_is_bad)
{
    begin(1);
    for (int i = 0; i < 3; i++) {
        snc_world_bad(&s.w, i ? "folded line" : "no Host field", &s.response);
        s.len = snc_wire_read(&s.response.wire, &s.w.lines, s.said, 32768);
        s.said[s.len] = '\0';
        CHECK(strstr(s.said, "HTTP/1.1 400 Bad Request\r\n") && !s.response.keep);
        snc_response_fini(&s.response);
    }
    CHECK(strstr(s.said, "\r\n\r\nfolded line\n"));
    CHECK(strstr(get("/_chaos/report"),
                 "\"bad_requests\":{\"no Host field\":1,\"folded line\":2}"));
    finish();
}

TEST(control_has_five_doors)
{
    begin(1);
    CHECK_EQ(status_of("/_chaos/x"), 404);
    CHECK_EQ(status_of("/_chaos/secret"), 405);
    CHECK_EQ(status_of("/_chaos/script"), 405);
    CHECK_EQ(s.w.witness.requests, 0);
    CHECK_EQ(s.w.control, 3);
    finish();
}

TEST(without_memory_a_request_has_no_response_and_leaves_nothing)
{
    static const char *const targets[] = {"/ok",
                                          "/site:1:50:sitemap=on/_list",
                                          "/echo",
                                          "/ok?fail=1&with=delay:1s%2Fbytes:5",
                                          "/_chaos/report",
                                          "/_chaos/log",
                                          "/ok?rate=1"};

    EACH_ROW(i, targets)
        FAIL_EACH(r)
        {
            if (snc_world_init(&s.w, 1) == SEINE_OK) {
                seine_err e =
                    open_request("GET", targets[i], "a", "User-Agent: x\r\n", "");

                if (e == SEINE_OK)
                    done(true);
                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
                CHECK_EQ(s.w.witness.in_flight, 0);
            }
            finish();
        }
}
