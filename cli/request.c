/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include <seine/version.h>

#include "cookies.h"
#include "heap.h"
#include "say.h"

enum { FILE_MOST = 64 << 20, FIELDS_MOST = 1000 };

static char *
keep(request *r, char *text)
{
    r->owned = heap_room(r->owned, r->n_owned, &r->owned_cap, sizeof *r->owned);
    return r->owned[r->n_owned++] = text;
}

static void
add_field(request *r, const char *name, size_t name_len, const char *value,
          size_t value_len)
{
    r->fields = heap_room(r->fields, r->n_fields, &r->fields_cap, sizeof *r->fields);
    r->fields[r->n_fields++] = (seine_field){{name, name_len}, {value, value_len}};
}

bool
request_reads_stdin(const fetch_settings *set)
{
    return set->data && strcmp(set->data, "@-") == 0;
}

/* The whole of a file, terminated; NULL: it was said why not. */
static char *
read_whole(const char *label, const char *path, size_t *out_len)
{
    bool stream = strcmp(path, "-") == 0;
    int fd = stream ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0, cap = 0;
    char *text = NULL;
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && len <= FILE_MOST) {
        text = len + 1 >= cap ? heap_resize(text, cap = cap ? 2 * cap : 4096, 1) : text;
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
trimmed(const char *text, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    return n;
}

/* A value, or where it is: env:NAME, file:PATH. NULL: it was said what is wrong. */
static const char *
find_value(request *r, const char *label, const char *value, size_t *len)
{
    if (*len > 4 && strncmp(value, "env:", 4) == 0) {
        char *name = keep(r, heap_copy(value + 4, *len - 4));
        const char *text = getenv(name);

        if (!text)
            say_fail(SAY_USAGE, "set it", "%s: no '%s' in the environment", label,
                     show(name).text);
        *len = text ? strlen(text) : 0;
        return text;
    }
    if (*len > 5 && strncmp(value, "file:", 5) == 0) {
        char *path = keep(r, heap_copy(value + 5, *len - 5));
        char *text = read_whole(label, path, len);

        if (!text)
            return NULL;
        *len = trimmed(text, *len);
        return keep(r, text);
    }
    return value;
}

/* "Name: value"; a value is never shown, it may be a secret. */
static int
add_line(request *r, const char *line, size_t len)
{
    static const char hint[] = "-H 'Accept: text/html'";
    static const char *const ours[] = {
        "host", "content-length", "transfer-encoding", "connection",
        "te",   "upgrade",        "keep-alive",        "trailer"};
    const char *colon = memchr(line, ':', len);
    size_t name_len = colon ? (size_t)(colon - line) : len;

    if (!is_token(line, name_len) || !colon)
        return say_fail(SAY_USAGE, hint, "--header '%s': not 'Name: value'",
                        show_bytes(line, name_len).text);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strlen(ours[i]) == name_len && strncasecmp(ours[i], line, name_len) == 0)
            return say_fail(SAY_USAGE, "leave it out",
                            "--header '%s': this one is made by the program", ours[i]);
    const char *value = colon + 1;
    size_t n = trimmed(value, len - name_len - 1);
    while (n > 0 && (*value == ' ' || *value == '\t')) {
        value++;
        n--;
    }
    value = find_value(r, "--header", value, &n);
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
    add_field(r, line, name_len, value, n);
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
    keep(r, text);
    for (char *p = text; code == SAY_DONE && p < text + len;) {
        size_t line = strcspn(p, "\n"), n = trimmed(p, line);

        if (n > 0 && p[0] != '#')
            code = add_line(r, p, n);
        p += line + 1;
    }
    return code;
}

/* Reads a line from the terminal without showing it; NULL: there is none. */
static char *
ask_password(const char *name)
{
    FILE *tty = fopen("/dev/tty", "r+");
    struct termios was, silent;
    char line[1024] = "";

    if (!tty || tcgetattr(fileno(tty), &was) != 0) {
        if (tty)
            fclose(tty);
        return NULL;
    }
    fprintf(tty, "Password for %s: ", show(name).text);
    fflush(tty);
    silent = was;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(fileno(tty), TCSAFLUSH, &silent);
    bool got = fgets(line, sizeof line, tty) != NULL;
    tcsetattr(fileno(tty), TCSAFLUSH, &was);
    fputc('\n', tty);
    fclose(tty);
    return got ? heap_copy(line, strcspn(line, "\r\n")) : NULL;
}

