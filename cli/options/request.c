/* SPDX-License-Identifier: Apache-2.0 */
#include "options/request.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/version.h>

#include "options/cookies.h"
#include "options/option_specs.h"
#include "options/password.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"

enum { FILE_MOST = 64 << 20, FIELDS_MOST = 1000 };

/* Takes ownership of a text, which may be a secret: request_free wipes it. */
static char *
keep_text(request *r, char *text, size_t len)
{
    r->owned = xalloc_room(r->owned, r->n_owned, &r->owned_cap, sizeof *r->owned);
    r->owned[r->n_owned++] = (owned){text, len};
    return text;
}

static char *
keep_copy(request *r, const char *bytes, size_t n)
{
    return keep_text(r, xalloc_copy(bytes, n), n);
}

static void
add_field(request *r, const char *name, size_t name_len, const char *value,
          size_t value_len)
{
    r->fields = xalloc_room(r->fields, r->n_fields, &r->fields_cap, sizeof *r->fields);
    r->fields[r->n_fields++] = (seine_field){{name, name_len}, {value, value_len}};
}

/* Overwrites what was typed, because the list of processes shows this very memory. */
static void
hide_typed(request *r, const char *typed, size_t n)
{
    memset((char *)typed, '*', n);
    r->is_typed = true;
}

static int
no_more(seine_err e, const char *label)
{
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e == SEINE_E_RANGE)
        return say_fail(SAY_USAGE, "a shorter one", "%s: a secret of more than %d bytes",
                        label, SEINE_SECRET_MOST);
    return say_fail(SAY_USAGE, "fewer", "%s: more than %d secrets", label, SEINE_SECRETS);
}

bool
request_reads_stdin(const fetch_settings *set)
{
    return (set->data && strcmp(set->data, "@-") == 0) ||
           (set->json_body && strcmp(set->json_body, "@-") == 0);
}

/* Reads a whole file and terminates it. NULL: after an error message. */
static char *
read_whole(const char *label, const char *path, size_t *out_len)
{
    bool stream = strcmp(path, "-") == 0;
    int fd = stream ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0, cap = 0;
    char *text = NULL;
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && len <= FILE_MOST) {
        text = len + 1 >= cap ? xalloc_resize(text, cap = cap ? 2 * cap : 4096, 1) : text;
        n = read(fd, text + len, cap - len - 1);
        len += n > 0 ? (size_t)n : 0;
        if (n < 0 && errno == EINTR)
            n = 1;
    }
    int why = errno;
    if (fd > STDIN_FILENO)
        close(fd);
    if (n >= 0 && len <= FILE_MOST) {
        text[len] = '\0';
        *out_len = len;
        return text;
    }
    if (n < 0)
        say_fail(SAY_USAGE, "another name", "%s: cannot read '%s': %s", label,
                 show(path).text, show_errno(why).text);
    else
        say_fail(SAY_USAGE, "a shorter one", "%s: '%s' is longer than 64 MiB", label,
                 show(path).text);
    free(text);
    return NULL;
}

static bool
is_token(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) &&
            (!text[i] || !strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return n > 0;
}

