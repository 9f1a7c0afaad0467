/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/world.h"
#include "seine/plumbing.h"

static void
say_text(snc_plan *p, unsigned status, sn_str text)
{
    *p = (snc_plan){
        .final = SNC_FINAL_SAID, .has_final = true, .status = status, .raw = text};
}

static void
say_json(snc_plan *p, sn_str text)
{
    say_text(p, 200, text);
    p->ctype = SN_STR("application/json");
}

/* {"value":"hunter2","origin":"http://a.test:8080"} */
static void
post_secret(snc_world *w, sn_str body, snc_plan *p)
{
    seine_json *json = NULL;
    const char *value, *origin;
    size_t value_len, origin_len;
    seine_err e = SEINE_E_INVAL;

    if (seine_json_parse(body.ptr, body.len, &json, NULL) == SEINE_OK &&
        seine_json_string(seine_json_get(json, "value"), &value, &value_len) &&
        seine_json_string(seine_json_get(json, "origin"), &origin, &origin_len))
        e = snc_secret_leaks_register(&w->leaks, (sn_str){value, value_len},
                                      (sn_str){origin, origin_len});
    seine_json_free(json);
    if (e == SEINE_OK)
        say_json(p, SN_STR("{\"ok\":true}\n"));
    else if (e == SEINE_E_INVAL)
        say_text(
            p, 400,
            SN_STR("a secret is {\"value\":TEXT,\"origin\":\"http://HOST:PORT\"}\n"));
    else
        say_text(p, 507, SN_STR("no room for another secret\n"));
}

static void
post_script(snc_world *w, sn_str body, snc_plan *p)
{
    snc_script_fault fault;
    seine_err e = snc_script_add(&w->script, body, &fault);

    if (e == SEINE_OK) {
        say_json(p, SN_STR("{\"ok\":true}\n"));
        return;
    }
    sn_buf_reset(&w->lines);
    if (e == SEINE_E_CONFIG)
        sn_buf_printf(&w->lines, "line %u: %s\n", fault.line, fault.why);
    else
        sn_buf_text(&w->lines, "no room for this script\n");
    say_text(p, e == SEINE_E_CONFIG ? 400 : 507, sn_buf_view(&w->lines));
}

seine_err
snc_control(snc_world *w, const snc_request *req, sn_str body, snc_plan *p)
{
    sn_str what = sn_str_slice(req->path, 8, req->path.len);
    bool post = sn_str_eq(req->method, SN_STR("POST"));

    if (sn_str_eq(what, SN_STR("report"))) {
        sn_buf_fini(&w->report);
        sn_buf_init(&w->report, (size_t)1 << 30);
        snc_world_report(w, &w->report);
        say_json(p, sn_buf_view(&w->report));
        return sn_buf_done(&w->report);
    }
    if (sn_str_eq(what, SN_STR("log"))) {
        *p = (snc_plan){.final = SNC_FINAL_LOG, .has_final = true};
    } else if (sn_str_eq(what, SN_STR("reset"))) {
        snc_world_reset(w);
        say_json(p, SN_STR("{\"ok\":true}\n"));
    } else if (sn_str_eq(what, SN_STR("secret"))) {
        post ? post_secret(w, body, p) : say_text(p, 405, SN_STR("POST a secret\n"));
    } else if (sn_str_eq(what, SN_STR("script"))) {
        post ? post_script(w, body, p) : say_text(p, 405, SN_STR("POST a script\n"));
    } else {
        say_text(p, 404, SN_STR("/_chaos/ has report, log, reset, secret and script\n"));
    }
    return SEINE_OK;
}
