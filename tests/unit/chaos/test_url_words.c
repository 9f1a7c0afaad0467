/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/url_words.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"

/* One path, applied to a request with these fields. */
typedef struct fixture {
    sn_arena arena;
    snc_request req;
    snc_scene scene;
    snc_plan plan;
    snc_wrong wrong;
    char head[512], path[2048];
    bool ok;
} fixture;

static fixture *
apply_to(const char *target, const char *fields)
{
    static fixture f;

    sn_arena_fini(&f.arena);
    f = (fixture){.ok = false};
    sn_arena_init(&f.arena, 4096, 1 << 20);
    snprintf(f.head, sizeof f.head, "GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n", target,
             fields);
    CHECK_EQ(snc_request_head(&f.req, sn_str_of(f.head)), SNC_PARSED_OK);
    f.scene = (snc_scene){.req = &f.req,
                          .arena = &f.arena,
                          .seed = 1,
                          .key = SN_STR("k"),
                          .hit = 1,
                          .nth = 1};
    f.ok = snc_url_words_apply(f.req.path, &f.scene, &f.plan, &f.wrong);
    return &f;
}

static fixture *
apply(const char *target)
{
    return apply_to(target, "");
}

static bool
is(sn_str got, const char *want)
{
    return sn_str_eq(got, sn_str_of(want));
}

static sn_str
field(const snc_plan *p, const char *name)
{
    for (size_t i = 0; i < p->line_count; i++)
        if (is(p->lines[i].name, name))
            return p->lines[i].value;
    return (sn_str){NULL, 0};
}

TEST(the_examples_of_the_grammar_mean_what_they_say)
{
    const snc_plan *p = &apply("/delay:100ms/reset:1000/bytes:5000")->plan;

    CHECK_EQ(p->delay, SEINE_MS(100));
    CHECK(p->cut == SNC_CUT_RST && p->cut_at == 1000 && !p->cut_body);
    CHECK(p->final == SNC_FINAL_BYTES && p->count == 5000);

    p = &apply("/redir:9/status:404")->plan;
    CHECK_EQ(p->status, 302);
    CHECK(is(field(p, "Location"), "/redir:8/status:404"));

    p = &apply("/drip:10x1s/html:20")->plan;
    CHECK(p->drip == 10 && p->every == SEINE_SECS(1) && !p->drip_body);
    CHECK(p->final == SNC_FINAL_HTML && p->count == 20);
}

TEST(a_path_without_a_final_word_serves_ok)
{
    CHECK_EQ(apply("/delay:1s")->plan.final, SNC_FINAL_OK);
    CHECK_EQ(apply("/nest:b:3")->plan.final, SNC_FINAL_HTML);
}

TEST(delays_add_up_and_jitter_follows_from_seed_key_and_hit)
{
    CHECK_EQ(apply("/delay:1s/delay:500ms/ok")->plan.delay, SEINE_MS(1500));

    seine_span once = apply("/jitter:50ms-500ms/ok")->plan.delay;
    CHECK(once >= SEINE_MS(50) && once <= SEINE_MS(500));
    CHECK_EQ(apply("/jitter:50ms-500ms/ok")->plan.delay, once);
    CHECK_EQ(apply("/jitter:7ms-7ms/ok")->plan.delay, SEINE_MS(7));

    fixture *f = apply("/ok");
    bool differs = false;
    for (f->scene.hit = 2; f->scene.hit < 10; f->scene.hit++) {
        snc_plan plan = {.count = 0};

        CHECK(snc_url_words_apply(SN_STR("/jitter:50ms-500ms"), &f->scene, &plan,
                                  &f->wrong));
        differs |= plan.delay != once;
    }
    CHECK(differs);
}

