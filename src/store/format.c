/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/format.h"

#include <string.h>

#include "base/str.h"

/* `input` AUTO: the first bytes decide, or lists cannot have this format. */
static const struct format {
    const char *name;
    const char *endings[3];
    seine_sink_format output;
    seine_input_format input;
    bool packs; /* .gz and .zst may follow */
} formats[] = {
    /* clang-format off */
    {"jsonl",   {".jsonl", ".ndjson"},          SEINE_SINK_JSONL,  SEINE_INPUT_JSONL,   true},
    {"csv",     {".csv"},                       SEINE_SINK_CSV,    SEINE_INPUT_CSV,     true},
    {"sqlite",  {".sqlite", ".sqlite3", ".db"}, SEINE_SINK_SQLITE, SEINE_INPUT_AUTO,    false},
    {"warc",    {".warc"},                      SEINE_SINK_WARC,   SEINE_INPUT_AUTO,    true},
    {"sitemap", {".xml"},                       SEINE_SINK_AUTO,   SEINE_INPUT_SITEMAP, true},
    {"html",    {".html", ".htm"},              SEINE_SINK_AUTO,   SEINE_INPUT_HTML,    true},
    /* clang-format on */
};

static const struct packing {
    const char *ending;
    seine_sink_pack pack;
} packings[] = {{".gz", SEINE_PACK_GZIP}, {".zst", SEINE_PACK_ZSTD}};

enum {
    FORMATS = sizeof formats / sizeof *formats,
    PACKINGS = sizeof packings / sizeof *packings
};

/* Strips .gz or .zst. */
static seine_sink_pack
unpack_name(sn_str *path)
{
    for (size_t i = 0; i < PACKINGS; i++)
        if (sn_str_ends(*path, sn_str_of(packings[i].ending))) {
            path->len -= strlen(packings[i].ending);
            return packings[i].pack;
        }
    return SEINE_PACK_NONE;
}

static const struct format *
by_ending(const char *path, seine_sink_pack *out_pack)
{
    sn_str rest = sn_str_of(path && strcmp(path, "-") != 0 ? path : "");

    *out_pack = unpack_name(&rest);
    for (size_t i = 0; i < FORMATS; i++)
        for (size_t k = 0; k < 3 && formats[i].endings[k]; k++)
            if (sn_str_ends(rest, sn_str_of(formats[i].endings[k])) &&
                (formats[i].packs || *out_pack == SEINE_PACK_NONE))
                return &formats[i];
    return NULL;
}

seine_sink_format
seine_format_of_output(const char *path, seine_sink_pack *out_pack)
{
    seine_sink_pack pack;
    const struct format *f = by_ending(path, &pack);

    if (out_pack)
        *out_pack = pack;
    return f ? f->output : SEINE_SINK_AUTO;
}

seine_input_format
seine_format_of_input(const char *path)
{
    seine_sink_pack pack;
    const struct format *f = by_ending(path, &pack);

    return f ? f->input : SEINE_INPUT_AUTO;
}

seine_err
seine_format_by_name(const char *name, seine_sink_format *out_format)
{
    if (!name)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].output != SEINE_SINK_AUTO && strcmp(name, formats[i].name) == 0) {
            *out_format = formats[i].output;
            return SEINE_OK;
        }
    return SEINE_E_INVAL;
}

bool
seine_format_packs(seine_sink_format format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (format != SEINE_SINK_AUTO && formats[i].output == format)
            return formats[i].packs;
    return false;
}

const char *
seine_format_split(const char *text, seine_sink_format *out_format,
                   seine_sink_pack *out_pack)
{
    if (!text)
        return NULL;
    const char *colon = strchr(text, ':');
    sn_str word = {text, colon ? (size_t)(colon - text) : 0};
    seine_sink_pack pack = unpack_name(&word);

    for (size_t i = 0; colon && i < FORMATS; i++)
        if (formats[i].output != SEINE_SINK_AUTO &&
            sn_str_eq(word, sn_str_of(formats[i].name)) &&
            (formats[i].packs || pack == SEINE_PACK_NONE)) {
            *out_format = formats[i].output;
            if (pack != SEINE_PACK_NONE)
                *out_pack = pack;
            return colon + 1;
        }
    return text;
}
