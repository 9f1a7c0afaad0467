/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/world.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "chaos/folder.h"

#define ARENA ((size_t)1 << 20) /* bytes of decoded texts of one request */
#define TEXT  ((size_t)1 << 30) /* bytes of texts of a response; a report may be long */

seine_err
snc_world_init(snc_world *w, uint64_t seed)
{
    *w = (snc_world){.seed = seed, .folder = -1};
    snc_witness_init(&w->witness);
    snc_hit_counter_init(&w->counter);
    snc_script_init(&w->script);
    sn_map_init(&w->added, SNC_WORLD_WORDS);
    w->script.added = &w->added;
    sn_arena_init(&w->arena, 16384, ARENA);
    sn_buf_init(&w->text, TEXT);
    sn_buf_init(&w->lines, 65536);
    sn_buf_init(&w->line, 65536);
    sn_buf_init(&w->file, SNC_FOLDER_MOST);
    return sn_buf_reserve(&w->text, 4096) ? SEINE_OK : SEINE_E_NOMEM;
}

void
snc_world_fini(snc_world *w)
{
    snc_witness_fini(&w->witness);
    snc_hit_counter_fini(&w->counter);
    snc_coverage_reset(&w->coverage);
    snc_secret_leaks_reset(&w->leaks);
    snc_request_log_fini(&w->request_log);
    snc_script_fini(&w->script);
    SN_MAP_EACH(entry, &w->added) {
        sn_free(entry->value);
    }
    sn_map_fini(&w->added);
    sn_arena_fini(&w->arena);
    sn_buf_fini(&w->text);
    sn_buf_fini(&w->report);
    sn_buf_fini(&w->lines);
    sn_buf_fini(&w->line);
    sn_buf_fini(&w->file);
    if (w->folder >= 0)
        close(w->folder);
}

void
snc_world_reset(snc_world *w)
{
    w->epoch++;
    snc_witness_reset(&w->witness);
    snc_hit_counter_reset(&w->counter);
    snc_coverage_reset(&w->coverage);
    snc_secret_leaks_reset(&w->leaks);
    snc_request_log_reset(&w->request_log);
    snc_script_cut(&w->script, w->script_base);
    w->control = w->bad_requests = w->queries = 0;
    memset(w->bad, 0, sizeof w->bad);
}

static bool
is_name(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && !sn_is_digit(s.ptr[i]) && s.ptr[i] != '-')
            return false;
    return s.len > 0 && s.len <= 64;
}

static bool
are_words(snc_world *w, sn_str words)
{
    snc_request req = {
        .method = SN_STR("GET"), .target = SN_STR("/"), .path = SN_STR("/")};
    snc_scene scene = {
        .req = &req, .arena = &w->arena, .added = &w->added, .hit = 1, .nth = 1};
    snc_plan plan = {.count = 0};
    snc_wrong wrong;

    sn_arena_reset(&w->arena);
    return snc_url_words_apply(words, &scene, &plan, &wrong);
}

seine_err
snc_world_add(snc_world *w, sn_str name, sn_str words, sn_str bytes)
{
    if (!is_name(name) || snc_url_words_known(name) || !are_words(w, words))
        return SEINE_E_INVAL;

    snc_added *added = sn_alloc(sizeof *added + name.len + words.len + bytes.len);
    if (!added)
        return SEINE_E_NOMEM;
    char *text = (char *)(added + 1);
    memcpy(text, name.ptr, name.len);
    if (words.len > 0)
        memcpy(text + name.len, words.ptr, words.len);
    if (bytes.len > 0)
        memcpy(text + name.len + words.len, bytes.ptr, bytes.len);
    added->name = (sn_str){text, name.len};
    added->words = (sn_str){text + name.len, words.len};
    added->bytes = (sn_str){bytes.ptr ? text + name.len + words.len : NULL, bytes.len};
    seine_err e = sn_map_add(&w->added, added->name, added);
    if (e != SEINE_OK)
        sn_free(added);
    return e;
}

void
snc_world_begin(snc_world *w, snc_trace *trace, seine_time now)
{
    if (trace->epoch == w->epoch && trace->seen.counted)
        snc_witness_retry(&trace->seen, now, trace->retry_after);
}

void
snc_world_end(snc_world *w, snc_trace *trace, const snc_ending *e)
{
    snc_ending ending = *e;

    if (trace->epoch != w->epoch || !trace->seen.counted)
        return; /* the records are gone since a reset */
    ending.whole &= trace->whole;
    ending.good = trace->status >= 200 && trace->status < 300;
    snc_witness_end(&w->witness, &trace->seen, &ending);
    if (trace->key)
        trace->key->in_flight--;
    if (trace->asked && ending.whole && ending.good)
        snc_site_pages_served(trace->asked, trace->page);
    *trace = (snc_trace){.epoch = trace->epoch};
}

void
snc_world_count_bad(snc_world *w, const char *why)
{
    w->bad_requests++;
    for (size_t i = 0; i < sizeof w->bad / sizeof *w->bad; i++) {
        if (w->bad[i].why && strcmp(w->bad[i].why, why) != 0)
            continue;
        w->bad[i].why = why;
        w->bad[i].count++;
        break;
    }
}

void
snc_world_bad(snc_world *w, const char *why, snc_response *out_response)
{
    static const char head[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
                               "Connection: close\r\n\r\n";

    snc_world_count_bad(w, why);
    *out_response = (snc_response){.status = 400};
    sn_buf_reset(&w->text);
    sn_buf_printf(&w->text, "%s%s\n", head, why);
    snc_wire_init(&out_response->wire, &w->text);
    snc_wire_text(&out_response->wire, 0);
    const snc_chunks none = {.on = false};
    snc_wire_body(&out_response->wire, &none);
    snc_wire_body_end(&out_response->wire);
}
