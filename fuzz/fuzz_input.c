/* SPDX-License-Identifier: Apache-2.0 */
/* An input of any bytes. The first chooses format and base, the second how many bytes a
 * read gives; whatever it is, the asks are those of the file read at once, no line is
 * lost, and memory stays in bounds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "seine/input.h"
#include "seine/plumbing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* A print of everything an ask says. */
typedef struct print {
    uint64_t hash, asks, bad, lines;
    seine_err end;
} print;

static void
mix(uint64_t *hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        *hash = (*hash ^ p[i]) * UINT64_C(1099511628211);
    *hash = (*hash ^ n) * UINT64_C(1099511628211);
}

static void
mix_view(uint64_t *hash, seine_view v)
{
    REQUIRE(v.ptr || v.len == 0);
    mix(hash, v.ptr ? v.ptr : "", v.len);
}

static void
check_ask(const seine_ask *a, print *p)
{
    seine_json *tags = NULL;

    REQUIRE(a->url.ptr && a->input.ptr && a->line > p->lines);
    REQUIRE(a->priority >= -9 && a->priority <= 9 && a->retries >= -1 && a->timeout >= 0);
    p->lines = a->line;
    p->asks++;
    p->bad += a->is_bad;
    if (a->is_bad)
        REQUIRE(a->rule.ptr && a->rule.len > 0 && a->input.len <= 260);
    else
        REQUIRE(a->url.len > 0 && !memchr(a->url.ptr, '\0', a->url.len));
    if (a->tags.ptr) {
        REQUIRE(seine_json_parse(a->tags.ptr, a->tags.len, &tags, NULL) == SEINE_OK);
        REQUIRE(seine_json_type_of(tags) == SEINE_JSON_OBJECT);
        seine_json_free(tags);
    }
    for (size_t i = 0; i < a->n_fields; i++) {
        REQUIRE(a->fields[i].name.len > 0);
        REQUIRE(!memchr(a->fields[i].value.ptr, '\n', a->fields[i].value.len));
        mix_view(&p->hash, a->fields[i].name);
        mix_view(&p->hash, a->fields[i].value);
    }
    mix_view(&p->hash, a->url);
    mix_view(&p->hash, a->input);
    mix_view(&p->hash, a->id);
    mix_view(&p->hash, a->tags);
    mix_view(&p->hash, a->method);
    mix_view(&p->hash, a->body);
    mix_view(&p->hash, a->rule);
    mix(&p->hash, &a->line, sizeof a->line);
    mix(&p->hash, &a->timeout, sizeof a->timeout);
}

static print
read_all(int fd, uint8_t choice, bool packed)
{
    char path[64];
    seine_diag diag = SEINE_DIAG;
    seine_input_opts o = {.size = sizeof(seine_input_opts),
                          .path = path,
                          .format = (seine_input_format)(choice % 7)};
    seine_input *in = NULL;
    seine_ask ask;
    print p = {0};

    o.base = choice & 4 ? "http://base.example/a/b?c" : NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    REQUIRE(seine_input_open(&o, &in, &diag) == SEINE_OK);
    while ((p.end = seine_input_next(in, &ask)) == SEINE_OK)
        check_ask(&ask, &p);
    REQUIRE(p.end == SEINE_E_CLOSED || (p.end == SEINE_E_IO && (p.asks == 0 || packed)));
    seine_input_free(in);
    return p;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2 || n > 60000) /* what a pipe holds */
        return 0;

    uint8_t choice = bytes[0];
    size_t piece = bytes[1];
    int file = memfd_create("input", MFD_CLOEXEC), ends[2];
    bytes += 2;
    n -= 2;
    bool packed = n >= 4 && (memcmp(bytes, "\x1f\x8b", 2) == 0 ||
                             memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0);

    REQUIRE(file >= 0 && write(file, bytes, n) == (ssize_t)n);
    print whole = read_all(file, choice, packed);
    close(file);

    /* A pipe that hands out packets gives one to a read: pieces of any size. */
    REQUIRE(pipe2(ends, O_CLOEXEC | (piece ? O_DIRECT : 0)) == 0);
    for (size_t at = 0, packets = 0; at < n; packets++) {
        size_t len = packets < 14 && piece && piece < n - at ? piece : n - at;

        len = len > 4096 && piece ? 4096 : len;
        if (write(ends[1], bytes + at, len) != (ssize_t)len)
            abort();
        at += len;
    }
    close(ends[1]);
    print pieces = read_all(ends[0], choice, packed);
    close(ends[0]);
    REQUIRE(whole.end == pieces.end);
    if (whole.end == SEINE_E_CLOSED || !packed) /* else: up to where it is damaged */
        REQUIRE(memcmp(&whole, &pieces, sizeof whole) == 0);
    return 0;
}
