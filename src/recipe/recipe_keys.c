/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/recipe_keys.h"

#include <string.h>

#include "recipe/parts.h"

/* Maps and their keys. Those with @ stand at the top and in each of the pages. */
static const struct {
    const char *path; /* "": the recipe */
    const char *keys;
} maps[] = {
    {"", SN_KEYS_TOP},
    {"vars.*", SN_KEYS_VAR},
    {"start", SN_KEYS_START},
    {"start.over.*", SN_KEYS_OVER},
    {"request", SN_KEYS_REQUEST},
    {"pages.*", SN_KEYS_PAGE},
    {"expect", SN_KEYS_EXPECT},
    {"tests", SN_KEYS_TEST},
    {"tests.expect", SN_KEYS_TEST_EXPECT},
#define X(id, key, keys) {"@next", keys},
    SN_KEYS_NEXT(X)
#undef X
        {"@follow", SN_KEYS_FOLLOW},
    {"@items", SN_KEYS_ITEMS},
    {"@items.each", SN_KEYS_EACH_TABLE},
    {"@items.each", SN_KEYS_EACH_JSONLD},
    {"@items.fields.*", SN_KEYS_FIELD},
    {"@items.derive.*", SN_KEYS_DERIVE},
};

static const char *const formats[] = {SN_WORDS_FORMAT, NULL};
static const char *const errors[] = {SN_WORDS_ON_ERROR, NULL};
static const char *const cases[] = {SN_WORDS_CASE, NULL};
static const char *const fills[] = {SN_WORDS_FILL, NULL};
static const char *const empties[] = {SN_WORDS_EMPTY, NULL};
static const char *const decimals[] = {SN_WORDS_DECIMAL, NULL};
static const char *const truths[] = {"true", "false", NULL};

/* Keys that take words. */
static const struct {
    const char *path, *key; /* the path NULL: wherever the key is */
    const char *const *words;
} choices[] = {
    {"", "format", formats},
    {"pages.*", "format", formats},
    {"@items", "on-error", errors},
    {"@items.fields.*", "case", cases},
    {"@items.fields.*", "fill", fills},
    {"@items.fields.*", "empty", empties},
    {NULL, "decimal", decimals},
    {NULL, "required", truths},
    {NULL, "secret", truths},
    {"expect", "unique", truths},
    {"@items.fields.*", "all", truths},
    {"@items.fields.*", "type", sn_type_names},
    {"@items.derive.*", "type", sn_type_names},
    {"vars.*", "type", sn_type_names},
};

static const char *const *
find_words(const char *path, sn_str key)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if ((!choices[i].path || strcmp(choices[i].path, path) == 0) &&
            sn_str_eq(key, sn_str_of(choices[i].key)))
            return choices[i].words;
    return NULL;
}

/* Is this key a map of its own? */
static bool
is_map(const char *path, sn_str key)
{
    char whole[64];
    size_t n = strlen(path);
    bool is_page = n == 0 || strcmp(path, "pages.*") == 0;

    if (is_page && (sn_str_eq(key, SN_STR("next")) || sn_str_eq(key, SN_STR("follow")) ||
                    sn_str_eq(key, SN_STR("items"))))
        return true;
    if (n + key.len + 2 > sizeof whole)
        return false;
    memcpy(whole, path, n);
    whole[n] = '.';
    memcpy(whole + n + (n > 0), key.ptr, key.len);
    sn_str full = {whole, n + (n > 0) + key.len};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (sn_str_starts(sn_str_of(maps[i].path), full))
            return true;
    return false;
}

static void
put_key(sn_buf *b, const char *prefix, const char *path, sn_str key)
{
    const char *shown = path[0] == '@' ? path + 1 : path;
    const char *const *words = find_words(path, key);

    sn_buf_text(b, b->ptr[b->len - 1] == '[' ? "{\"path\":\"" : ",{\"path\":\"");
    sn_buf_printf(b, "%s%s%s%.*s\",\"type\":", prefix, shown, shown[0] ? "." : "",
                  SN_FMT(key));
    if (!words) {
        sn_buf_text(b, is_map(path, key) ? "\"map\"}" : "\"text\"}");
        return;
    }
    sn_buf_text(b, "\"enum\",\"values\":[");
    for (size_t i = 0; words[i]; i++)
        sn_buf_printf(b, "%s\"%s\"", i > 0 ? "," : "", words[i]);
    sn_buf_text(b, "]}");
}

/* Was the key printed for this path before, by an earlier row? */
static bool
is_repeated(size_t row, sn_str key)
{
    for (size_t i = 0; i < row; i++) {
        sn_str rest = sn_str_of(maps[i].keys), word;

        if (strcmp(maps[i].path, maps[row].path) != 0)
            continue;
        while (sn_str_next(&rest, ' ', &word))
            if (sn_str_eq(word, key))
                return true;
    }
    return false;
}

void
sn_recipe_schema(sn_buf *out)
{
    sn_buf_text(out, "{\"keys\":[");
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        sn_str rest = sn_str_of(maps[i].keys), key;

        while (sn_str_next(&rest, ' ', &key)) {
            if (is_repeated(i, key))
                continue;
            put_key(out, "", maps[i].path, key);
            if (maps[i].path[0] == '@')
                put_key(out, "pages.*.", maps[i].path, key);
        }
    }
    for (size_t i = 0; sn_recipe_options[i]; i++)
        put_key(out, "", "options", sn_str_of(sn_recipe_options[i]));
    sn_buf_text(out, "]}");
}
