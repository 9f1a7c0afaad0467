/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collab/changes.h"
#include "world.h"

static seine_changes *
new_changes(const world *w)
{
    seine_changes *c = NULL;

    must(w, seine_changes_new(&c) == SEINE_OK, "no memory");
    return c;
}

static seine_text
copy(const world *w, sn_str text)
{
    char *bytes = sn_alloc(text.len + 1);

    must(w, bytes != NULL, "no memory");
    if (!bytes)
        return (seine_text){0};
    if (text.len > 0)
        memcpy(bytes, text.ptr, text.len);
    bytes[text.len] = '\0';
    return (seine_text){bytes, text.len};
}

static void
apply(const world *w, const seine_changes *c, seine_text *text)
{
    seine_text next;

    must(w, seine_changes_apply(c, text->bytes, text->len, &next) == SEINE_OK,
         "a change does not fit");
    seine_text_free(text);
    *text = next;
}

static seine_changes *
map(const world *w, const seine_changes *a, const seine_changes *b, bool before)
{
    seine_changes *out = new_changes(w);

    must(w, seine_changes_map(a, b, before, out) == SEINE_OK, "a change does not map");
    return out;
}

void
client_init(client *c, world *w, unsigned number)
{
    *c = (client){.w = w};
    snprintf(c->id, sizeof c->id, "client-%015u", number);
    c->local = copy(w, (sn_str){"", 0});
    c->synced = copy(w, (sn_str){"", 0});
}

static void
forget_mine(client *c)
{
    for (size_t i = 0; i < c->n_mine; i++)
        seine_changes_free(c->mine[i]);
    c->n_mine = 0;
}

void
client_fini(client *c)
{
    forget_mine(c);
    empty_channel(&c->in);
    empty_channel(&c->out);
    seine_text_free(&c->local);
    seine_text_free(&c->synced);
}

/* Editing. */

static uint64_t
units_of(sn_str text)
{
    uint64_t units = 0;

    (void)!seine_changes_units(text.ptr ? text.ptr : "", text.len, &units);
    return units;
}

