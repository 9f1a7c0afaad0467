/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "store/record_read_parts.h"

static const char *
fate_name(int i)
{
    return seine_fate_name((seine_fate)i);
}

static const char *
wait_name(int i)
{
    return seine_wait_name((seine_wait)i);
}

/* "queue" means that no attempt began. */
static const char *
phase_name(int i)
{
    return i == SEINE_PHASE_NONE ? "queue" : seine_phase_name((seine_phase)i);
}

static seine_err
read_error(const sn_member *error)
{
    sn_record_reader *rr = error->rr;
    seine_record *r = &rr->record;
    seine_err e = sn_member_object(error);
    int phase = 0;
    sn_member m;

    if (e == SEINE_OK && r->fate == SEINE_FATE_OK)
        return sn_member_unfit(error, "possible where the outcome is ok");
    if (e == SEINE_OK)
        e = sn_member_error(rr, error->value, "error", &rr->fault.code);
    if (e == SEINE_OK && sn_member_find(rr, error->value, "error", "message", &m))
        e = sn_member_view(&m, &r->message);
    if (e == SEINE_OK && sn_member_find(rr, error->value, "error", "hint", &m))
        e = sn_member_view(&m, &r->hint);
    if (e == SEINE_OK && sn_member_find(rr, error->value, "error", "phase", &m))
        e = sn_member_word(&m, phase_name, SEINE_PHASE_BODY + 1, "a phase", &phase);
    if (e == SEINE_OK && sn_member_find(rr, error->value, "error", "retryable", &m))
        e = sn_member_bool(&m, &r->retryable);
    if (e == SEINE_OK && sn_member_find(rr, error->value, "error", "timeout_ms", &m))
        e = sn_member_int(&m, 0, INT64_MAX, &rr->fault.timeout_ms);
    rr->fault.phase = (seine_phase)phase;
    rr->fault.status = r->status;
    return e;
}

seine_err
sn_record_read_outcome(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    int fate = 0;
    bool ok;
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "outcome", &m))
        return sn_member_unfit(&m, "there");
    e = sn_member_word(&m, fate_name, SN_FATE_COUNT, "an outcome", &fate);
    r->fate = (seine_fate)fate;
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "ok", &m)) {
        e = sn_member_bool(&m, &ok);
        if (e == SEINE_OK && ok != (r->fate == SEINE_FATE_OK))
            return sn_member_unfit(&m, "what the outcome says");
    }
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "error", &m))
        e = read_error(&m);
    return e;
}

/* A status that explains everything has no error. */
static seine_err
told_by(unsigned status)
{
    if (status < 400)
        return SEINE_OK;
    if (status == 408 || status == 425 || status == 429 ||
        (status >= 500 && status != 501 && status != 505))
        return SEINE_E_HTTP_BUSY;
    return SEINE_E_HTTP;
}

static seine_err
read_try(sn_record_reader *rr, const seine_json *one, seine_record_try *t)
{
    seine_err e = SEINE_OK;
    int reason = 0;
    sn_member m = {rr, NULL, "tries", one};

    e = sn_member_object(&m);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "n", &m))
        e = sn_member_u32(&m, &t->n);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "ts", &m))
        e = sn_member_stamp(&m, &t->wall);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "status", &m))
        e = sn_member_u16(&m, &t->status);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "ms", &m))
        e = sn_member_ms(&m, &t->took);
    t->wait = -1;
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "wait_ms", &m))
        e = sn_member_ms(&m, &t->wait);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "wait_reason", &m))
        e = sn_member_word(&m, wait_name, SN_WAIT_COUNT, "a reason to wait", &reason);
    t->wait_reason = (seine_wait)reason;
    t->err = told_by(t->status);
    if (e == SEINE_OK && sn_member_find(rr, one, "tries", "error", &m)) {
        e = sn_member_object(&m);
        if (e == SEINE_OK)
            e = sn_member_error(rr, m.value, "tries.error", &t->err);
    }
    return e;
}

static seine_err
read_tries(sn_record_reader *rr)
{
    seine_record_try *tries;
    size_t n;
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "tries", &m))
        return SEINE_OK;
    seine_err e = SN_MEMBER_LIST(&m, seine_record_try, &n, &tries);
    for (size_t i = 0; e == SEINE_OK && i < n; i++)
        e = read_try(rr, seine_json_at(m.value, i), &tries[i]);
    if (e == SEINE_OK) {
        rr->record.tries = tries;
        rr->record.n_tries = n;
    }
    return e;
}

static seine_err
read_hop(sn_record_reader *rr, const seine_json *one, seine_hop *hop)
{
    sn_member m = {rr, NULL, "redirects", one};
    seine_err e = sn_member_object(&m);

    hop->url = (seine_view){"", 0};
    if (e == SEINE_OK && sn_member_find(rr, one, "redirects", "url", &m))
        e = sn_member_view(&m, &hop->url);
    if (e == SEINE_OK && sn_member_find(rr, one, "redirects", "status", &m))
        e = sn_member_u16(&m, &hop->status);
    return e;
}

/* read_tries with another type, which a common function would have to forget. */
static seine_err
read_hops(sn_record_reader *rr)
{
    seine_hop *hops;
    size_t n;
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "redirects", &m))
        return SEINE_OK;
    seine_err e = SN_MEMBER_LIST(&m, seine_hop, &n, &hops);
    for (size_t i = 0; e == SEINE_OK && i < n; i++)
        e = read_hop(rr, seine_json_at(m.value, i), &hops[i]);
    if (e == SEINE_OK) {
        rr->record.hops = hops;
        rr->record.n_hops = n;
    }
    return e;
}

seine_err
sn_record_read_attempts(sn_record_reader *rr)
{
    seine_err e = read_tries(rr);

    return e == SEINE_OK ? read_hops(rr) : e;
}
