/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of URLs, each with a content type behind a blank, and a Content-Disposition as
 * the last line. Every name is safe: never absolute, never outside of its directory. The
 * names of a set are all different on a file system that ignores case, no name is the
 * directory of another, and they do not depend on the order. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "text/file_name.h"
#include "text/file_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { MOST = 64 };

/* An own idea of a safe path, written from the rules of file systems. */
static void
check_name(sn_str name)
{
    size_t part = 0;

    REQUIRE(name.len > 0 && name.len <= SN_FILE_PATH && name.ptr[0] != '/');
    REQUIRE(sn_file_name_is_safe(name));
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.ptr[i] != '/') {
            unsigned char c = (unsigned char)name.ptr[i];

            REQUIRE(c >= ' ' && c != 0x7f && !strchr("<>:\"\\|?*", c));
            part++;
            continue;
        }
        sn_str p = {name.ptr + i - part, part};

        REQUIRE(part > 0 && part <= 240 && p.ptr[0] != '.' && p.ptr[0] != '-');
        REQUIRE(p.ptr[part - 1] != '.' && p.ptr[part - 1] != ' ');
        REQUIRE(!(part == 3 && strncasecmp(p.ptr, "con", 3) == 0));
        REQUIRE(!(part >= 4 && strncasecmp(p.ptr, "nul.", 4) == 0));
        part = 0;
    }
}

static void
check_pair(sn_str a, sn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    sn_str longer = a.len > b.len ? a : b;

    REQUIRE(strncasecmp(a.ptr, b.ptr, n) != 0 ||
            (a.len != b.len && longer.ptr[n] != '/'));
}

/* Adds the claim of a line; returns how many there are now. */
static size_t
add_claim(sn_file_claim *c, size_t n, sn_str line, sn_arena *arena)
{
    char mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
    sn_str url_text = line, type = {"", 0};
    seine_url u;
    size_t len;
    sn_buf name;

    (void)sn_str_cut(line, ' ', &url_text, &type);
    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url_text.ptr, url_text.len, NULL) != SEINE_OK ||
        seine_url_host(&u).len == 0 || seine_url_key(&u, NULL, key, sizeof key, &len))
        return n;
    for (size_t i = 0; i < n; i++)
        if (sn_str_eq(c[i].key, (sn_str){key, len}))
            return n;
    sn_buf_init(&name, 1 << 20);
    REQUIRE(sn_file_name_of_url(&u, type, &name) == SEINE_OK);
    check_name(sn_buf_view(&name));
    c[n].key = (sn_str){sn_arena_text(arena, (sn_str){key, len}), len};
    c[n].natural = (sn_str){sn_arena_text(arena, sn_buf_view(&name)), name.len};
    sn_buf_reset(&name);
    REQUIRE(sn_file_name_of_last(&u, &name) == SEINE_OK);
    check_name(sn_buf_view(&name));
    REQUIRE(!memchr(name.ptr, '/', name.len));
    sn_buf_fini(&name);
    return n + 1;
}

static void
check_set(sn_file_claim *c, size_t n, sn_arena *arena)
{
    sn_file_claim back[MOST];

    REQUIRE(sn_file_names_give(c, n, arena) == SEINE_OK);
    for (size_t i = 0; i < n; i++)
        back[i] = c[n - 1 - i];
    REQUIRE(sn_file_names_give(back, n, arena) == SEINE_OK);
    for (size_t i = 0; i < n; i++) {
        check_name(c[i].name);
        REQUIRE(sn_str_eq(c[i].name, back[n - 1 - i].name));
        for (size_t j = 0; j < i; j++)
            check_pair(c[i].name, c[j].name);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_file_claim claims[MOST];
    sn_str rest = {(const char *)bytes, n}, line = {"", 0};
    sn_arena arena;
    sn_buf name;
    size_t count = 0;

    sn_arena_init(&arena, 65536, 64 << 20);
    while (count < MOST && sn_str_next(&rest, '\n', &line))
        count = add_claim(claims, count, line, &arena);
    check_set(claims, count, &arena);
    sn_buf_init(&name, 1 << 20);
    REQUIRE(sn_file_name_of_header(line, &name) == SEINE_OK);
    if (name.len > 0) {
        check_name(sn_buf_view(&name));
        REQUIRE(!memchr(name.ptr, '/', name.len) && sn_utf8_valid(sn_buf_view(&name)));
    }
    sn_buf_fini(&name);
    sn_arena_fini(&arena);
    return 0;
}
