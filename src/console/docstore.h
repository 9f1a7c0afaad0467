/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docstore.h - the documents, pages, tokens and audit rows of a console, in one SQLite
 * file.
 *
 * A document on disk is a snapshot of its text and the updates since. The store adds
 * updates, writes snapshots, reads a document back and throws away what is old. Each call
 * is one statement or some; the caller puts them between begin and commit, and several
 * callers share one commit (docstore_queue.h).
 *
 *     e = sn_docstore_open("console.db", SN_SQLITE_WRITE, &s, &diag);
 *     e = sn_docstore_begin(s);
 *     e = sn_docstore_append(s, id, updates, n);
 *     e = sn_docstore_commit(s);                       durable from here on
 *     e = sn_docstore_load(s, id, &loaded);
 *
 * The file is in WAL mode and is synced at every commit. A file that is not of a console,
 * or of a newer version, is refused and not changed.
 *
 * Time    wall time in milliseconds since 1970 is an argument.
 * Memory  SQLite's own, and what a call returns.
 * Threads one owner per handle; one handle writes, others may read at the same time.
 */
#ifndef SN_DOCSTORE_H
#define SN_DOCSTORE_H

#include "collab/collab_parts.h"
#include "console/ulid.h"
#include "seine/diag.h"
#include "store/sqlite.h"

enum {
    SN_DOC_SNAPSHOT_EVERY = 200,
    SN_DOC_LABEL = 80, /* characters */
    SN_PAGE_BYTES = 4 << 20
};

typedef struct sn_docstore sn_docstore;

typedef enum sn_doc_kind { SN_DOC_RECIPE, SN_DOC_NOTE } sn_doc_kind;

/* What is known about a document without its text. */
typedef struct sn_doc_facts {
    char id[SN_ULID], epoch[SN_ULID];
    char title[4 * SN_TITLE_MOST + 1];
    sn_doc_kind kind;
    uint64_t version;
    int64_t created_ms, modified_ms;
    char by[168]; /* in a list: name of who made the last change; "" */
} sn_doc_facts;

typedef struct sn_doc_loaded {
    sn_doc_facts facts;
    sn_doc *doc;
    uint64_t snapshot;  /* version of the newest one */
    const char *damage; /* why it must not be changed; NULL: it is whole */
} sn_doc_loaded;

/* An update as it is stored; `changes` is JSON. Texts are the caller's. */
typedef struct sn_doc_update_row {
    uint64_t version, seq;
    const char *client, *user;
    sn_str changes;
    int64_t at_ms;
    const char *name; /* of the user, in a history; NULL: nobody knows it any more */
} sn_doc_update_row;

/* A labelled version. */
typedef struct sn_doc_label_row {
    uint64_t version;
    const char *label, *author;
    int64_t at_ms;
    const char *name; /* of the author; NULL: not known */
} sn_doc_label_row;

/* Opens the file; WRITE makes it (mode 0600). STATE_FOREIGN: not of a console;
 * STATE_NEWER; STATE_CORRUPT, IO, NOMEM. The diag says what and where. */
SEINE_MUST_CHECK seine_err sn_docstore_open(const char *path, sn_sqlite_how how,
                                            sn_docstore **out_store, seine_diag *diag);
void sn_docstore_close(sn_docstore *s); /* NULL is fine */

SEINE_MUST_CHECK seine_err sn_docstore_begin(sn_docstore *s);
SEINE_MUST_CHECK seine_err sn_docstore_commit(sn_docstore *s);
void sn_docstore_rollback(sn_docstore *s);
/* A part of a transaction that can be taken back alone. */
SEINE_MUST_CHECK seine_err sn_docstore_mark(sn_docstore *s);
SEINE_MUST_CHECK seine_err sn_docstore_unmark(sn_docstore *s, bool keeps);

/* In the following: UNKNOWN: no such document; DISK_FULL, IO, STATE_CORRUPT … of
 * SQLite; NOMEM. */

/* Adds a document with its first text, which is a snapshot of version facts->version. */
SEINE_MUST_CHECK seine_err sn_docstore_create(sn_docstore *s, const sn_doc_facts *facts,
                                              sn_str text);
/* Adds updates of successive versions. INVAL: the first does not follow the version that
 * is stored, so somebody else wrote. */
SEINE_MUST_CHECK seine_err sn_docstore_append(sn_docstore *s, const char *id,
                                              const sn_doc_update_row *rows, size_t n);
/* Writes a snapshot, if there is none of that version; with a label that replaces an
 * older one. `label` and `author` may be NULL. */