TEST(each_word_does_its_one_thing)
{
    const snc_plan *p;

#define PLAN(path) (p = &apply(path)->plan)
    CHECK(PLAN("/empty")->final == SNC_FINAL_EMPTY);
    CHECK(PLAN("/bytes:1M")->count == 1048576);
    CHECK(PLAN("/json")->final == SNC_FINAL_JSON);
    CHECK(PLAN("/text:7")->final == SNC_FINAL_TEXT && p->count == 7);
    CHECK(PLAN("/echo")->final == SNC_FINAL_ECHO);
    CHECK(PLAN("/status:999")->status == 999);
    CHECK(PLAN("/status:404/html:3")->final == SNC_FINAL_HTML && p->status == 404);
    CHECK(PLAN("/raw:SFRUUA")->final == SNC_FINAL_RAW && is(p->raw, "HTTP"));
    CHECK(PLAN("/file:a/b%20c.html")->final == SNC_FINAL_FILE &&
          is(p->rest, "a/b c.html"));
    CHECK(PLAN("/file:p.html")->final == SNC_FINAL_FILE && is(p->rest, "p.html"));
    CHECK(PLAN("/site:1:9/p/3")->final == SNC_FINAL_SITE && p->site.pages == 9);
    CHECK(is(p->prefix, "/site:1:9") && is(p->rest, "p/3"));
    CHECK(PLAN("/delay:1ms/site:1:9/p/3")->delay == SEINE_MS(1) &&
          is(p->prefix, "/delay:1ms/site:1:9"));
    CHECK(PLAN("/trap:calendar/2026/1/2")->final == SNC_FINAL_CALENDAR &&
          is(p->rest, "2026/1/2"));
    CHECK(PLAN("/stall:10:body/ok")->cut == SNC_CUT_STALL && p->cut_at == 10 &&
          p->cut_body);
    CHECK(PLAN("/fin:0/ok")->cut == SNC_CUT_FIN && p->cut_at == 0);
    CHECK(PLAN("/short:5/ok")->is_short && p->shorter == 5);
    CHECK(PLAN("/mute")->mute);
    CHECK(PLAN("/noread/ok")->mute);
    CHECK(PLAN("/bw:32k/ok")->drip == 1638 && p->every == SEINE_SECS(1) * 1638 / 32768);
    CHECK(PLAN("/bw:3/ok")->drip == 1 && p->every == SEINE_SECS(1) / 3);
    CHECK(PLAN("/drip:1x500ms:body/ok")->drip_body);
    CHECK(PLAN("/chunked/ok")->framing == SNC_BY_CHUNKS);
    CHECK(PLAN("/close/ok")->framing == SNC_BY_CLOSE);
    CHECK(PLAN("/http10/ok")->http10);
    CHECK(PLAN("/http09/ok")->http09 && p->damaged);
    CHECK(PLAN("/length:+5/ok")->length_off == 5 && p->damaged);
    CHECK(PLAN("/length:-5/ok")->length_off == -5);
    CHECK(PLAN("/length:two/ok")->length == SNC_LENGTH_TWO && p->damaged);
    CHECK(PLAN("/length:same/ok")->length == SNC_LENGTH_SAME && !p->damaged);
    CHECK(PLAN("/length:=0x10/ok")->length == SNC_LENGTH_TEXT &&
          is(p->length_text, "0x10"));
    CHECK(PLAN("/both/ok")->both && p->framing == SNC_BY_CHUNKS);
    CHECK(PLAN("/te:gzip,%20chunked/ok")->damaged && is(p->te, "gzip, chunked"));
    CHECK(is(PLAN("/badstatus/ok")->status_line, "HTTP/1.1 abc OK"));
    CHECK(is(PLAN("/badstatus:ssh/ok")->status_line, "SSH-2.0-OpenSSH_9.2"));
    CHECK(PLAN("/badchunk/ok")->chunk_fault == SNC_CHUNK_SIZE);
    CHECK(PLAN("/badchunk:none/ok")->chunk_fault == SNC_CHUNK_NONE && p->damaged);
    CHECK(is(field(PLAN("/head:X-A:b:c%20d/ok"), "X-A"), "b:c d"));
    CHECK(PLAN("/bighead:64k/ok")->big_head == 65536);
    CHECK(PLAN("/manyhead:2000/ok")->many_head == 2000);
    CHECK(PLAN("/interim:40:100/ok")->interim == 40 && p->interim_status == 100);
    CHECK(PLAN("/idle:50ms:rst/ok")->idle == SEINE_MS(50) && p->idle_end == SNC_IDLE_RST);
    CHECK(PLAN("/idle:0/ok")->idle_end == SNC_IDLE_FIN);
    CHECK(is(field(PLAN("/cookie:n:v/ok"), "Set-Cookie"), "n=v; Path=/"));
    CHECK(is(PLAN("/ctype:text%2Fcsv/ok")->ctype, "text/csv"));
    CHECK(is(PLAN("/charset:latin1/ok")->charset, "latin1"));
    CHECK(PLAN("/chunksize:1/chunkext:9/trailer:3/ok")->chunk_size == 1 &&
          p->chunk_ext == 9 && p->trailers == 3);
    CHECK(PLAN("/extra:9/smuggle/withbody/ok")->extra == 9 && p->smuggle && p->with_body);
#undef PLAN
}