static bool
is_value(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

static size_t
trimmed_text(const char *text, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    return n;
}

static bool
is_elsewhere(const char *value, size_t n)
{
    return (n > 4 && strncmp(value, "env:", 4) == 0) ||
           (n > 5 && strncmp(value, "file:", 5) == 0);
}

/* Finds the value that env:NAME or file:PATH stands for. NULL: after an error message. */
static const char *
find_value(request *r, const char *label, const char *value, size_t *len)
{
    char *name = xalloc_copy(strchr(value, ':') + 1,
                             *len - (size_t)(strchr(value, ':') + 1 - value));
    const char *out = NULL;

    if (value[0] == 'e') {
        char *text = getenv(name);

        if (!text) {
            say_fail(SAY_USAGE, "set it", "%s: no '%s' in the environment", label,
                     show(name).text);
        } else {
            *len = strlen(text);
            out = keep_copy(r, text, *len);
            r->read = xalloc_room(r->read, r->n_read, &r->read_cap, sizeof *r->read);
            r->read[r->n_read++] = text;
        }
    } else {
        char *text = read_whole(label, name, len);

        if (text) {
            out = keep_text(r, text, *len);
            *len = trimmed_text(text, *len);
        }
    }
    free(name);
    return out;
}

/* Whether all of a value is one env:NAME or file:PATH. A path may have blanks in it. */
static bool
is_whole(const char *value, size_t n)
{
    char *path = xalloc_copy(value, n);
    bool one_word = strcspn(path, " \t") == n;
    bool whole = is_elsewhere(value, n) &&
                 (one_word || (path[0] == 'f' && access(path + 5, F_OK) == 0));

    free(path);
    return whole;
}

/* Puts what env:NAME and file:PATH stand for in the place of these words: "Bearer
 * env:TOKEN". *out_found: there was one. NULL: after an error message. */
static const char *
expand_words(request *r, const char *label, const char *value, size_t *len,
             bool *out_found)
{
    textbuf out = {NULL, 0, 0};
    size_t n = *len;
    bool fine = true;

    *out_found = is_whole(value, n);
    if (*out_found) {
        textbuf_free(&out);
        return find_value(r, label, value, len);
    }
    for (size_t i = 0; fine && i < n;) {
        size_t blanks = i, end;

        while (i < n && (value[i] == ' ' || value[i] == '\t'))
            i++;
        textbuf_add(&out, value + blanks, i - blanks);
        for (end = i; end < n && value[end] != ' ' && value[end] != '\t';)
            end++;
        size_t word = end - i;
        const char *found = value + i;
        if (is_elsewhere(found, word)) {
            *out_found = true;
            found = find_value(r, label, found, &word);
        }
        fine = found != NULL;
        if (fine)
            textbuf_add(&out, found, word);
        i = end;
    }
    *len = out.len;
    char *all = keep_copy(r, out.text ? out.text : "", out.len);
    if (out.text)
        explicit_bzero(out.text, out.len);
    textbuf_free(&out);
    return fine ? all : NULL;
}

/* Adds "Name: value". No message shows the value, which may be a secret. `typed`: the
 * line stands on the command line, where it is wiped. */
static int
add_line(request *r, const char *line, size_t len, bool typed)
{
    static const char hint[] = "-H 'Accept: text/html'";
    static const char *const ours[] = {
        "host", "content-length", "transfer-encoding", "connection",
        "te",   "upgrade",        "keep-alive",        "trailer"};
    const char *colon = memchr(line, ':', len);
    size_t name_len = colon ? (size_t)(colon - line) : len;

    if (!is_token(line, name_len) || !colon) {
        /* The message shows a name at most: the rest may be a secret without a colon. */
        while (!is_token(line, name_len) && name_len > 0)
            name_len--;
        return say_fail(SAY_USAGE, hint, "--header '%s': not 'Name: value'",
                        show_bytes(line, name_len).text);
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strlen(ours[i]) == name_len && strncasecmp(ours[i], line, name_len) == 0)
            return say_fail(SAY_USAGE, "leave it out",
                            "--header '%s': this one is made by the program", ours[i]);
    if (name_len == 19 && strncasecmp(line, "proxy-authorization", 19) == 0)
        return say_fail(SAY_USAGE, "a login in the URL of the proxy",
                        "--header 'proxy-authorization': goes to no host but a proxy");
    const char *given = colon + 1;
    size_t n = trimmed_text(given, len - name_len - 1);
    while (n > 0 && (*given == ' ' || *given == '\t')) {
        given++;
        n--;
    }
    size_t given_len = n;
    bool elsewhere;
    const char *value = expand_words(r, "--header", given, &n, &elsewhere);
    if (!value)
        return SAY_USAGE;
    if (!is_value(value, n))
        return say_fail(SAY_USAGE, "a value of one line",
                        "--header '%s': a control "
                        "character in its value",
                        show_bytes(line, name_len).text);
    if (r->n_fields >= FIELDS_MOST)
        return say_fail(SAY_USAGE, "fewer", "--header: more than %d headers",
                        FIELDS_MOST);
    const char *name = keep_copy(r, line, name_len);
    add_field(r, name, name_len, value, n);
    seine_err e = seine_secrets_add_field(r->secrets, name, name_len, value, n);
    if (e != SEINE_OK)
        return no_more(e, "--header");
    if (typed && !elsewhere && seine_secret_is_field(name, name_len))
        hide_typed(r, given, given_len);
    return SAY_DONE;
}

static int
add_file(request *r, const char *path)
{
    size_t len;
    char *text = read_whole("--header", path, &len);
    int code = text ? SAY_DONE : SAY_USAGE;

    if (!text)
        return code;
    keep_text(r, text, len);
    for (char *p = text; code == SAY_DONE && p < text + len;) {
        size_t line = strcspn(p, "\n"), n = trimmed_text(p, line);

        if (n > 0 && p[0] != '#')
            code = add_line(r, p, n, false);
        p += line + 1;
    }
    return code;
}

/* Adds the field of Basic authentication: name:password in base64 (RFC 7617). */
static int
add_basic(request *r, const char *name, size_t name_len, const char *pass, size_t len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = name_len + 1 + len, room = 6 + (n + 2) / 3 * 4;
    char *all = keep_text(r, xalloc_zeroed(n + 1, 1), n);
    char *line = keep_text(r, xalloc_zeroed(room + 1, 1), room), *p = line + 6;

    memcpy(all, name, name_len);
    all[name_len] = ':';
    memcpy(all + name_len + 1, pass, len);
    memcpy(line, "Basic ", sizeof "Basic ");
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)(unsigned char)all[i] << 16;

        v |= i + 1 < n ? (uint32_t)(unsigned char)all[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned char)all[i + 2] : 0;
        *p++ = digits[v >> 18];
        *p++ = digits[v >> 12 & 63];
        *p++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *p++ = i + 2 < n ? digits[v & 63] : '=';
    }
    add_field(r, "Authorization", 13, line, room);
    seine_err e = seine_secrets_add_field(r->secrets, "Authorization", 13, line, room);
    return e == SEINE_OK ? SAY_DONE : no_more(e, "--user");
}

