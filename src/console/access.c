/* SPDX-License-Identifier: Apache-2.0 */
#include "console/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/file_write.h"
#include "base/hash.h"
#include "base/time.h"
#include "console/access_parts.h"
#include "console/json_out.h"

enum { FIRST_TOKENS = 8, GUESSERS = 4096, CALLERS = 4096 };
#define GUESS_WINDOW SEINE_SECS(60)
#define ONCE_LIFE    SEINE_SECS(60)

sn_access *
sn_access_of(const seine_console *c)
{
    return c->part[SN_PART_ACCESS];
}

/* The file of the first token. */

static seine_err
read_token_file(const char *path, char out[SN_TOKEN_TEXT])
{
    char text[SN_TOKEN_TEXT + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return errno == ENOENT ? SEINE_E_UNKNOWN : SEINE_E_IO;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    if (n < SN_TOKEN_TEXT - 1)
        return SEINE_E_UNKNOWN;
    memcpy(out, text, SN_TOKEN_TEXT - 1);
    out[SN_TOKEN_TEXT - 1] = '\0';
    return SEINE_OK;
}

static bool
write_token_file(const char *path, const char *text)
{
    sn_file_new f;

    if (!sn_file_begin(&f, path, 0600))
        return false;
    bool is_written =
        sn_file_write(f.fd, text, SN_TOKEN_TEXT - 1) && sn_file_write(f.fd, "\n", 1);
    return sn_file_end(&f, is_written, SN_FILE_SYNCED);
}

seine_err
seine_console_token(const char *state_dir, char *out_token, size_t cap)
{
    char path[1100], text[SN_TOKEN_TEXT];
    uint8_t hash[32];

    if (!state_dir || !out_token || cap < SN_TOKEN_TEXT)
        return SEINE_E_INVAL;
    snprintf(path, sizeof path, "%s/token", state_dir);
    seine_err e = read_token_file(path, text);
    if (e != SEINE_OK || !sn_token_hash(sn_str_of(text), hash))
        return e == SEINE_OK ? SEINE_E_UNKNOWN : e;
    memcpy(out_token, text, SN_TOKEN_TEXT);
    return SEINE_OK;
}

/* Tokens. */

sn_access_token *
sn_access_add(sn_access *a, const sn_token_row *row)
{
    sn_role role;

    if (a->n == SN_TOKENS_MOST || !sn_role_parse(sn_str_of(row->role), &role))
        return NULL;
    if (a->n == a->room) {
        size_t room = a->room ? 2 * a->room : FIRST_TOKENS;
        sn_access_token *rows = sn_realloc(a->rows, room * sizeof *rows);

        if (!rows)
            return NULL;
        a->rows = rows;
        a->room = room;
    }
    a->rows[a->n] = (sn_access_token){*row, role};
    return &a->rows[a->n++];
}

sn_access_token *
sn_access_find(sn_access *a, sn_str id)
{
    for (size_t i = 0; i < a->n; i++)
        if (sn_str_eq(id, sn_str_of(a->rows[i].row.id)))
            return &a->rows[i];
    return NULL;
}

static bool
is_alive(const sn_token_row *t, int64_t wall_ms)
{
    return t->revoked_ms == 0 && (t->expires_ms == 0 || t->expires_ms > wall_ms);
}

/* Compares with every token, so that the time says nothing about them. */
static const sn_access_token *
find_token(const sn_access *a, const uint8_t hash[32], int64_t wall_ms)
{
    const sn_access_token *found = NULL;

    for (size_t i = 0; i < a->n; i++)
        if (sn_token_equal(hash, a->rows[i].row.hash) &&
            is_alive(&a->rows[i].row, wall_ms))
            found = &a->rows[i];
    return found;
}

static void
be_admin(sn_user *out_user)
{
    *out_user = (sn_user){.role = SN_ROLE_ADMIN};
    snprintf(out_user->id, sizeof out_user->id, "00000000000000000000000000");
    snprintf(out_user->name, sizeof out_user->name, "everybody");
}

static seine_err
wrong_token(seine_console *c, const char *peer)
{
    seine_view key = seine_key_str(peer);
    sn_access *a = sn_access_of(c);

    if (peer[0] && !seine_keyed_allow(a->guesses, key, c->loop.now, 1) &&
        seine_keyed_pause(a->guesses, key, sn_time_add(c->loop.now, GUESS_WINDOW)) !=
            SEINE_OK)
        return SEINE_E_LIMITED;
    return SEINE_E_UNKNOWN;
}

/* Has this address used up its guesses? Asking takes none. */
static bool
is_locked_out(seine_console *c, const char *peer)
{
    seine_limiter_stats s;

    return peer[0] &&
           seine_keyed_stats_get(sn_access_of(c)->guesses, seine_key_str(peer),
                                 c->loop.now, &s) == SEINE_OK &&
           s.tokens < 1;
}

seine_err
sn_access_login(seine_console *c, sn_str token, const char *peer, sn_user *out_user)
{
    uint8_t hash[32];

    if (c->opts.no_auth) {
        be_admin(out_user);
        return SEINE_OK;
    }
    if (!token.ptr || token.len == 0)
        return SEINE_E_UNKNOWN;
    if (is_locked_out(c, peer))
        return SEINE_E_LIMITED;
    const sn_access_token *t = NULL;
    if (sn_token_hash(token, hash))
        t = find_token(sn_access_of(c), hash, sn_console_wall_ms(c));
    if (!t)
        return wrong_token(c, peer);
    *out_user = (sn_user){.role = t->role};
    memcpy(out_user->id, t->row.id, sizeof t->row.id);
    memcpy(out_user->name, t->row.name, sizeof t->row.name);
    return SEINE_OK;
}

bool
sn_access_is_current(const seine_console *c, const sn_user *user)
{
    const sn_access *a = sn_access_of(c);

    if (c->opts.no_auth)
        return true;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->rows[i].row.id, user->id) == 0)
            return is_alive(&a->rows[i].row, sn_console_wall_ms(c)) &&
                   a->rows[i].role == user->role;
    return false;
}

