/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/coder.h"

static const struct {
    sn_str name, label, nothing;
} codings[] = {
    [SNC_CODING_NONE] = {{"", 0}, {"", 0}, {"", 0}},
    [SNC_CODING_GZIP] = {{"gzip", 4},
                         {"gzip", 4},
                         {"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20}},
    [SNC_CODING_DEFLATE] = {{"deflate", 7}, {"deflate", 7}, {"", 0}},
    [SNC_CODING_RAW] = {{"rawdeflate", 10}, {"deflate", 7}, {"", 0}},
    [SNC_CODING_BR] = {{"br", 2}, {"br", 2}, {"", 0}},
    /* RFC 8878: a frame of one empty raw block. */
    [SNC_CODING_ZSTD] = {{"zstd", 4}, {"zstd", 4}, {"\x28\xb5\x2f\xfd\0\x38\x01\0\0", 9}},
};

snc_coding
snc_coder_named(sn_str name)
{
    for (size_t i = SNC_CODING_GZIP; i < sizeof codings / sizeof *codings; i++)
        if (sn_str_eq(name, codings[i].name))
            return (snc_coding)i;
    return SNC_CODING_NONE;
}

sn_str
snc_coder_label(snc_coding coding)
{
    return codings[coding].label;
}

sn_str
snc_coder_nothing(snc_coding coding)
{
    return codings[coding].nothing;
}

seine_err
snc_coder_new(snc_coding coding, snc_coder **out_coder)
{
    if (coding == SNC_CODING_BR)
        return snc_coder_brotli(out_coder);
    if (coding == SNC_CODING_ZSTD)
        return snc_coder_zstd(out_coder);
    return snc_coder_zlib(coding, out_coder);
}

seine_err
snc_coder_bomb(snc_coding coding, uint64_t size, sn_buf *out, snc_bomb *out_bomb)
{
    if (coding == SNC_CODING_BR)
        return snc_bomb_brotli(size, out, out_bomb);
    if (coding == SNC_CODING_ZSTD)
        return snc_bomb_zstd(size, out, out_bomb);
    return snc_bomb_zlib(coding, size, out, out_bomb);
}
