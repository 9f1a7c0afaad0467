/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collab.h - texts that several people edit at once, without a network.
 *
 * A document has a text and a version: the number of updates that were accepted. People
 * join with an id of their own, send what they did to the version they saw, and hear what
 * the others did: seine_collab_update gives every accepted update in order, rewritten so
 * that it fits behind the one before it. Who applies them all has the text.
 *
 *     e = seine_collab_create(c, "Notes", now, id);
 *     if (e == SEINE_OK)
 *         e = seine_collab_join(c, id, "anna-1", "Anna", now, &version);
 *     seine_edit hello = {SEINE_EDIT_INSERT, 0, 0, "Hello, World!", 13};
 *     if (e == SEINE_OK)
 *         e = seine_collab_edit(c, id, "anna-1", 1, version, SEINE_UTF16, &hello, 1, now,
 *                               &version);
 *
 * `seq` numbers the updates of one client in one document, from 1. A client that does not
 * know whether its updates arrived sends them again with the same number: those that were
 * accepted are not applied twice. A call that is refused has no effect at all.
 *
 * Time    is passed in, as wall time: documents say when they were modified.
 * Memory  bounded by the options: texts, updates, people.
 * Threads one owner.
 */
#ifndef SEINE_COLLAB_H
#define SEINE_COLLAB_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/changes.h"
#include "seine/err.h"
#include "seine/time.h"
#include "seine/view.h"

#define SEINE_COLLAB_ID 27 /* bytes of an id, with its terminator */

typedef enum seine_unit { SEINE_UTF16, SEINE_CODEPOINT, SEINE_UTF8 } seine_unit;

typedef enum seine_edit_op {
    SEINE_EDIT_INSERT,
    SEINE_EDIT_DELETE,
    SEINE_EDIT_REPLACE
} seine_edit_op;

/* One edit. Insert uses no length, delete no text. */
typedef struct seine_edit {
    seine_edit_op op;
    uint64_t position, length;
    const char *text;
    size_t text_len;
} seine_edit;

typedef struct seine_collab seine_collab;

typedef struct seine_collab_opts {
    size_t size;          /* of this struct: SEINE_COLLAB_OPTS sets it */
    uint32_t max_docs;    /* 1,000 */
    uint32_t max_people;  /* 32, in a document at once */
    uint32_t max_units;   /* 262,144, of a text */
    uint32_t max_updates; /* 10,000; older ones are forgotten, at most half at once */
    seine_span quiet;     /* 45 s; who was not heard for so long has left */
    uint64_t seed;        /* of the ids; 0: a secret of its own */
} seine_collab_opts;

#define SEINE_COLLAB_OPTS                                                     \
    {                                                                         \
        sizeof(seine_collab_opts), 1000, 32, 262144, 10000, SEINE_SECS(45), 0 \
    }

/* Somebody who is in a document. */
typedef struct seine_collaborator {
    const char *client, *name;
    uint64_t cursor; /* in units of UTF-16; it moves with its text */
    unsigned color;  /* 0 to 7, given by the library */
} seine_collaborator;

typedef struct seine_collab_doc {
    const char *id, *title;
    seine_view content;
    uint64_t units, version;
    uint64_t oldest;          /* the first version that a base may be */
    seine_time last_modified; /* by an update; a join is none */
    size_t n_collaborators;
} seine_collab_doc;

/* An update that was accepted. */
typedef struct seine_update {
    const char *client;
    uint64_t seq;
    const seine_changes *changes;
} seine_update;

SEINE_BEGIN

/* INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_collab_new(const seine_collab_opts *opts,
                                            seine_collab **out_c);
void seine_collab_free(seine_collab *c); /* NULL is fine */

/* In all of these: UNKNOWN: no such document; CLOSED: the client has not joined; NOMEM.
 * What is borrowed is valid until the next call that changes the document. */

/* An empty document. INVAL: a title that is empty, not UTF-8 or longer than 200 bytes;
 * FULL. */
SEINE_MUST_CHECK seine_err seine_collab_create(seine_collab *c, const char *title,
                                               seine_time now,
                                               char out_id[SEINE_COLLAB_ID]);

/* Who joins again is there once, and is numbered on. INVAL: a client id that is not 1 to
 * 64 letters, digits, '-' and '_', a name that is not UTF-8 or longer than 80 bytes;
 * FULL: too many people. */
SEINE_MUST_CHECK seine_err seine_collab_join(seine_collab *c, const char *doc,
                                             const char *client, const char *name,
                                             seine_time now, uint64_t *out_version);

/* Each edit is on the text that the one before it made, the first on that of version
 * `base`, and each is one update. INVAL: a position inside of a character or beyond the
 * end, an edit that does nothing, a base or a number from the future; RANGE: the base is
 * not known any more; FULL: the text would be too long. */
SEINE_MUST_CHECK seine_err seine_collab_edit(seine_collab *c, const char *doc,
                                             const char *client, uint64_t seq,
                                             uint64_t base, seine_unit unit,
                                             const seine_edit *edits, size_t n,
                                             seine_time now, uint64_t *out_version);
/* The same for change sets. */
SEINE_MUST_CHECK seine_err seine_collab_push(seine_collab *c, const char *doc,
                                             const char *client, uint64_t seq,
                                             uint64_t base,
                                             const seine_changes *const *sets, size_t n,
                                             seine_time now, uint64_t *out_version);

/* INVAL, RANGE: as above, of the base; a place beyond the end is at the end. */
SEINE_MUST_CHECK seine_err seine_collab_cursor(seine_collab *c, const char *doc,
                                               const char *client, uint64_t base,
                                               uint64_t position, seine_time now);
SEINE_MUST_CHECK seine_err seine_collab_leave(seine_collab *c, const char *doc,
                                              const char *client);

SEINE_MUST_CHECK seine_err seine_collab_get(const seine_collab *c, const char *doc,
                                            seine_collab_doc *out_doc);
/* The i-th person who is there. RANGE: there are fewer. */
SEINE_MUST_CHECK seine_err seine_collab_person(const seine_collab *c, const char *doc,
                                               size_t i, seine_collaborator *out_person);
/* The update that made `version`. RANGE: it is not known any more, or not yet. */
SEINE_MUST_CHECK seine_err seine_collab_update(const seine_collab *c, const char *doc,
                                               uint64_t version,
                                               seine_update *out_update);

/* Lets those leave who were not heard for long, and says how many did. */
size_t seine_collab_sweep(seine_collab *c, seine_time now);

SEINE_END

#endif