bool
sn_access_spend(seine_console *c, const sn_user *user, uint32_t *out_retry_s)
{
    *out_retry_s = 1;
    return seine_keyed_allow(sn_access_of(c)->calls, seine_key_str(user->id), c->loop.now,
                             1);
}

/* Life. */

static seine_err
make_limits(seine_console *c, sn_access *a)
{
    seine_keyed_opts calls = SEINE_KEYED_OPTS, guesses = SEINE_KEYED_OPTS;

    calls.each = (seine_rate){c->opts.rest_rate, SEINE_SECS(1), c->opts.rest_burst};
    calls.max_keys = CALLERS;
    guesses.each = (seine_rate){c->opts.bad_tokens, GUESS_WINDOW, c->opts.bad_tokens};
    guesses.max_keys = GUESSERS;
    seine_err e = seine_keyed_new(&calls, &a->calls);
    return e == SEINE_OK ? seine_keyed_new(&guesses, &a->guesses) : e;
}

/* The text of the first token, from its file or fresh. */
static seine_err
find_first(seine_console *c, sn_access *a, uint8_t out_hash[32])
{
    char path[1100];

    if (!sn_console_path(c, "token", path, sizeof path))
        return SEINE_E_RANGE;
    seine_err e = read_token_file(path, a->first);
    if (e == SEINE_E_IO)
        return e;
    if (e == SEINE_OK && sn_token_hash(sn_str_of(a->first), out_hash))
        return SEINE_OK;
    e = sn_token_draw(a->first, out_hash);
    if (e == SEINE_OK && !write_token_file(path, a->first))
        e = SEINE_E_IO;
    return e;
}

typedef struct loading {
    sn_access *a;
    const uint8_t *first;
    int64_t wall_ms;
    bool has_first, is_first_dead, is_full;
} loading;

static bool
load_token(const sn_token_row *t, void *arg)
{
    loading *l = arg;

    if (sn_token_equal(t->hash, l->first)) {
        l->has_first = true;
        l->is_first_dead = !is_alive(t, l->wall_ms);
    }
    l->is_full |= sn_access_add(l->a, t) == NULL;
    return true;
}

static seine_err
add_first(seine_console *c, sn_access *a, sn_docstore *s, const uint8_t hash[32])
{
    sn_token_row row = {.role = "admin", .name = "first"};

    sn_ulid_new(sn_console_wall(c), row.id);
    memcpy(row.hash, hash, sizeof row.hash);
    row.created_ms = sn_console_wall_ms(c);
    seine_err e = sn_docstore_begin(s);
    if (e == SEINE_OK)
        e = sn_docstore_put_token(s, &row);
    if (e == SEINE_OK)
        e = sn_docstore_commit(s);
    if (e == SEINE_OK && !sn_access_add(a, &row))
        e = SEINE_E_NOMEM;
    return e;
}

