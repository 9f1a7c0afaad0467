/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/psl.h"

#include <libpsl.h>
#include <string.h>

#include "base/alloc.h"

struct seine_psl {
    const psl_ctx_t *rules;
    psl_ctx_t *own; /* read from a file; NULL: use the built-in list */
};

seine_err
seine_psl_new(const char *path, seine_psl **out_psl)
{
    if (!out_psl)
        return SEINE_E_INVAL;
    seine_psl *psl SN_AUTOFREE = sn_zalloc(sizeof *psl);

    if (!psl)
        return SEINE_E_NOMEM;
    if (path)
        psl->rules = psl->own = psl_load_file(path);
    else
        psl->rules = psl_builtin();
    if (!psl->rules || psl_suffix_count(psl->rules) <= 0) {
        psl_free(psl->own);
        return SEINE_E_IO;
    }
    *out_psl = SN_STEAL(psl);
    return SEINE_OK;
}

void
seine_psl_free(seine_psl *psl)
{
    if (psl)
        psl_free(psl->own);
    sn_free(psl);
}

/* Copies the name with a terminator for libpsl; false if a label is empty. */
static bool
copy_name(const char *name, size_t len, char out[SEINE_PSL_NAME + 1])
{
    char before = '.';

    if (!name || len == 0 || len > SEINE_PSL_NAME || name[len - 1] == '.')
        return false;
    for (size_t i = 0; i < len; before = name[i++])
        if (name[i] == '\0' || (name[i] == '.' && before == '.'))
            return false;
    memcpy(out, name, len);
    out[len] = '\0';
    return true;
}

size_t
seine_psl_site(const seine_psl *psl, const char *name, size_t len)
{
    char text[SEINE_PSL_NAME + 1];
    const char *site;

    if (!psl || !copy_name(name, len, text))
        return 0;
    site = psl_registrable_domain(psl->rules, text);
    return site ? strlen(site) : 0;
}

size_t
seine_psl_suffix(const seine_psl *psl, const char *name, size_t len)
{
    char text[SEINE_PSL_NAME + 1];
    const char *suffix;

    if (!psl || !copy_name(name, len, text))
        return 0;
    suffix = psl_unregistrable_domain(psl->rules, text);
    return suffix ? strlen(suffix) : 0;
}

size_t
seine_psl_count(const seine_psl *psl)
{
    if (!psl)
        return 0;
    return (size_t)psl_suffix_count(psl->rules);
}
