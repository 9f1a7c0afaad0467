/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_docs.h - what the handlers of documents share: a call that waits for the store.
 *
 *     sn_doc_call *w = sn_doc_call_new(call, sizeof *w);    NULL: the call is answered
 *     sn_doc_call_read(w, run);                            answers with w->out, or an
 * error
 *
 * Time    plays no part.
 * Memory  the answer, at most 4 MiB.
 * Threads the console's alone, but for `run`.
 */
#ifndef SN_API_DOCS_H
#define SN_API_DOCS_H

#include "console/api_call.h"
#include "console/docs.h"

typedef struct sn_doc_call {
    sn_doc_job job;
    sn_call *call;
    sn_docs *docs;
    char id[SN_ULID]; /* of the document or page in the path; "": none */
    int status;       /* of the answer; 200 */
    const char *type; /* of the answer; NULL: JSON */
    sn_buf out;
    /* Called on the console's thread before the answer, when all went well; NULL: no. */
    void (*done)(struct sn_doc_call *w);
    void (*fini)(struct sn_doc_call *w); /* frees what else it has; NULL: nothing */
    const char *audit;                   /* the action, if it is one */
    const char *unknown; /* what UNKNOWN means; NULL: "no such document" */
} sn_doc_call;

/* `size` is that of a struct that begins with a sn_doc_call; it is zeroed and freed with
 * sn_free after the answer. */
void *sn_doc_call_new(sn_call *call, size_t size);
void sn_doc_call_free(void *call);
void sn_doc_call_read(void *call, seine_err (*run)(sn_docstore *s, sn_store_job *job));
void sn_doc_call_write(void *call, seine_err (*run)(sn_docstore *s, sn_store_job *job));
/* Answers with an error of the store and frees. */
void sn_doc_call_fail(void *call, seine_err e);

/* One line of text that people see: `most` characters, nothing hidden. False: it is
 * empty then, and the call is answered. */
bool sn_doc_call_line(sn_call *call, const char *name, sn_str text, size_t most,
                      char *out, size_t room);

#endif