/* A first token that was revoked stays so; its file is of no use any more. */
static seine_err
load_tokens(seine_console *c, sn_access *a, seine_diag *d)
{
    char path[SN_CONSOLE_PATH];
    uint8_t hash[32];
    sn_docstore *s = NULL;
    loading l = {.a = a, .first = hash, .wall_ms = sn_console_wall_ms(c)};

    if (!sn_console_database(c, path))
        return SEINE_E_RANGE;
    seine_err e = find_first(c, a, hash);
    if (e != SEINE_OK)
        return e;
    e = sn_docstore_open(path, SN_SQLITE_WRITE, &s, d);
    if (e == SEINE_OK)
        e = sn_docstore_tokens(s, load_token, &l);
    if (e == SEINE_OK && l.is_full)
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK && !l.has_first)
        e = add_first(c, a, s, hash);
    if (l.is_first_dead)
        a->first[0] = '\0';
    sn_docstore_close(s);
    return e;
}

seine_err
sn_access_start(seine_console *c, seine_diag *d)
{
    sn_access *a = sn_zalloc(sizeof *a);
    char why[SN_DIAG_ERRNO];

    if (!a)
        return SEINE_E_NOMEM;
    c->part[SN_PART_ACCESS] = a;
    seine_err e = make_limits(c, a);
    if (e == SEINE_OK && !c->opts.no_auth)
        e = load_tokens(c, a, d);
    if (e == SEINE_E_IO && (!d || d->text[0] == '\0')) {
        sn_diag_errno(errno, why);
        sn_diag_value(d, "state_dir", sn_str_of(c->state_dir), why);
    }
    return e;
}

void
sn_access_stop(seine_console *c)
{
    (void)c;
}

bool
sn_access_is_busy(seine_console *c)
{
    (void)c;
    return false;
}

void
sn_access_fini(seine_console *c)
{
    sn_access *a = sn_access_of(c);

    if (!a)
        return;
    seine_keyed_free(a->calls);
    seine_keyed_free(a->guesses);
    sn_free(a->rows);
    sn_free(a);
    c->part[SN_PART_ACCESS] = NULL;
}

const char *
seine_console_url(const seine_console *c)
{
    return c ? c->url : NULL;
}

const char *
seine_console_link(const seine_console *c)
{
    return c && c->link[0] ? c->link : NULL;
}

const char *
seine_console_link_once(const seine_console *c)
{
    return c && c->link_once[0] ? c->link_once : NULL;
}

/* A browser gets its link as an argument, which everybody on the machine can read: so it
 * holds a key that is worth nothing a moment later. */
static void
name_once(seine_console *c, sn_access *a)
{
    char key[44];

    if (!c->opts.one_time_link)
        return;
    sn_token_draw_key(key);
    if (sn_sha256(key, strlen(key), a->once) != SEINE_OK)
        return;
    a->once_until = sn_time_add(c->loop.now, ONCE_LIFE);
    snprintf(c->link_once, sizeof c->link_once, "%s#once=%s", c->url, key);
}

void
sn_api_once(sn_call *call)
{
    seine_console *c = call->console;
    sn_access *a = sn_access_of(c);
    const seine_json *object = sn_call_object(call);
    uint8_t hash[32];
    sn_str key = {NULL, 0};
    sn_buf b;

    if (!object || !sn_call_member_text(call, object, "once", true, 64, &key))
        return;
    if (is_locked_out(c, call->peer)) {
        sn_call_fail_after(call, SN_API_RATE_LIMITED, "too many wrong keys", 60);
        return;
    }
    if (c->loop.now >= a->once_until || !a->first[0] ||
        sn_sha256(key.ptr, key.len, hash) != SEINE_OK || !sn_token_equal(hash, a->once)) {
        (void)!wrong_token(c, call->peer);
        sn_call_fail(call, SN_API_NOT_FOUND, "this link was used already, or is too old",
                     "seine serve token");
        return;
    }
    a->once_until = 0;
    if (sn_access_login(c, sn_str_of(a->first), "", &call->user) != SEINE_OK) {
        sn_call_fail(call, SN_API_NOT_FOUND, "the first token was revoked", NULL);
        return;
    }
    sn_buf_init(&b, 256);
    sn_buf_char(&b, '{');
    sn_json_out_text(&b, "token", a->first);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

void
sn_access_name(seine_console *c)
{
    sn_access *a = sn_access_of(c);

    if (strncmp(c->where, "unix:", 5) == 0) {
        snprintf(c->url, sizeof c->url, "%s", c->where);
        return;
    }
    if (c->opts.origin)
        snprintf(c->url, sizeof c->url, "%s/", c->opts.origin);
    else
        snprintf(c->url, sizeof c->url, "http://%s/", c->where);
    if (a->first[0]) {
        snprintf(c->link, sizeof c->link, "%s#token=%s", c->url, a->first);
        name_once(c, a);
    }
}
