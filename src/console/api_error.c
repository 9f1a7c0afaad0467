/* SPDX-License-Identifier: Apache-2.0 */
#include "console/api_error.h"

#include <stddef.h>

static const sn_api_error_row rows[] = {
#define ROW(name, word, status, scope, close) {word, status, SN_API_##scope, close},
    SN_API_ERRORS(ROW)
#undef ROW
};

const sn_api_error_row *
sn_api_error_of(sn_api_error error)
{
    return error < SN_API_ERROR_COUNT ? &rows[error] : &rows[SN_API_INTERNAL];
}

const char *
sn_api_scope_name(sn_api_scope scope)
{
    static const char *const names[] = {"frame", "doc", "conn"};

    return names[scope <= SN_API_CONN ? scope : SN_API_CONN];
}
