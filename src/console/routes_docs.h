/* SPDX-License-Identifier: Apache-2.0 */
/* routes_docs.h - rows of the routes table (route.h): documents and stored pages. */
#ifndef SN_ROUTES_DOCS_H
#define SN_ROUTES_DOCS_H

/* clang-format off */
#define SN_ROUTES_DOCS(X)                                                   \
    X(GET, "/api/docs", VIEWER, sn_api_docs, 0)                             \
    X(POST, "/api/docs", EDITOR, sn_api_docs_add, 1048576)                  \
    X(GET, "/api/docs/{id}", VIEWER, sn_api_doc, 0)                         \
    X(PATCH, "/api/docs/{id}", EDITOR, sn_api_doc_patch, 65536)             \
    X(DELETE, "/api/docs/{id}", ADMIN, sn_api_doc_delete, 65536)            \
    X(GET, "/api/docs/{id}/text", VIEWER, sn_api_doc_text, 0)               \
    X(GET, "/api/docs/{id}/history", VIEWER, sn_api_doc_history, 0)         \
    X(POST, "/api/docs/{id}/ops", EDITOR, sn_api_doc_ops, 65536)            \
    X(POST, "/api/docs/{id}/labels", EDITOR, sn_api_doc_label, 65536)       \
    X(POST, "/api/docs/{id}/restore", EDITOR, sn_api_doc_restore, 65536)    \
    X(POST, "/api/docs/{id}/validate", VIEWER, sn_api_doc_validate, 65536)  \
    X(POST, "/api/pages", EDITOR, sn_api_pages_add, 65536)                  \
    X(GET, "/api/pages/{id}", VIEWER, sn_api_stored_page, 0)                       \
    X(GET, "/api/pages/{id}/source", VIEWER, sn_api_stored_source, 0)         \
    X(GET, "/api/schema/recipe", VIEWER, sn_api_recipe_schema, 0)
/* clang-format on */

#endif
