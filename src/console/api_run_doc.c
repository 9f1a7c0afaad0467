/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a run from a document: the run pins its version and keeps its text. */
#include <string.h>

#include "base/alloc.h"
#include "console/api_runs.h"
#include "console/docs.h"

/* The store reads a version of a document for a call. */
typedef struct pin {
    sn_doc_job job; /* first */
    sn_call *call;
    char id[SN_ULID];
    uint64_t version; /* UINT64_MAX: the newest */
    sn_doc_facts facts;
    seine_text text;
} pin;

static seine_err
read_text(sn_docstore *s, sn_store_job *job)
{
    pin *p = (pin *)(void *)job;
    seine_err e = sn_docstore_find(s, p->id, &p->facts);

    if (e == SEINE_OK && p->version == UINT64_MAX)
        p->version = p->facts.version;
    return e == SEINE_OK ? sn_docstore_text(s, p->id, p->version, &p->text) : e;
}

static void
start(pin *p)
{
    sn_run_recipe recipe = {.doc = p->id,
                            .title = p->facts.title,
                            .version = p->version,
                            .text = {p->text.bytes, p->text.len}};

    if (p->facts.kind != SN_DOC_RECIPE)
        sn_call_fail(p->call, SN_API_BAD_MESSAGE, "the document is no recipe", NULL);
    else
        sn_api_run_start_text(p->call, &recipe);
}

static void
finish(sn_doc_job *j)
{
    pin *p = (pin *)(void *)j;

    if (j->job.err == SEINE_OK)
        start(p);
    else if (j->job.err == SEINE_E_RANGE)
        sn_call_fail(p->call, SN_API_TOO_OLD, "no such version of the document", NULL);
    else if (j->job.err == SEINE_E_UNKNOWN)
        sn_call_fail(p->call, SN_API_NOT_FOUND, "no such document", NULL);
    else
        sn_call_fail_err(p->call, j->job.err);
    seine_text_free(&p->text);
    sn_free(p);
}

void
sn_api_run_start_doc(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    sn_docs *docs = sn_docs_of(call->console);
    sn_str id = {NULL, 0};
    uint64_t version = UINT64_MAX;

    if (!sn_call_member_text(call, object, "doc", true, SN_ULID - 1, &id) ||
        !sn_call_member_u64(call, object, "version", false, INT64_MAX, &version))
        return;
    pin *p = docs && sn_ulid_is(id) ? sn_zalloc(sizeof *p) : NULL;
    if (!p) {
        sn_call_fail(call, SN_API_NOT_FOUND, "no such document", NULL);
        return;
    }
    p->call = call;
    p->version = version;
    memcpy(p->id, id.ptr, id.len);
    if (sn_docs_read(docs, &p->job, read_text, finish))
        return;
    sn_call_fail(call, SN_API_UNAVAILABLE, "too much is waiting already", NULL);
    sn_free(p);
}
