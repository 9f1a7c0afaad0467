/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements: each comparator narrows the interval. */

#include "seine/semver.h"
#include "text/semver_parts.h"

enum { MOST_COMPARATORS = 32 };

typedef enum op { OP_CARET, OP_TILDE, OP_EXACT, OP_MORE, OP_LEAST, OP_LESS, OP_MOST } op;

/* A version of which parts may be missing: "1", "1.2", "1.2.*". */
typedef struct partial {
    seine_semver version;
    int parts;     /* 0 to 3; 0 is "*" */
    bool has_star; /* "1.*" or "*" */
} partial;

static void
skip_blanks(sn_str *rest)
{
    while (rest->len > 0 && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
        *rest = sn_str_slice(*rest, 1, rest->len);
}

static bool
take(sn_str *rest, const char *token)
{
    sn_str t = sn_str_of(token);

    if (!sn_str_starts(*rest, t))
        return false;
    *rest = sn_str_slice(*rest, t.len, rest->len);
    return true;
}

/* *out_is_written: an operator stands there; without one it is ^. */
static op
take_op(sn_str *rest, bool *out_is_written)
{
    static const struct {
        const char *token;
        op op;
    } ops[] = {{">=", OP_LEAST}, {"<=", OP_MOST}, {">", OP_MORE}, {"<", OP_LESS},
               {"=", OP_EXACT},  {"^", OP_CARET}, {"~", OP_TILDE}};

    *out_is_written = true;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (take(rest, ops[i].token))
            return ops[i].op;
    *out_is_written = false;
    return OP_CARET;
}

static bool
take_star(sn_str *rest)
{
    return take(rest, "*") || take(rest, "x") || take(rest, "X");
}

/* Behind a star only stars follow, and a pre-release needs all three numbers. */
static seine_err
take_partial(sn_str *rest, partial *out)
{
    uint64_t *const numbers[] = {&out->version.major, &out->version.minor,
                                 &out->version.patch};

    for (int i = 0; i < 3; i++) {
        if (i > 0 && !take(rest, "."))
            break;
        if (take_star(rest)) {
            out->has_star = true;
            continue;
        }
        if (out->has_star)
            return SEINE_E_PARSE;
        seine_err e = sn_semver_number(rest, numbers[i]);
        if (e != SEINE_OK)
            return e;
        out->parts = i + 1;
    }
    return out->parts == 3 ? sn_semver_tail(rest, &out->version) : SEINE_OK;
}

/* The first version behind all that share the first `parts` numbers, as a bound without
 * its pre-releases: "-0" comes before all others. False: there is none, the number is the
 * largest. */
static bool
next_after(const seine_semver *v, int parts, seine_semver *out)
{
    uint64_t *number = parts == 1 ? &out->major : parts == 2 ? &out->minor : &out->patch;

    *out = (seine_semver){v->major,
                          parts > 1 ? v->minor : 0,
                          parts > 2 ? v->patch : 0,
                          {"0", 1},
                          {NULL, 0}};
    if (*number == UINT64_MAX)
        return parts > 1 && next_after(v, parts - 1, out);
    ++*number;
    return true;
}

static void
raise_low(seine_semver_req *req, const seine_semver *v, bool is_inside)
{
    int order = req->low.is_there ? seine_semver_cmp(v, &req->low.version) : 1;

    if (order > 0 || (order == 0 && !is_inside))
        req->low = (seine_semver_bound){*v, true, is_inside};
}

static void
lower_high(seine_semver_req *req, const seine_semver *v, bool is_inside)
{
    int order = req->high.is_there ? seine_semver_cmp(v, &req->high.version) : -1;

    if (order < 0 || (order == 0 && !is_inside))
        req->high = (seine_semver_bound){*v, true, is_inside};
}

/* Below the next version after `parts` numbers. */
static void
stay_within(seine_semver_req *req, const seine_semver *v, int parts)
{
    seine_semver end;

    if (next_after(v, parts, &end))
        lower_high(req, &end, false);
}

/* Nothing is allowed: below the lowest version of all. */
static void
allow_nothing(seine_semver_req *req)
{
    static const seine_semver lowest = {0, 0, 0, {"0", 1}, {NULL, 0}};

    lower_high(req, &lowest, false);
}

/* ^ keeps the first number that is not zero, of those that are written. */
static int
caret_parts(const partial *p)
{
    if (p->version.major > 0 || p->parts == 1)
        return 1;
    return p->version.minor > 0 || p->parts == 2 ? 2 : 3;
}

static void
narrow(seine_semver_req *req, op o, const partial *p)
{
    const seine_semver *v = &p->version;
    bool is_whole = p->parts == 3;
    seine_semver end;

    switch (o) {
    case OP_CARET:
        raise_low(req, v, true);
        stay_within(req, v, caret_parts(p));
        break;
    case OP_TILDE:
        raise_low(req, v, true);
        stay_within(req, v, p->parts > 2 ? 2 : p->parts);
        break;
    case OP_EXACT:
        raise_low(req, v, true);
        if (is_whole)
            lower_high(req, v, true);
        else
            stay_within(req, v, p->parts);
        break;
    case OP_MORE:
        if (is_whole)
            raise_low(req, v, false);
        else if (next_after(v, p->parts, &end))
            raise_low(req, &end, true);
        else
            allow_nothing(req);
        break;
    case OP_LEAST:
        raise_low(req, v, true);
        break;
    case OP_LESS:
        lower_high(req, v, false);
        break;
    case OP_MOST:
        if (is_whole)
            lower_high(req, v, true);
        else
            stay_within(req, v, p->parts);
        break;
    }
}

/* "*" alone allows everything, so no comparator stands beside it. */
static seine_err
take_comparator(sn_str *rest, seine_semver_req *req, bool *out_is_all)
{
    partial p = {0};
    bool is_written;
    op o = take_op(rest, &is_written);

    skip_blanks(rest);
    seine_err e = take_partial(rest, &p);
    if (e != SEINE_OK)
        return e;
    if (p.parts == 0 && is_written)
        return SEINE_E_PARSE;
    *out_is_all = p.parts == 0;
    if (!is_written && p.has_star)
        o = OP_EXACT;
    if (p.parts > 0)
        narrow(req, o, &p);
    return SEINE_OK;
}

seine_err
seine_semver_req_parse(const char *text, size_t len, seine_semver_req *out_req)
{
    sn_str rest = {text, len};
    seine_semver_req req = {0};
    bool is_all = false;

    if (!text || !out_req)
        return SEINE_E_INVAL;
    if (len > 16 * SEINE_SEMVER_BYTES)
        return SEINE_E_RANGE;
    for (int i = 0; i < MOST_COMPARATORS; i++) {
        skip_blanks(&rest);
        seine_err e = take_comparator(&rest, &req, &is_all);
        if (e != SEINE_OK)
            return e;
        skip_blanks(&rest);
        if (rest.len == 0) {
            if (is_all && i > 0)
                return SEINE_E_PARSE;
            *out_req = req;
            return SEINE_OK;
        }
        if (is_all || !take(&rest, ","))
            return SEINE_E_PARSE;
    }
    return SEINE_E_RANGE;
}

bool
seine_semver_req_matches(const seine_semver_req *req, const seine_semver *version)
{
    if (!req || !version)
        return false;
    int low = req->low.is_there ? seine_semver_cmp(version, &req->low.version) : 1;
    int high = req->high.is_there ? seine_semver_cmp(version, &req->high.version) : -1;

    return (low > 0 || (low == 0 && req->low.is_inside)) &&
           (high < 0 || (high == 0 && req->high.is_inside));
}

bool
seine_semver_req_is_empty(const seine_semver_req *req)
{
    static const seine_semver lowest = {0, 0, 0, {"0", 1}, {NULL, 0}};

    if (!req)
        return true;
    if (!req->high.is_there)
        return false;
    if (!req->high.is_inside && seine_semver_cmp(&req->high.version, &lowest) <= 0)
        return true;
    if (!req->low.is_there)
        return false;
    int order = seine_semver_cmp(&req->low.version, &req->high.version);

    return order > 0 || (order == 0 && !(req->low.is_inside && req->high.is_inside));
}