/* Reads NAME[:PASS]; all of it, or PASS alone, may be env:NAME or file:PATH. */
static int
add_user(request *r, const char *user)
{
    size_t n = strlen(user), len;
    bool elsewhere = is_elsewhere(user, n);
    const char *text = elsewhere ? find_value(r, "--user", user, &n) : user;

    if (!text)
        return SAY_USAGE;
    const char *colon = memchr(text, ':', n), *pass = colon ? colon + 1 : NULL;
    size_t name_len = colon ? (size_t)(colon - text) : n;
    if (!pass) {
        char *typed = NULL;
        int code = password_ask(show_bytes(text, n).text, &typed, &len);

        if (code != SAY_DONE)
            return code;
        pass = keep_text(r, typed, len);
    } else {
        len = n - name_len - 1;
        if (!elsewhere && is_elsewhere(pass, len))
            pass = find_value(r, "--user", pass, &len);
        if (!pass)
            return SAY_USAGE;
    }
    int code = add_basic(r, text, name_len, pass, len);
    if (code == SAY_DONE && !elsewhere && colon && pass == colon + 1)
        hide_typed(r, colon + 1, len);
    return code;
}

/* Finds "joe:pw@" in a URL as it was typed. Returns its length; 0: no login. */
static size_t
find_login(const char *text, const char **out_at)
{
    const char *scheme = strstr(text, "://"), *stop = strpbrk(text, "/?#\\");
    const char *from = scheme && scheme + 1 == stop ? scheme + 3 : text;
    size_t n = strcspn(from, "/?#\\");

    *out_at = from;
    while (n > 0 && from[n - 1] != '@')
        n--;
    return n;
}

