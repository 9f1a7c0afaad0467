/* SPDX-License-Identifier: Apache-2.0 */
#include "console/message_read.h"

#include <stdio.h>
#include <string.h>

#include "collab/changes.h"

#define FINE SN_API_ERROR_COUNT

/* Members. */

static sn_api_error
bad(sn_message_why *why, const char *name, const char *what)
{
    snprintf(why->text, sizeof why->text, "%s: %s", name, what);
    return SN_API_BAD_MESSAGE;
}

static bool
read_text(const seine_json *object, const char *name, sn_str *out)
{
    return seine_json_string(seine_json_get(object, name), &out->ptr, &out->len);
}

static bool
read_int(const seine_json *json, uint64_t *out)
{
    int64_t n;

    if (!seine_json_int(json, &n) || n < 0 || n > SN_MESSAGE_INT)
        return false;
    *out = (uint64_t)n;
    return true;
}

static bool
read_ulid(const seine_json *object, const char *name, char out[SN_ULID])
{
    sn_str text;

    if (!read_text(object, name, &text) || !sn_ulid_is(text))
        return false;
    memcpy(out, text.ptr, SN_ULID - 1);
    out[SN_ULID - 1] = '\0';
    return true;
}

bool
sn_message_is_client(sn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!sn_is_alpha(text.ptr[i]) && !sn_is_digit(text.ptr[i]) &&
            text.ptr[i] != '-' && text.ptr[i] != '_')
            return false;
    return text.len == SN_CLIENT_ID;
}

/* Characters that are not shown, or that change how others are shown. */
static bool
is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0xad ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
}

void
sn_message_clean(sn_str text, size_t most, char *out, size_t room)
{
    size_t at = 0;

    text = sn_str_trim(text);
    for (size_t n = 0; n < most;) {
        uint32_t c;
        size_t len = sn_utf8_decode(text, &c);

        if (len == 0 || at + len >= room)
            break;
        if (!is_hidden(c)) {
            memcpy(out + at, text.ptr, len);
            at += len;
            n++;
        }
        text = sn_str_slice(text, len, text.len);
    }
    while (at > 0 && out[at - 1] == ' ')
        at--;
    out[at] = '\0';
}

/* Messages. */

static sn_api_error
read_hello(const seine_json *j, sn_message *m, sn_message_why *why)
{
    uint64_t proto;
    sn_str name = {"", 0};

    if (!read_int(seine_json_get(j, "proto"), &proto) || proto != 1)
        return bad(why, "proto", "1 is spoken here");
    if (!read_text(j, "client", &m->client) || !sn_message_is_client(m->client))
        return bad(why, "client", "22 letters, digits, - and _");
    if (seine_json_get(j, "token") && !read_text(j, "token", &m->token))
        return bad(why, "token", "a text");
    if (seine_json_get(j, "name") && !read_text(j, "name", &name))
        return bad(why, "name", "a text");
    sn_message_clean(name, SN_MESSAGE_NAME, m->name, sizeof m->name);
    return FINE;
}

static sn_api_error
read_open(const seine_json *j, sn_message *m, sn_message_why *why)
{
    const seine_json *v = seine_json_get(j, "v"), *epoch = seine_json_get(j, "epoch");

    memcpy(m->open.doc, m->doc, sizeof m->doc);
    m->open.has_id = m->has_id;
    m->open.id = m->id;
    m->open.has_version = v != NULL;
    if (!v != !epoch)
        return bad(why, "v", "v and epoch come together");
    if (v && !read_int(v, &m->open.version))
        return bad(why, "v", "an integer");
    if (epoch && !read_ulid(j, "epoch", m->open.epoch))
        return bad(why, "epoch", "an id");
    return FINE;
}

static sn_api_error
read_sets(const seine_json *updates, sn_message *m, sn_message_why *why)
{
    for (size_t i = 0; i < seine_json_size(updates); i++) {
        const seine_json *set = seine_json_at(updates, i);
        seine_err e;

        if (seine_json_size(set) > SN_HUB_SECTIONS) {
            snprintf(why->text, sizeof why->text, "more than %d sections in one update",
                     SN_HUB_SECTIONS);
            return SN_API_TOO_LARGE;
        }
        e = seine_changes_new(&m->sets[i]);
        if (e == SEINE_OK) {
            m->n = i + 1;
            e = sn_changes_read(m->sets[i], set);
        }
        if (e == SEINE_OK)
            continue;
        snprintf(why->text, sizeof why->text, "updates[%zu] is no change set", i);
        return e == SEINE_E_NOMEM ? SN_API_UNAVAILABLE : SN_API_BAD_CHANGE;
    }
    return FINE;
}

static sn_api_error
read_push(const seine_json *j, sn_message *m, sn_message_why *why)
{
    const seine_json *updates = seine_json_get(j, "updates");

    if (!read_int(seine_json_get(j, "base"), &m->base))
        return bad(why, "base", "an integer");
    if (!read_int(seine_json_get(j, "seq"), &m->seq))
        return bad(why, "seq", "an integer");
    if (seine_json_type_of(updates) != SEINE_JSON_ARRAY || seine_json_size(updates) == 0)
        return bad(why, "updates", "a list of change sets");
    if (seine_json_size(updates) > SN_PUSH_MOST) {
        snprintf(why->text, sizeof why->text, "more than %d updates in one push",
                 SN_PUSH_MOST);
        return SN_API_TOO_LARGE;
    }
    return read_sets(updates, m, why);
}