TEST(every_word_of_the_table_has_an_example_that_works)
{
    const snc_url_word *tables[] = {snc_url_words_served, snc_url_words_coded,
                                    snc_url_words_sent};

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const snc_url_word *w = tables[t]; w->name; w++) {
            char path[64];

            snprintf(path, sizeof path, "/%s%s%s", w->name, w->args[0] ? ":" : "",
                     w->args);
            const fixture *f = apply(path);
            if (!f->ok)
                check_fail(__FILE__, __LINE__, "%s: %s", path, f->wrong.why);
        }
}

TEST(what_makes_no_sense_is_named)
{
    static const struct {
        const char *path, *word, *why;
    } rows[] = {
        {"/xyz", "xyz", "no such word"},
        {"/delay:1s/okk", "okk", "no such word"},
        {"//ok", "", "no such word"},
        {"/OK", "OK", "no such word"},
        {"/ok/ok", "ok", "stands behind the last word"},
        {"/ok/delay:1s", "delay:1s", "stands behind the last word"},
        {"/status:200/delay:1s", "delay:1s", "stands behind the last word"},
        {"/ok:1", "ok:1", "takes no argument"},
        {"/bytes", "bytes", "lacks an argument"},
        {"/head:a", "head:a", "lacks an argument"},
        {"/head::b/ok", "head::b", "wants a name and a value"},
        {"/bytes:", "bytes:", "wants a size, like 64k"},
        {"/bytes:x", "bytes:x", "wants a size, like 64k"},
        {"/delay:5/ok", "delay:5", "wants a time, like 500ms"},
        {"/jitter:5s-1s/ok", "jitter:5s-1s", "wants two times, like 50ms-500ms"},
        {"/drip:0x1s/ok", "drip:0x1s",
         "wants bytes and a time, like 1x500ms or 1x500ms:body"},
        {"/drip:1x0/ok", "drip:1x0",
         "wants bytes and a time, like 1x500ms or 1x500ms:body"},
        {"/drip:1x1s:head", "drip:1x1s:head",
         "wants bytes and a time, like 1x500ms or 1x500ms:body"},
        {"/bw:0/ok", "bw:0", "wants bytes per second, like 32k"},
        {"/reset:x/ok", "reset:x", "wants a number of bytes, like 100 or 100:body"},
        {"/status:99", "status:99", "wants a status from 100 to 999"},
        {"/status:1000", "status:1000", "wants a status from 100 to 999"},
        {"/status:+20", "status:+20", "wants a status from 100 to 999"},
        {"/raw:%3D", "raw:%3D", "wants base64url without padding"},
        {"/site:x", "site:x", "a site starts with its seed, a number"},
        {"/head:a:%22/site:1:1/", "", ""}, /* a quote that only decoding makes */
        {"/head:a:\"/site:1:1/", "site:1:1",
         "may not stand behind a quote, an angle bracket or 2048 bytes"},
        {"/trap:forest/", "trap:forest", "knows the calendar only"},
        {"/to:200", "to:200", "wants a status from 300 to 399"},
        {"/redir:x/ok", "redir:x", "wants a number of hops"},
        {"/auth:digest:x/ok", "auth:digest:x",
         "wants bearer:TOKEN or basic:USER:PASSWORD"},
        {"/badchunk:x/ok", "badchunk:x",
         "is size, empty, negative, long, huge, lf, end, last or none"},
        {"/length:5/ok", "length:5",
         "is +5, -5, =TEXT, two, same, list, odd, fold, space or none"},
        {"/idle:1s:bang/ok", "idle:1s:bang", "ends with fin, rst or bytes"},
        {"/badcookie:x/ok", "badcookie:x",
         "is foreign, suffix, child, ctl, nul, secure, host or hostdomain"},
        {"/away:/ok", "away:", "wants a host"},
        {"/away:b:200/ok", "away:b:200", "ends with a status from 300 to 399"},
        {"/scheme:ftp/ok", "scheme:ftp", "is http or https"},
        {"/reply:256/ok", "reply:256", "wants a number up to 255"},
        {"/bomb:gzip", "bomb:gzip", "lacks an argument"},
        {"/bomb:lzw:1M", "bomb:lzw:1M", "wants a coding and a size, like gzip:256M"},
        {"/bomb:br:x", "bomb:br:x", "wants a coding and a size, like gzip:256M"},
        {"/gzip/gzip/gzip/gzip/gzip/gzip/gzip/gzip/br/ok", "br", "more than 8 codings"},
        {"/codecut:65k/gzip/ok", "codecut:65k", "wants a number of bytes, at most 64k"},
        {"/codeflip:-0/gzip/ok", "codeflip:-0",
         "wants the number of a byte, like 100, or -5 from the end"},
        {"/codeflip:x/gzip/ok", "codeflip:x",
         "wants the number of a byte, like 100, or -5 from the end"},
        {"/tlscut:x/ok", "tlscut:x", "wants a number of bytes, like 100 or 100:body"},
        {"/interim:1:200/ok", "interim:1:200",
         "wants a number and a status, like 40 or 40:100"},
    };

    EACH_ROW(i, rows) {
        const fixture *f = apply(rows[i].path);
        bool fine = rows[i].why[0] == '\0';

        CHECK_EQ(f->ok, fine);
        if (!fine && !f->ok) {
            CHECK(is(f->wrong.word, rows[i].word));
            CHECK_STR(f->wrong.why, rows[i].why);
        }
    }
}