/* Keeps a copy of the URL and overwrites the login where it was typed. */
int
request_hide_url(request *r, const char *label, const char **text)
{
    const char *login, *typed = *text;
    size_t n = find_login(typed, &login);

    if (n < 2)
        return SAY_DONE;
    *text = keep_copy(r, typed, strlen(typed));
    const char *colon = memchr(login, ':', n - 1);
    seine_err e = seine_secrets_add(r->secrets, login, n - 1);
    if (e == SEINE_OK && colon)
        e = seine_secrets_add(r->secrets, colon + 1, n - 2 - (size_t)(colon - login));
    if (e != SEINE_OK)
        return no_more(e, label);
    hide_typed(r, login, n - 1);
    r->has_login = true;
    return SAY_DONE;
}

/* Adds "a=b; c=d" behind the cookies of -H. */
static int
add_cookie(request *r, const char *text)
{
    size_t n = strlen(text);
    bool elsewhere = is_elsewhere(text, n);
    const char *value =
        elsewhere ? find_value(r, "--cookie", text, &n) : keep_copy(r, text, n);

    if (!value)
        return SAY_USAGE;
    if (!is_value(value, n) || n > 8192)
        return say_fail(SAY_USAGE, "-b 'NAME=VALUE; NAME=VALUE'",
                        "--cookie: not one line of at most 8192 bytes");
    seine_err e = seine_secrets_add_field(r->secrets, "Cookie", 6, value, n);
    if (e != SEINE_OK)
        return no_more(e, "--cookie");
    const char *equals = elsewhere ? NULL : strchr(text, '=');
    if (equals) /* the message keeps the "=", so that nobody looks for a file */
        hide_typed(r, equals + 1, strlen(equals + 1));
    for (size_t i = 0; n > 0 && i < r->n_fields; i++) {
        seine_field *f = &r->fields[i];

        if (f->name.len == 6 && strncasecmp(f->name.ptr, "cookie", 6) == 0) {
            size_t size = f->value.len + n + 3;
            char *both = keep_text(r, xalloc_zeroed(size, 1), size);

            snprintf(both, size, "%.*s; %.*s", (int)f->value.len, f->value.ptr, (int)n,
                     value);
            f->value = (seine_view){both, size - 1};
            return SAY_DONE;
        }
    }
    if (n > 0)
        add_field(r, "Cookie", 6, value, n);
    return SAY_DONE;
}

/* Adds a header that -H does not give. */
static void
add_default(request *r, const char *name, const char *value)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < r->n_fields; i++)
        if (r->fields[i].name.len == n &&
            strncasecmp(r->fields[i].name.ptr, name, n) == 0)
            return;
    add_field(r, name, n, value, strlen(value));
}

static int
read_body(request *r, const char *label, const char *given)
{
    if (given[0] == '@') {
        char *text = read_whole(label, given + 1, &r->body.len);

        if (!text)
            return SAY_USAGE;
        r->body.ptr = keep_text(r, text, r->body.len);
    } else {
        r->body = (seine_view){given, strlen(given)};
    }
    return SAY_DONE;
}

/* Reads --json-body, which must be JSON: what is none was meant for another option. */
static int
set_json_body(const fetch_settings *set, request *r)
{
    seine_json *json = NULL;
    seine_json_fault fault;

    if (set->data)
        return say_fail(SAY_USAGE, "one of the two",
                        "--json-body does not go with --data");
    if (read_body(r, "--json-body", set->json_body) != SAY_DONE)
        return SAY_USAGE;
    seine_err e = seine_json_parse(r->body.ptr, r->body.len, &json, &fault);
    seine_json_free(json);
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e != SEINE_OK)
        return say_fail(SAY_USAGE, "--json-body '{\"a\":1}', or @FILE",
                        "--json-body: not JSON at byte %zu: %s", fault.offset,
                        fault.text);
    add_default(r, "Content-Type", "application/json");
    add_default(r, "Accept", "application/json");
    return SAY_DONE;
}