SEINE_MUST_CHECK seine_err sn_docstore_snapshot(sn_docstore *s, const char *id,
                                                uint64_t version, sn_str text,
                                                const char *label, const char *author,
                                                int64_t ms);
SEINE_MUST_CHECK seine_err sn_docstore_title(sn_docstore *s, const char *id,
                                             const char *title, int64_t ms);
/* Hides a document; sn_docstore_retain removes it 30 days later. */
SEINE_MUST_CHECK seine_err sn_docstore_delete(sn_docstore *s, const char *id, int64_t ms);

SEINE_MUST_CHECK seine_err sn_docstore_find(sn_docstore *s, const char *id,
                                            sn_doc_facts *out_facts);
/* Reads a document whole. A damaged one is read as far as it goes. */
SEINE_MUST_CHECK seine_err sn_docstore_load(sn_docstore *s, const char *id,
                                            sn_doc_loaded *out_loaded);
/* The text of a version. RANGE: it is not kept any more, or is not yet. */
SEINE_MUST_CHECK seine_err sn_docstore_text(sn_docstore *s, const char *id,
                                            uint64_t version, seine_text *out_text);
/* Calls `fn` for documents with an id greater than `after` ("": all), in order. */
SEINE_MUST_CHECK seine_err sn_docstore_list(sn_docstore *s, const char *after,
                                            size_t limit,
                                            bool (*fn)(const sn_doc_facts *f, void *arg),
                                            void *arg);
/* Calls `fn` for updates of versions below `before`, the newest first. */
SEINE_MUST_CHECK seine_err
sn_docstore_history(sn_docstore *s, const char *id, uint64_t before, size_t limit,
                    bool (*fn)(const sn_doc_update_row *u, void *arg), void *arg);
/* Calls `fn` for the labels, the newest version first, at most 200. */
SEINE_MUST_CHECK seine_err sn_docstore_labels(sn_docstore *s, const char *id,
                                              bool (*fn)(const sn_doc_label_row *l,
                                                         void *arg),
                                              void *arg);

/* Throws away what is old: updates before the snapshot before last and older than a day,
 * snapshots that nothing needs, clients that are forgotten for 30 days, documents deleted
 * for 30 days, pages beyond 200, 256 MiB or 7 days. */
SEINE_MUST_CHECK seine_err sn_docstore_retain(sn_docstore *s, int64_t ms);

/* Pages that previews read. */
typedef struct sn_page_row {
    char id[SN_ULID];
    const char *url, *final_url, *content_type, *charset; /* the last two may be NULL */
    int status;
    sn_str body;
    int64_t fetched_ms;
} sn_page_row;

SEINE_MUST_CHECK seine_err sn_docstore_put_page(sn_docstore *s, const sn_page_row *page);
/* `fn` is called once; the row is valid inside of it. */
SEINE_MUST_CHECK seine_err sn_docstore_get_page(sn_docstore *s, const char *id,
                                                void (*fn)(const sn_page_row *p,
                                                           void *arg),
                                                void *arg);
SEINE_MUST_CHECK seine_err sn_docstore_use_page(sn_docstore *s, const char *id,
                                                int64_t ms);

/* Tokens: of the value itself the SHA-256 alone is kept. */
typedef struct sn_token_row {
    char id[SN_ULID];
    uint8_t hash[32];
    char role[8];                               /* "viewer", "editor", "admin" */
    char name[161];                             /* 40 characters */
    int64_t created_ms, expires_ms, revoked_ms; /* the last two 0: never */
} sn_token_row;

/* ALREADY: there is such a token. */
SEINE_MUST_CHECK seine_err sn_docstore_put_token(sn_docstore *s, const sn_token_row *t);
SEINE_MUST_CHECK seine_err sn_docstore_revoke(sn_docstore *s, const char *id, int64_t ms);
SEINE_MUST_CHECK seine_err sn_docstore_tokens(
    sn_docstore *s, bool (*fn)(const sn_token_row *t, void *arg), void *arg);

/* Who did what. */
typedef struct sn_audit_row {
    uint64_t seq; /* given by the store */
    int64_t at_ms;
    const char *user, *peer, *action;
    const char *target, *detail; /* may be NULL */
    int code;
} sn_audit_row;

SEINE_MUST_CHECK seine_err sn_docstore_audit(sn_docstore *s, const sn_audit_row *a);
/* Calls `fn` for rows below `before` (0: all), the newest first. */
SEINE_MUST_CHECK seine_err
sn_docstore_audits(sn_docstore *s, uint64_t before, size_t limit,
                   bool (*fn)(const sn_audit_row *a, void *arg), void *arg);

#endif