TEST(hops_count_down_and_keep_what_stands_around_them)
{
    CHECK(is(field(&apply("/delay:1s/redir:3/ok?a=b")->plan, "Location"),
             "/delay:1s/redir:2/ok?a=b"));
    CHECK(is(field(&apply("/redir:1/ok")->plan, "Location"), "/ok"));
    CHECK(is(field(&apply("/redir:1")->plan, "Location"), "/ok"));
    CHECK_EQ(apply("/redir:0/status:404")->plan.status, 404);
    CHECK(is(field(&apply("/loop?x")->plan, "Location"), "/loop?x"));
}

TEST(a_location_is_what_u_says_and_may_be_missing_or_twice)
{
    const snc_plan *p = &apply("/to:301?u=ftp%3A%2F%2Fx&v=1")->plan;

    CHECK_EQ(p->status, 301);
    CHECK(is(field(p, "Location"), "ftp://x"));
    CHECK_EQ(apply("/to:302")->plan.line_count, 0);
    CHECK_EQ(apply("/to:302?u=a&u=b")->plan.line_count, 2);
}

TEST(cookies_logins_and_tags_are_asked_for)
{
    CHECK_EQ(apply("/need-cookie:n/ok")->plan.status, 403);
    CHECK_EQ(apply_to("/need-cookie:n/ok", "Cookie: n=1\r\n")->plan.status, 0);

    const snc_plan *p = &apply("/auth:bearer:T/ok")->plan;
    CHECK_EQ(p->status, 401);
    CHECK(is(field(p, "WWW-Authenticate"), "Bearer"));
    CHECK_EQ(apply_to("/auth:bearer:T/ok", "Authorization: Bearer T\r\n")->plan.status,
             0);
    CHECK_EQ(apply_to("/auth:bearer:T/ok", "Authorization: Bearer X\r\n")->plan.status,
             401);
    CHECK_EQ(apply_to("/auth:basic:u:p/ok", "Authorization: Basic dTpw\r\n")->plan.status,
             0);
    CHECK_EQ(
        apply_to("/auth:basic:u:p/ok", "Authorization: Bearer dTpw\r\n")->plan.status,
        401);

    p = &apply("/etag:x/ok")->plan;
    CHECK_EQ(p->status, 0);
    CHECK(is(field(p, "ETag"), "\"x\""));
    CHECK_EQ(apply_to("/etag:x/ok", "If-None-Match: \"x\"\r\n")->plan.status, 304);
    CHECK_EQ(apply_to("/etag:x/ok", "If-None-Match: \"y\", W/\"x\"\r\n")->plan.status,
             304);
    CHECK_EQ(apply_to("/etag:x/ok", "If-None-Match: *\r\n")->plan.status, 304);
    CHECK_EQ(apply_to("/etag:x/ok", "If-None-Match: \"y\"\r\n")->plan.status, 0);
}