static int
set_body(const fetch_settings *set, request *r)
{
    if (set->json_body)
        return set_json_body(set, r);
    if (!set->data)
        return SAY_DONE;
    int code = read_body(r, "--data", set->data);
    if (code == SAY_DONE)
        add_default(r, "Content-Type", "application/x-www-form-urlencoded");
    return code;
}

static int
set_method(const fetch_settings *set, request *r)
{
    if (set->head && (set->data || set->json_body))
        return say_fail(SAY_USAGE, "one of the two", "--head does not go with --%s",
                        set->data ? "data" : "json-body");
    if (set->head && set->method)
        return say_fail(SAY_USAGE, "one of the two", "--head does not go with --method");
    r->method = set->method                   ? set->method
                : set->head                   ? "HEAD"
                : set->data || set->json_body ? "POST"
                                              : "GET";
    if (!is_token(r->method, strlen(r->method)) || strlen(r->method) > 32)
        return say_fail(SAY_USAGE, "-X PUT", "--method '%s': not a method",
                        show(r->method).text);
    if (strcmp(r->method, "CONNECT") == 0)
        return say_fail(SAY_USAGE, "-X PUT", "--method 'CONNECT': is for proxies");
    return SAY_DONE;
}

static int
set_names(const fetch_settings *set, request *r)
{
    const struct {
        const char *label, *text;
    } lines[] = {{"--user-agent", set->user_agent},
                 {"--contact", set->contact},
                 {"--referer", set->referer}};
    char agent[512];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].text && !option_specs_is_line(lines[i].text))
            return say_fail(SAY_USAGE, "one line of at most 256 bytes",
                            "%s '%s': not a value", lines[i].label,
                            show(lines[i].text).text);
    if (set->user_agent)
        snprintf(agent, sizeof agent, "%s", set->user_agent);
    else
        snprintf(agent, sizeof agent, "seine/%s", seine_version());
    if (set->contact) {
        size_t n = strlen(agent);

        snprintf(agent + n, sizeof agent - n, " (+%s)", set->contact);
    }
    r->user_agent = keep_copy(r, agent, strlen(agent));
    r->from = set->contact;
    if (set->referer)
        add_field(r, "Referer", 7, set->referer, strlen(set->referer));
    return SAY_DONE;
}

/* Switches core dumps off, so that no core holds a secret. A debug build keeps them on,
 * because its leak checker has to attach to the program. */
static void
dump_nothing(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifndef __SANITIZE_ADDRESS__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Cookies that servers will set and the key of a certificate are secrets, too. */
static bool
has_secrets(const request *r, const fetch_settings *set)
{
    if (set->cookies || set->cookie_jar || set->cookie || set->cert)
        return true;
    for (size_t i = 0; i < r->n_fields; i++)
        if (seine_secret_is_field(r->fields[i].name.ptr, r->fields[i].name.len))
            return true;
    return r->is_typed || r->has_login;
}

/* Takes the field that was added last from the list again. */
static int
take_last(request *r, int code, seine_field *out)
{
    if (code == SAY_DONE)
        *out = r->fields[--r->n_fields];
    return code;
}

int
request_field(request *r, const char *name, const char *value, seine_field *out)
{
    textbuf line = {NULL, 0, 0};

    textbuf_put(&line, "%s: %s", name, value);
    int code = add_line(r, line.text, line.len, false);
    seine_wipe(line.text, line.len);
    textbuf_free(&line);
    return take_last(r, code, out);
}

int
request_login(request *r, const char *user, seine_field *out)
{
    return take_last(r, add_user(r, keep_copy(r, user, strlen(user))), out);
}

static int
add_headers(request *r, const texts *lines)
{
    int code = SAY_DONE;
    char *list = lines->own ? getenv("SEINE_HEADER") : NULL;

    for (size_t i = 0; code == SAY_DONE && i < lines->count; i++) {
        const char *line = lines->items[i];

        code = line[0] == '@' ? add_file(r, line + 1)
                              : add_line(r, line, strlen(line), !lines->own);
    }
    if (list)
        seine_wipe(list, strlen(list));
    return code;
}

/* Hides the logins of proxies. Those in the environment stay where they are and are kept
 * out of messages. */
static int
hide_proxies(request *r, fetch_settings *set)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                        "all_proxy", "ALL_PROXY"};
    bool was_typed = r->is_typed;
    size_t len = set->proxy ? strlen(set->proxy) : 0;
    int code = SAY_DONE;

    if (set->proxy && !is_elsewhere(set->proxy, len))
        return request_hide_url(r, "--proxy", &set->proxy);
    if (set->proxy) {
        const char *value = find_value(r, "--proxy", set->proxy, &len);

        if (!value)
            return SAY_USAGE;
        set->proxy = keep_copy(r, value, len);
        const char *copy = keep_copy(r, value, len);
        code = request_hide_url(r, "--proxy", &copy);
    }
    for (size_t i = 0; !set->proxy && i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        const char *copy = text ? keep_copy(r, text, strlen(text)) : "";

        if (code == SAY_DONE)
            code = request_hide_url(r, names[i], &copy);
    }
    r->is_typed = was_typed;
    return code;
}

