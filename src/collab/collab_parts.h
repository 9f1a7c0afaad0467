/* SPDX-License-Identifier: Apache-2.0 */
/* collab_parts.h - a document, its updates and the people who know it, for collab*.c. */
#ifndef SN_COLLAB_PARTS_H
#define SN_COLLAB_PARTS_H

#include "base/map.h"
#include "base/rng.h"
#include "seine/collab.h"

enum {
    SN_CLIENT_MOST = 64, /* bytes of an id */
    SN_NAME_MOST = 80,
    SN_TITLE_MOST = 200,
    SN_CLIENTS = 1024, /* that a document remembers */
    SN_COLORS = 8,
    SN_PUSH_MOST = 64, /* updates of one push */
    SN_USER_MOST = 26,
    SN_PLACE_STEPS = 8000000, /* sections and texts that one push is mapped over */
    SN_KEPT_BYTES = 8 << 20,  /* of updates that a document knows */
    SN_TEXT_STEPS = 64 << 20  /* bytes that are moved to make an older text */
};

/* Why a push is refused. */
typedef enum sn_refusal {
    SN_ACCEPTED,
    SN_BAD_BASE,   /* from the future */
    SN_TOO_OLD,    /* the updates since the base are not known any more, or too much */
    SN_BAD_SEQ,    /* a gap, or it contradicts the history */
    SN_BAD_CHANGE, /* of another length, or it cuts a character */
    SN_DOC_FULL,
    SN_NO_MEMORY
} sn_refusal;

typedef struct sn_client {
    char id[SN_CLIENT_MOST + 1], name[SN_NAME_MOST + 1];
    char user[SN_USER_MOST + 1];
    uint64_t seq; /* of its last update */
    uint64_t cursor;
    seine_time heard;
    unsigned color;
    bool is_here;
} sn_client;

typedef struct sn_update {
    seine_changes *changes;
    char id[SN_CLIENT_MOST + 1], user[SN_USER_MOST + 1];
    uint64_t seq;
    seine_time at;
} sn_update;

typedef struct sn_doc {
    char id[SEINE_COLLAB_ID], title[SN_TITLE_MOST + 1];
    seine_text text, first_text; /* now, and at version `first` */
    seine_text stable;           /* at version `committed`, while that is not the last */
    uint64_t units, version, first;
    uint64_t committed; /* the last version that is safe; others hear of no later one */
    sn_update *updates; /* [version - first] */
    size_t room, kept;  /* of `updates`; bytes of all their changes */
    seine_time modified;
    sn_client *clients[SN_CLIENTS];
    size_t n_clients;
} sn_doc;

struct seine_collab {
    seine_collab_opts opts;
    sn_map docs;
    sn_rng dice;
};

/* What one client sends: the sets are the caller's, and changed. */
typedef struct sn_push {
    uint64_t seq, base;
    seine_changes **sets;
    size_t n;
    seine_time now;
    const char *user; /* NULL: nobody in particular */
} sn_push;

/* Accepts what fits: all of the sets, or none. *out_again: how many of them were known.
 * The new versions are not committed. */
sn_refusal sn_doc_accept(sn_doc *d, const seine_collab_opts *o, sn_client *who,
                         const sn_push *push, size_t *out_again);

/* The versions up to this one are safe. NOMEM: it is not noted, and can be tried again.
 */
SEINE_MUST_CHECK seine_err sn_doc_commit(sn_doc *d, uint64_t version);
/* Forgets all versions that are not committed. */
void sn_doc_rollback(sn_doc *d);

/* An empty document, or one that was stored: `text` is that of `version`, and updates
 * follow with sn_doc_replay. NULL: no memory. */
sn_doc *sn_doc_new(const char *id, const char *title, sn_str text, uint64_t version);
/* Adds an update as it was accepted; it is committed. `give` is the document's, also when
 * it fails. INVAL: it does not fit. */
SEINE_MUST_CHECK seine_err sn_doc_replay(sn_doc *d, const char *client, const char *user,
                                         uint64_t seq, seine_time at,
                                         seine_changes *give);
/* The client of that id; a new one if `makes`. NULL: there is none, or no memory. */
sn_client *sn_doc_client(sn_doc *d, const char *id, bool makes);
/* The update that made `version`, which is known. */
const sn_update *sn_doc_update(const sn_doc *d, uint64_t version);
/* The text that is committed, borrowed, and its length. */
sn_str sn_doc_stable(const sn_doc *d, uint64_t *out_units);
/* Where a place of version `from` is in version `to`; both are known. */
uint64_t sn_doc_move(const sn_doc *d, const char *client, uint64_t from, uint64_t to,
                     uint64_t place);
/* Keeps the updates behind `version` alone. NOMEM. */
SEINE_MUST_CHECK seine_err sn_doc_forget(sn_doc *d, uint64_t version);

/* Is an older text too far from the first that is known to be made in a turn? */
bool sn_doc_is_far(const sn_doc *d, uint64_t base);
/* Is there a text of that version? INVAL: not yet; RANGE: not any more. */
SEINE_MUST_CHECK seine_err sn_doc_check_base(const sn_doc *d, uint64_t base);
/* The text of that version, which there is. */
SEINE_MUST_CHECK seine_err sn_doc_text(const sn_doc *d, uint64_t base,
                                       seine_text *out_text);
void sn_doc_free(sn_doc *d);

/* Makes change sets of edits, the first of them on `text`. *out_n sets are made, also
 * when it fails; the caller frees them. */
SEINE_MUST_CHECK seine_err sn_edits_read(const seine_edit *edits, size_t n,
                                         seine_unit unit, const seine_text *text,
                                         seine_changes **sets, size_t *out_n);

#endif