TEST(stale_is_harmless_on_a_new_connection)
{
    fixture *f = apply("/stale/ok");
    snc_plan plan = {.count = 0};

    CHECK_EQ(f->plan.cut, SNC_CUT_NONE);
    f->scene.nth = 2;
    CHECK(snc_url_words_apply(SN_STR("/stale/ok"), &f->scene, &plan, &f->wrong));
    CHECK(plan.cut == SNC_CUT_RST && plan.cut_at == 0);
}

TEST(url_words_can_be_added_and_stand_for_words_or_bytes)
{
    fixture *f = apply("/ok");
    sn_map added;
    snc_added slow = {SN_STR("slow"), SN_STR("delay:1s"), {NULL, 0}};
    snc_added odd = {SN_STR("odd-bytes"), SN_STR("slow"), SN_STR("x")};
    snc_added self = {SN_STR("self"), SN_STR("self"), {NULL, 0}};
    snc_plan plan = {.count = 0};

    sn_map_init(&added, 8);
    CHECK_EQ(sn_map_add(&added, slow.name, &slow), SEINE_OK);
    CHECK_EQ(sn_map_add(&added, odd.name, &odd), SEINE_OK);
    CHECK_EQ(sn_map_add(&added, self.name, &self), SEINE_OK);
    f->scene.added = &added;
    CHECK(snc_url_words_apply(SN_STR("/slow/status:503"), &f->scene, &plan, &f->wrong));
    CHECK(plan.delay == SEINE_SECS(1) && plan.status == 503);
    plan = (snc_plan){.count = 0};
    CHECK(snc_url_words_apply(SN_STR("/odd-bytes"), &f->scene, &plan, &f->wrong));
    CHECK(plan.delay == SEINE_SECS(1) && plan.final == SNC_FINAL_RAW &&
          is(plan.raw, "x"));
    CHECK(!snc_url_words_apply(SN_STR("/self"), &f->scene, &plan, &f->wrong));
    CHECK_STR(f->wrong.why, "stands for itself");
    f->scene.added = NULL;
    sn_map_fini(&added);
}

TEST(a_plan_has_a_largest_number_of_fields)
{
    char path[512] = "";

    for (int i = 0; i < SNC_PLAN_LINES; i++)
        snprintf(path + strlen(path), sizeof path - strlen(path), "/head:a:b");
    CHECK(apply(path)->ok);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/head:a:b");
    CHECK(!apply(path)->ok);
    CHECK_STR(apply(path)->wrong.why, "more than 32 fields");
    sn_arena_fini(&apply("/ok")->arena);
}

TEST(the_help_names_every_word_once)
{
    sn_buf out;
    const snc_url_word *tables[] = {snc_url_words_served, snc_url_words_coded,
                                    snc_url_words_sent};

    sn_buf_init(&out, 65536);
    snc_url_words_help(&out);
    CHECK_EQ(sn_buf_done(&out), SEINE_OK);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const snc_url_word *w = tables[t]; w->name; w++) {
            char line[64];

            snprintf(line, sizeof line, "\n  %s%s%s ", w->name, w->args[0] ? ":" : "",
                     w->args);
            if (!strstr(out.ptr, line))
                check_fail(__FILE__, __LINE__, "help lacks %s", w->name);
        }
    sn_buf_fini(&out);
}