static int
hide_urls(request *r, const args *a)
{
    fetch_settings *set = a->settings;
    int code = SAY_DONE;

    for (size_t i = 0; code == SAY_DONE && i < a->count; i++)
        code = request_hide_url(r, "a login in a URL", (const char **)&a->words[i]);
    if (code == SAY_DONE && set->base)
        code = request_hide_url(r, "--base", &set->base);
    if (code == SAY_DONE && set->referer)
        code = request_hide_url(r, "--referer", &set->referer);
    return code == SAY_DONE ? hide_proxies(r, set) : code;
}

int
request_make(const args *a, request *out_request)
{
    const fetch_settings *set = a->settings;
    request *r = out_request;
    int code;

    *r = (request){.method = "GET"};
    if (seine_secrets_new(&r->secrets) != SEINE_OK)
        return no_more(SEINE_E_NOMEM, "");
    r->is_inner = run_host_is_inner(a);
    if (r->is_inner)
        say_hide_here(r->secrets);
    else
        say_hide(r->secrets);
    code = hide_urls(r, a);
    if (code == SAY_DONE)
        code = set_method(set, r);
    if (code == SAY_DONE)
        code = add_headers(r, &set->header);
    if (code == SAY_DONE && set->user)
        code = add_user(r, set->user);
    if (code == SAY_DONE && set->cookie && !cookies_are_filed(set))
        code = add_cookie(r, set->cookie);
    if (code == SAY_DONE)
        code = set_names(set, r);
    if (code == SAY_DONE)
        code = set_body(set, r);
    for (size_t i = 0; i < r->n_read; i++)
        seine_wipe(r->read[i], strlen(r->read[i]));
    if (has_secrets(r, set))
        dump_nothing();
    if (code != SAY_DONE)
        request_free(r);
    return code;
}

void
request_free(request *r)
{
    say_hide_here(NULL);
    if (!r->is_inner)
        say_hide(NULL);
    for (size_t i = 0; i < r->n_owned; i++) {
        seine_wipe(r->owned[i].text, r->owned[i].len);
        free(r->owned[i].text);
    }
    free(r->owned);
    free(r->read);
    free(r->fields);
    seine_secrets_free(r->secrets);
    *r = (request){.method = NULL};
}

seine_fetch_opts
request_fetch_opts(const request *r, const fetch_settings *set, bool insecure)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.timeout = set->timeout;
    o.retry.max_attempts = (uint32_t)set->retries + 1;
    o.user_agent = r->user_agent;
    o.from = r->from;
    o.fields = r->fields;
    o.n_fields = r->n_fields;
    o.secrets = r->secrets;
    o.insecure = insecure;
    o.cacert = set->cacert;
    o.proxy = set->proxy;
    o.no_proxy = set->no_proxy;
    o.proxy_env = getenv;
    o.resolve = (const char *const *)set->resolve.items;
    o.allow_net = (const char *const *)set->allow_net.items;
    return o;
}