/* A byte at which a character begins. */
static size_t
random_place(world *w, const seine_text *text)
{
    size_t at = (size_t)sn_rng_below(&w->dice, text->len + 1);

    while (at < text->len && ((unsigned char)text->bytes[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static void
random_text(world *w, char out[32])
{
    static const char *const parts[] = {"a", "b", "\n", "é", "漢", "😀", "xyz", " "};
    size_t at = 0;

    if (w->inserts_only) { /* one character that nobody else types */
        unsigned c = 0x4e00 + w->typed++;

        snprintf(out, 32, "%c%c%c", (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                 (char)(0x80 | (c & 63)));
        return;
    }
    for (uint64_t n = sn_rng_below(&w->dice, 3) + 1; n > 0; n--)
        at +=
            (size_t)snprintf(out + at, 32 - at, "%s",
                             parts[sn_rng_below(&w->dice, sizeof parts / sizeof *parts)]);
}

/* [before][gone -> text][behind] */
static void
replace(const world *w, seine_changes *c, sn_str whole, size_t from, size_t to,
        sn_str text)
{
    uint64_t before = units_of(sn_str_slice(whole, 0, from));
    uint64_t gone = units_of(sn_str_slice(whole, from, to));
    uint64_t behind = units_of(sn_str_slice(whole, to, whole.len));
    bool fine = before == 0 || seine_changes_keep(c, before) == SEINE_OK;

    if (gone > 0 || text.len > 0)
        fine = fine && seine_changes_replace(c, gone, text.ptr ? text.ptr : "",
                                             text.len) == SEINE_OK;
    fine = fine && (behind == 0 || seine_changes_keep(c, behind) == SEINE_OK);
    must(w, fine, "an edit cannot be written down");
}

void
client_edit(client *c)
{
    world *w = c->w;
    char text[32] = "";

    if (!c->has_doc || c->n_mine == MINE || (w->inserts_only && w->typed > 0x4000))
        return;
    size_t from = random_place(w, &c->local), to = from;
    if (!w->inserts_only && sn_rng_below(&w->dice, 3) == 0) {
        to = random_place(w, &c->local);
        if (to < from) {
            size_t was = from;

            from = to;
            to = was;
        }
    }
    if (to == from || sn_rng_below(&w->dice, 2) == 0)
        random_text(w, text);
    seine_changes *edit = new_changes(w);
    replace(w, edit, (sn_str){c->local.bytes, c->local.len}, from, to, sn_str_of(text));
    apply(w, edit, &c->local);
    c->mine[c->n_mine++] = edit;
}

/* Speaking. */

static void
say(client *c, const char *text)
{
    if (c->is_connected)
        put_text(c->w, &c->out, sn_str_of(text));
}

static void
ask_open(client *c, bool fresh)
{
    char text[256];

    c->is_open = c->is_pushing = false;
    c->is_opening = true;
    memset(c->peers, 0, sizeof c->peers);
    if (c->has_doc && !fresh)
        snprintf(text, sizeof text,
                 "{\"t\":\"open\",\"doc\":\"%s\",\"v\":%llu,\"epoch\":\"%s\"}", c->w->doc,
                 (unsigned long long)c->version, c->epoch);
    else
        snprintf(text, sizeof text, "{\"t\":\"open\",\"doc\":\"%s\"}", c->w->doc);
    say(c, text);
}

void
client_connect(client *c)
{
    c->is_connected = true;
    empty_channel(&c->in);
    empty_channel(&c->out);
    server_hello(c->w->server, c);
    ask_open(c, false);
}

void
client_drop(client *c)
{
    c->is_connected = c->is_open = c->is_opening = c->is_pushing = false;
    empty_channel(&c->in);
    empty_channel(&c->out);
}

void
client_push(client *c)
{
    sn_buf b;
    size_t n = c->n_mine < SN_PUSH_MOST ? c->n_mine : SN_PUSH_MOST;

    if (!c->is_open || c->is_pushing || n == 0)
        return;
    sn_buf_init(&b, 1 << 20);
    sn_buf_printf(
        &b, "{\"t\":\"push\",\"doc\":\"%s\",\"base\":%llu,\"seq\":%llu,\"updates\":[",
        c->w->doc, (unsigned long long)c->version, (unsigned long long)c->confirmed + 1);
    for (size_t i = 0; i < n; i++) {
        seine_text changes;

        must(c->w, seine_changes_print(c->mine[i], &changes) == SEINE_OK, "no memory");
        sn_buf_printf(&b, "%s%s", i > 0 ? "," : "", changes.bytes);
        seine_text_free(&changes);
    }
    sn_buf_text(&b, "]}");
    c->is_pushing = true;
    c->pushed = n;
    say(c, b.ptr);
    if (sn_rng_below(&c->w->dice, 20) == 0) { /* sent twice */
        c->w->duplicates++;
        say(c, b.ptr);
    }
    sn_buf_fini(&b);
}

void
client_point(client *c)
{
    char text[160];

    if (!c->is_open || c->n_mine > 0)
        return;
    snprintf(text, sizeof text,
             "{\"t\":\"cursor\",\"doc\":\"%s\",\"v\":%llu,\"sel\":[[%llu,%llu]]}",
             c->w->doc, (unsigned long long)c->version,
             (unsigned long long)units_of(
                 (sn_str){c->local.bytes, random_place(c->w, &c->local)}),
             (unsigned long long)units_of((sn_str){c->local.bytes, c->local.len}));
    say(c, text);
}

/* Hearing. */

static void
hear_own(client *c, const seine_changes *u)
{
    seine_text got, want;

    must(c->w, c->n_mine > 0, "%s: an update of mine that I do not know", c->id);
    must(c->w, seine_changes_print(u, &got) == SEINE_OK, "no memory");
    must(c->w, seine_changes_print(c->mine[0], &want) == SEINE_OK, "no memory");
    must(c->w, strcmp(got.bytes, want.bytes) == 0, "%s: accepted %s, expected %s", c->id,
         got.bytes, want.bytes);
    seine_text_free(&got);
    seine_text_free(&want);
    apply(c->w, u, &c->synced);
    seine_changes_free(c->mine[0]);
    memmove(c->mine, c->mine + 1, --c->n_mine * sizeof *c->mine);
    c->confirmed++;
    if (c->pushed > 0 && --c->pushed == 0)
        c->is_pushing = false;
}

static void
hear_other(client *c, const seine_changes *u)
{
    seine_changes *over = new_changes(c->w);

    must(c->w, sn_changes_copy(u, over) == SEINE_OK, "no memory");
    apply(c->w, u, &c->synced);
    for (size_t i = 0; i < c->n_mine; i++) {
        seine_changes *mine = map(c->w, c->mine[i], over, false);
        seine_changes *next = map(c->w, over, c->mine[i], true);

        seine_changes_free(c->mine[i]);
        seine_changes_free(over);
        c->mine[i] = mine;
        over = next;
    }
    apply(c->w, over, &c->local);
    seine_changes_free(over);
}

static void
hear_updates(client *c, const seine_json *updates)
{
    for (size_t i = 0; i < seine_json_size(updates); i++) {
        const seine_json *u = seine_json_at(updates, i);
        seine_changes *changes = new_changes(c->w);
        const char *who = "";
        size_t len;

        must(c->w, sn_changes_read(changes, seine_json_get(u, "ch")) == SEINE_OK,
             "an update that is none");
        must(c->w, seine_json_string(seine_json_get(u, "c"), &who, &len),
             "an update of nobody");
        if (strcmp(who, c->id) == 0)
            hear_own(c, changes);
        else
            hear_other(c, changes);
        c->version++;
        seine_changes_free(changes);
    }
}

/* The changes from one text to another. In a world of inserts every character is unique
 * and the difference exact; elsewhere it is all between the ends they share. */
static seine_changes *
differ(const world *w, sn_str a, sn_str b)
{
    seine_changes *c = new_changes(w);
    size_t from = 0, end = 0;

    if (w->inserts_only) {
        size_t i = 0;
        bool fine = true;

        for (size_t j = 0; j < b.len; j += 3)
            if (i < a.len && memcmp(a.ptr + i, b.ptr + j, 3) == 0) {
                fine = fine && seine_changes_keep(c, 1) == SEINE_OK;
                i += 3;
            } else {
                fine = fine && seine_changes_replace(c, 0, b.ptr + j, 3) == SEINE_OK;
            }
        must(w, fine && i == a.len, "a text lost characters");
        return c;
    }
    while (from < a.len && from < b.len && a.ptr[from] == b.ptr[from])
        from++;
    while (from > 0 && ((from < a.len && ((unsigned char)a.ptr[from] & 0xc0) == 0x80) ||
                        (from < b.len && ((unsigned char)b.ptr[from] & 0xc0) == 0x80)))
        from--;
    while (end < a.len - from && end < b.len - from &&
           a.ptr[a.len - 1 - end] == b.ptr[b.len - 1 - end])
        end++;
    while (end > 0 && ((unsigned char)a.ptr[a.len - end] & 0xc0) == 0x80)
        end--;
    replace(w, c, a, from, a.len - end, sn_str_slice(b, from, b.len - end));
    return c;
}

/* The text came anew: what was typed and is not accepted is put onto it. */
static void
resync(client *c, sn_str text, uint64_t seq)
{
    world *w = c->w;
    uint64_t known = seq - c->confirmed;

    must(w, seq >= c->confirmed && known <= c->n_mine, "%s: seq %llu of %llu + %zu",
         c->id, (unsigned long long)seq, (unsigned long long)c->confirmed, c->n_mine);
    w->resyncs++;
    for (uint64_t i = 0; i < known; i++)
        apply(w, c->mine[i], &c->synced);
    sn_str base = {c->synced.bytes, c->synced.len};
    seine_changes *mine = differ(w, base, (sn_str){c->local.bytes, c->local.len});
    seine_changes *theirs = differ(w, base, text);
    seine_changes *left = map(w, mine, theirs, false);
    bool is_same =
        base.len == c->local.len && memcmp(base.ptr, c->local.bytes, base.len) == 0;

    seine_changes_free(mine);
    seine_changes_free(theirs);
    forget_mine(c);
    seine_text_free(&c->synced);
    seine_text_free(&c->local);
    c->synced = copy(w, text);
    c->local = copy(w, text);
    apply(w, left, &c->local);
    if (is_same)
        seine_changes_free(left);
    else
        c->mine[c->n_mine++] = left;
    c->confirmed = seq;
}

static uint64_t
number(const seine_json *j, const char *name)
{
    int64_t n = -1;

    (void)seine_json_int(seine_json_get(j, name), &n);
    return (uint64_t)n;
}

/* The number at the end of a client's id. */
static size_t
number_of(const char *id)
{
    return (size_t)(id[SN_CLIENT_ID - 1] - '0');
}

static void
hear_opened(client *c, const seine_json *j)
{
    sn_str text = {NULL, 0}, epoch;
    uint64_t v = number(j, "v");

    must(c->w, seine_json_string(seine_json_get(j, "epoch"), &epoch.ptr, &epoch.len),
         "opened without an epoch");
    if (seine_json_string(seine_json_get(j, "text"), &text.ptr, &text.len)) {
        if (!c->has_doc) {
            seine_text_free(&c->local);
            seine_text_free(&c->synced);
            c->local = copy(c->w, text);
            c->synced = copy(c->w, text);
            c->confirmed = number(j, "seq");
        } else {
            resync(c, text, number(j, "seq"));
        }
        c->version = v;
    } else {
        must(c->w, number(j, "from") == c->version, "%s: catch-up from elsewhere", c->id);
        hear_updates(c, seine_json_get(j, "updates"));
        must(c->w, c->version == v, "%s: catch-up ends at %llu, not %llu", c->id,
             (unsigned long long)c->version, (unsigned long long)v);
        must(c->w, c->confirmed == number(j, "seq"), "%s: seq %llu, confirmed %llu",
             c->id, (unsigned long long)number(j, "seq"),
             (unsigned long long)c->confirmed);
    }
    snprintf(c->epoch, sizeof c->epoch, "%s", epoch.ptr);
    c->has_doc = c->is_open = true;
    c->is_opening = false;
    c->is_pushing = false;
    c->pushed = 0;
    memset(c->peers, 0, sizeof c->peers);
    const seine_json *peers = seine_json_get(j, "peers");
    for (size_t i = 0; i < seine_json_size(peers); i++) {
        const char *who;
        size_t len;

        (void)seine_json_string(seine_json_get(seine_json_at(peers, i), "client"), &who,
                                &len);
        c->peers[number_of(who)] = true;
    }
}

static void
hear_peer(client *c, const seine_json *j)
{
    const char *who, *event;
    size_t len;

    (void)seine_json_string(seine_json_get(j, "client"), &who, &len);
    (void)seine_json_string(seine_json_get(j, "ev"), &event, &len);
    bool *here = &c->peers[number_of(who)];
    must(c->w, number(j, "v") == c->version, "%s: %s at %llu, not %llu", c->id, event,
         (unsigned long long)number(j, "v"), (unsigned long long)c->version);
    must(c->w, *here == (strcmp(event, "join") != 0), "%s hears %s of %s twice or never",
         c->id, event, who);
    *here = strcmp(event, "leave") != 0;
}

static void
hear_error(client *c, const seine_json *j)
{
    const char *scope, *code, *re;
    size_t len;

    (void)seine_json_string(seine_json_get(j, "scope"), &scope, &len);
    (void)seine_json_string(seine_json_get(j, "code"), &code, &len);
    (void)seine_json_string(seine_json_get(j, "re"), &re, &len);
    c->w->refused++;
    if (c->is_opening && strcmp(re, "open") != 0)
        return; /* about what the open has overtaken */
    if (strcmp(scope, "doc") == 0) {
        must(c->w, strcmp(code, "too_old") == 0, "%s: %s", c->id, code);
        ask_open(c, true);
        return;
    }
    must(c->w, strcmp(code, "unavailable") == 0, "%s: %s", c->id, code);
    if (!c->is_open)
        ask_open(c, false);
    c->is_pushing = false;
    c->pushed = 0;
}

void
client_hear(client *c)
{
    seine_text text;
    seine_json *j;
    const char *t = "";
    size_t len;

    if (!c->is_connected || !take_text(&c->in, &text))
        return;
    must(c->w, seine_json_parse(text.bytes, text.len, &j, NULL) == SEINE_OK,
         "not JSON: %s", text.bytes);
    (void)seine_json_string(seine_json_get(j, "t"), &t, &len);
    if (strcmp(t, "opened") == 0) {
        hear_opened(c, j);
    } else if (strcmp(t, "err") == 0) {
        hear_error(c, j);
    } else if (c->is_open && strcmp(t, "updates") == 0) {
        must(c->w, number(j, "v") == c->version, "%s: updates behind %llu at %llu", c->id,
             (unsigned long long)number(j, "v"), (unsigned long long)c->version);
        hear_updates(c, seine_json_get(j, "updates"));
    } else if (c->is_open && strcmp(t, "peer") == 0) {
        hear_peer(c, j);
    }
    seine_json_free(j);
    seine_text_free(&text);
}