static char *
base64(const char *bytes, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = heap_zeroed((n + 2) / 3 * 4 + 1, 1), *p = out;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)(unsigned char)bytes[i] << 16;

        v |= i + 1 < n ? (uint32_t)(unsigned char)bytes[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned char)bytes[i + 2] : 0;
        *p++ = digits[v >> 18];
        *p++ = digits[v >> 12 & 63];
        *p++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *p++ = i + 2 < n ? digits[v & 63] : '=';
    }
    return out;
}

static int
add_user(request *r, const char *user)
{
    char *pass = NULL, *all, *line;
    size_t n = strlen(user);

    if (!strchr(user, ':')) {
        pass = ask_password(user);
        if (!pass)
            return say_fail(SAY_USAGE, "-u NAME:PASS, or -H 'Authorization: env:NAME'",
                            "--user: no password, and no terminal to ask for it");
    }
    size_t size = n + (pass ? strlen(pass) : 0) + 2;
    all = heap_zeroed(size, 1);
    snprintf(all, size, pass ? "%s:%s" : "%s", user, pass ? pass : "");
    char *code = base64(all, strlen(all));
    line = heap_zeroed(strlen(code) + 7, 1);
    snprintf(line, strlen(code) + 7, "Basic %s", code);
    free(code);
    free(all);
    free(pass);
    add_field(r, "Authorization", 13, keep(r, line), strlen(line));
    return SAY_DONE;
}

/* "a=b; c=d", behind what -H says of cookies. */
static int
add_cookie(request *r, const char *text)
{
    size_t n = strlen(text);
    const char *value = find_value(r, "--cookie", text, &n);

    if (!value)
        return SAY_USAGE;
    if (!is_value(value, n) || n > 8192)
        return say_fail(SAY_USAGE, "-b 'NAME=VALUE; NAME=VALUE'",
                        "--cookie: not one line of at most 8192 bytes");
    for (size_t i = 0; n > 0 && i < r->n_fields; i++) {
        seine_field *f = &r->fields[i];

        if (f->name.len == 6 && strncasecmp(f->name.ptr, "cookie", 6) == 0) {
            size_t size = f->value.len + n + 3;
            char *both = keep(r, heap_zeroed(size, 1));

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

static int
set_body(const fetch_settings *set, request *r)
{
    static const char form[] = "application/x-www-form-urlencoded";

    if (!set->data)
        return SAY_DONE;
    if (set->data[0] == '@') {
        char *text = read_whole("--data", set->data + 1, &r->body.len);

        if (!text)
            return SAY_USAGE;
        r->body.ptr = keep(r, text);
    } else {
        r->body = (seine_view){set->data, strlen(set->data)};
    }
    for (size_t i = 0; i < r->n_fields; i++)
        if (r->fields[i].name.len == 12 &&
            strncasecmp(r->fields[i].name.ptr, "content-type", 12) == 0)
            return SAY_DONE;
    add_field(r, "Content-Type", 12, form, strlen(form));
    return SAY_DONE;
}

static int
set_method(const fetch_settings *set, request *r)
{
    if (set->head && set->data)
        return say_fail(SAY_USAGE, "one of the two", "--head does not go with --data");
    if (set->head && set->method)
        return say_fail(SAY_USAGE, "one of the two", "--head does not go with --method");
    r->method = set->method ? set->method
                : set->head ? "HEAD"
                : set->data ? "POST"
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
        if (lines[i].text && (!is_value(lines[i].text, strlen(lines[i].text)) ||
                              strlen(lines[i].text) > 256))
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
    r->user_agent = keep(r, heap_copy(agent, strlen(agent)));
    r->from = set->contact;
    if (set->referer)
        add_field(r, "Referer", 7, set->referer, strlen(set->referer));
    return SAY_DONE;
}

int
request_make(const fetch_settings *set, request *out_request)
{
    request *r = out_request;
    int code;

    *r = (request){.method = "GET"};
    code = set_method(set, r);
    for (size_t i = 0; code == SAY_DONE && i < set->header.count; i++) {
        const char *line = set->header.items[i];

        code = line[0] == '@' ? add_file(r, line + 1) : add_line(r, line, strlen(line));
    }
    if (code == SAY_DONE && set->user)
        code = add_user(r, set->user);
    if (code == SAY_DONE && set->cookie && !cookies_are_filed(set))
        code = add_cookie(r, set->cookie);
    if (code == SAY_DONE)
        code = set_names(set, r);
    if (code == SAY_DONE)
        code = set_body(set, r);
    if (code != SAY_DONE)
        request_free(r);
    return code;
}

void
request_free(request *r)
{
    for (size_t i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    free(r->owned);
    free(r->fields);
    *r = (request){.method = NULL};
}