static sn_api_error
read_cursor(const seine_json *j, sn_message *m, sn_message_why *why)
{
    const seine_json *sel = seine_json_get(j, "sel");

    if (!read_int(seine_json_get(j, "v"), &m->version))
        return bad(why, "v", "an integer");
    m->is_shown = seine_json_type_of(sel) == SEINE_JSON_ARRAY;
    if (!sel || (!m->is_shown && seine_json_type_of(sel) != SEINE_JSON_NULL))
        return bad(why, "sel", "a list of [anchor,head], or null");
    if (seine_json_size(sel) > SN_HUB_RANGES) {
        snprintf(why->text, sizeof why->text, "more than %d ranges", SN_HUB_RANGES);
        return SN_API_TOO_LARGE;
    }
    for (size_t i = 0; i < seine_json_size(sel); i++) {
        const seine_json *range = seine_json_at(sel, i);

        if (seine_json_type_of(range) != SEINE_JSON_ARRAY ||
            seine_json_size(range) != 2 ||
            !read_int(seine_json_at(range, 0), &m->sel[i][0]) ||
            !read_int(seine_json_at(range, 1), &m->sel[i][1]))
            return bad(why, "sel", "a list of [anchor,head], or null");
        m->n = i + 1;
    }
    return FINE;
}

static sn_api_error
read_preview(const seine_json *j, sn_message *m, sn_message_why *why)
{
    return read_ulid(j, "page", m->page) ? FINE : bad(why, "page", "an id");
}

static sn_api_error
read_ping(const seine_json *j, sn_message *m, sn_message_why *why)
{
    return seine_json_int(seine_json_get(j, "n"), &m->ping) ? FINE
                                                            : bad(why, "n", "an integer");
}

static sn_api_error
read_nothing(const seine_json *j, sn_message *m, sn_message_why *why)
{
    (void)j;
    (void)m;
    (void)why;
    return FINE;
}

static const struct {
    const char *t;
    bool has_doc;
    sn_api_error (*read)(const seine_json *j, sn_message *m, sn_message_why *why);
} types[] = {
    [SN_MESSAGE_UNKNOWN] = {"", false, read_nothing},
    [SN_MESSAGE_HELLO] = {"hello", false, read_hello},
    [SN_MESSAGE_OPEN] = {"open", true, read_open},
    [SN_MESSAGE_PUSH] = {"push", true, read_push},
    [SN_MESSAGE_CURSOR] = {"cursor", true, read_cursor},
    [SN_MESSAGE_CLOSE] = {"close", true, read_nothing},
    [SN_MESSAGE_PREVIEW] = {"preview", true, read_preview},
    [SN_MESSAGE_SUB] = {"sub", false, read_nothing},
    [SN_MESSAGE_UNSUB] = {"unsub", false, read_nothing},
    [SN_MESSAGE_PING] = {"ping", false, read_ping},
};

/* Levels of arrays and objects; the text need not be JSON. */
static unsigned
depth_of(sn_str text)
{
    unsigned depth = 0, most = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        depth += c == '[' || c == '{';
        depth -= (c == ']' || c == '}') && depth > 0;
        most = depth > most ? depth : most;
    }
    return most;
}

static sn_api_error
read_head(sn_message *m, sn_message_why *why)
{
    const seine_json *id = seine_json_get(m->json, "id");
    sn_str t;

    if (!read_text(m->json, "t", &t) || t.len >= sizeof m->t)
        return bad(why, "t", "the type of the message is missing");
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (sn_str_eq(t, sn_str_of(types[i].t)))
            m->type = (sn_message_type)i;
    if (m->type == SN_MESSAGE_UNKNOWN)
        return bad(why, "t", "no such message");
    snprintf(m->t, sizeof m->t, "%s", types[m->type].t);
    m->has_id = seine_json_int(id, &m->id);
    if (id && !m->has_id)
        return bad(why, "id", "an integer");
    if (types[m->type].has_doc && !read_ulid(m->json, "doc", m->doc))
        return bad(why, "doc", "an id");
    return FINE;
}

sn_api_error
sn_message_read(sn_str text, sn_message *out, sn_message_why *why)
{
    seine_json_fault fault;

    *out = (sn_message){.type = SN_MESSAGE_UNKNOWN};
    if (depth_of(text) > SN_MESSAGE_DEPTH) {
        snprintf(why->text, sizeof why->text, "more than %d levels", SN_MESSAGE_DEPTH);
        return SN_API_BAD_JSON;
    }
    seine_err e = seine_json_parse(text.ptr, text.len, &out->json, &fault);
    if (e != SEINE_OK) {
        snprintf(why->text, sizeof why->text, "byte %zu: %.90s", fault.offset,
                 fault.text);
        return e == SEINE_E_NOMEM ? SN_API_UNAVAILABLE : SN_API_BAD_JSON;
    }
    if (seine_json_type_of(out->json) != SEINE_JSON_OBJECT) {
        snprintf(why->text, sizeof why->text, "a message is an object");
        return SN_API_BAD_JSON;
    }
    sn_api_error refused = read_head(out, why);
    return refused == FINE ? types[out->type].read(out->json, out, why) : refused;
}

void
sn_message_fini(sn_message *m)
{
    for (size_t i = 0; m->type == SN_MESSAGE_PUSH && i < SN_PUSH_MOST; i++)
        seine_changes_free(m->sets[i]);
    seine_json_free(m->json);
}
