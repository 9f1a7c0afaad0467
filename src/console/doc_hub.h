/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_hub.h - the documents that people have open, and who hears what.
 *
 * The hub takes one call per message, answers with texts for sessions and with jobs for
 * the store, and touches neither a socket nor a disk. A push is accepted in memory, its
 * rows go to the store, and when the commit is done everyone who has the document open
 * hears of it, the author included: what somebody heard is on disk. If the commit fails
 * the versions are taken back, nobody heard of them, and the authors push again.
 *
 *     e = sn_hub_new(&opts, &hub);
 *     sn_hub_join(hub, &session, now);
 *     sn_hub_open(hub, &session, &ask, now, &why);     `opened` comes when it is loaded
 *     refused = sn_hub_push(sn_hub_opened(&session, doc), &edit, now, &again, &why);
 *     sn_hub_committed(hub, append, err, now);         the store has done it
 *
 * Time    `now` is monotonic; `wall` of the options is asked for what is stored.
 * Memory  texts and updates of open documents; 32 sessions each, 8 documents a session.
 * Threads one owner.
 */
#ifndef SN_DOC_HUB_H
#define SN_DOC_HUB_H

#include "base/buf.h"
#include "console/api_error.h"
#include "console/docstore.h"

enum {
    SN_HUB_SESSIONS = 256, /* of one document, at most; 32 unless told otherwise */
    SN_HUB_DOCS = 64,      /* of one session, at most; 8 unless told otherwise */
    SN_HUB_OPEN = 256,     /* documents in memory */
    SN_HUB_RANGES = 16,    /* of one selection */
    SN_HUB_SECTIONS = 1000,
    SN_HUB_UNITS = 262144,
    SN_HUB_CATCH_UP = 5000, /* updates; else the whole text is sent */
    SN_CLIENT_ID = 22       /* characters */
};

typedef struct sn_hub sn_hub;
typedef struct sn_live_doc sn_live_doc;
typedef struct sn_member sn_member;

/* One connection that said hello. The owner fills the first part and keeps it in place
 * from join to leave. */
typedef struct sn_session {
    void *peer; /* whom the options' `send` writes to */
    char client[SN_CLIENT_ID + 1], user[SN_ULID], name[168];
    const char *color;
    bool may_edit;

    uint64_t number; /* of the hub */
    sn_member *members[SN_HUB_DOCS];
    size_t n_members, n_opening;
    seine_time active; /* the last message that was more than a pong */
    struct sn_session *next, *prev;
} sn_session;

/* What becomes of a document or a version that somebody waits for. */
typedef struct sn_hub_wait {
    struct sn_hub_wait *next;
    uint64_t version; /* of the hub */
    /* `d` NULL: there is none, and `why` says so. The node is the owner's again. */
    void (*fn)(struct sn_hub_wait *w, sn_live_doc *d, sn_api_error why);
} sn_hub_wait;

/* Updates on their way to the store. */
typedef struct sn_append {
    sn_live_doc *d;
    char doc[SN_ULID];
    sn_doc_update_row rows[SN_PUSH_MOST];
    size_t n;
    sn_buf texts; /* the changes, as JSON */
    char client[SN_CLIENT_MOST + 1], user[SN_ULID];
    uint64_t generation; /* of the document */
    uint64_t session;    /* of the author; 0: none */
    bool has_id;
    int64_t id; /* of the message */
    seine_time began;
} sn_append;

/* A text on its way to the store. */
typedef struct sn_snapshot {
    char doc[SN_ULID];
    uint64_t version;
    seine_text text;
    char label[4 * SN_DOC_LABEL + 1], author[SN_ULID]; /* "": none */
} sn_snapshot;

/* What is counted; the value is a number of documents, sessions or updates, or a span. */
typedef enum sn_hub_note {
    SN_NOTE_DOCS,
    SN_NOTE_SESSIONS,
    SN_NOTE_ACCEPTED, /* updates on the last version */
    SN_NOTE_REBASED,  /* updates on an older one */
    SN_NOTE_DUPLICATE,
    SN_NOTE_REJECTED, /* pushes that were refused */
    SN_NOTE_BROADCAST /* from the push to the last frame that was queued */
} sn_hub_note;

typedef struct sn_hub_opts {
    void (*send)(void *peer, sn_str text, void *arg);
    /* Is there room for one more job? Asked before anything is accepted. */
    bool (*has_room)(void *arg);
    /* Jobs for the store, answered by sn_hub_loaded and sn_hub_committed, in order; a
     * snapshot is not answered. They are given away. */
    void (*load)(const char *doc, void *arg);
    void (*append)(sn_append *give, void *arg);
    void (*snapshot)(sn_snapshot *give, void *arg);
    /* The text of a document is another one: after commits and when it is loaded. */
    void (*changed)(sn_live_doc *d, void *arg);               /* NULL: nobody looks */
    void (*note)(sn_hub_note what, int64_t value, void *arg); /* NULL: nobody counts */
    int64_t (*wall_ms)(void *arg);
    void *arg;
    uint32_t max_units;    /* 0: SN_HUB_UNITS */
    uint32_t max_updates;  /* of one push; 0: SN_PUSH_MOST */
    uint32_t max_sections; /* of one update; 0: SN_HUB_SECTIONS */
    uint32_t max_sessions; /* of one document; 0: 32 */
    uint32_t max_docs;     /* of one session; 0: 8 */
    uint32_t max_kept;     /* updates in memory; 0: 10,000 */
} sn_hub_opts;

struct sn_member {
    sn_session *session;
    sn_live_doc *d;
    uint64_t sel[SN_HUB_RANGES][2]; /* of the committed version */
    size_t n_sel;
    bool is_shown;
};

struct sn_live_doc {
    sn_hub *hub;
    sn_doc_facts facts; /* title and times; the version is doc->committed */
    sn_doc *doc;        /* NULL: it is being loaded */
    const char *damage; /* why nobody may change it, or NULL */
    bool is_deleted;
    sn_member *members[SN_HUB_SESSIONS];
    size_t n_members;
    sn_hub_wait *for_load, *for_commit;
    uint64_t snapshot;   /* version of the last one */
    uint64_t generation; /* counts what was taken back */
    unsigned appends;    /* on their way */
    unsigned pins;       /* reasons to stay in memory */
    seine_time idle;     /* since when nobody has it open */
    seine_time changed;  /* when the last update was committed */

    /* Of preview.c. */
    bool has_checked, is_checking;
    uint64_t checked; /* the version whose problems were told */
    bool is_previewing, wants_preview;
    char page[SN_ULID]; /* of the preview that is wanted */
    uint64_t asker;     /* its session */
};

typedef struct sn_hub_why {
    char text[120];
} sn_hub_why;

SEINE_MUST_CHECK seine_err sn_hub_new(const sn_hub_opts *opts, sn_hub **out_hub);
void sn_hub_free(sn_hub *h); /* sessions have left; NULL is fine */

/* Sessions. `why` is a word of `peer` messages: "close", "gone", "timeout", "replaced",
 * "shutdown". */
void sn_hub_join(sn_hub *h, sn_session *s, seine_time now);
void sn_hub_leave(sn_hub *h, sn_session *s, const char *why, seine_time now);
/* Hides the carets of who did nothing for 30 minutes, takes documents out of memory that
 * nobody had open for a minute. Every 15 s. */
void sn_hub_sweep(sn_hub *h, seine_time now);
/* The session did something. */
void sn_hub_active(sn_hub *h, sn_session *s, seine_time now);

/* Messages. SN_API_ERROR_COUNT: it is not refused; `opened` and `updates` come later. */
typedef struct sn_hub_open_ask {
    char doc[SN_ULID];
    bool has_version; /* and epoch */
    uint64_t version;
    char epoch[SN_ULID];
    bool has_id;
    int64_t id;
} sn_hub_open_ask;
sn_api_error sn_hub_open(sn_hub *h, sn_session *s, const sn_hub_open_ask *ask,
                         seine_time now, sn_hub_why *why);
sn_api_error sn_hub_close(sn_hub *h, sn_session *s, const char *doc, seine_time now);
/* Whoever edits: a session, or a call of HTTP (session 0). The sets are the caller's. */
typedef struct sn_hub_edit {
    const char *client, *user;
    uint64_t base, seq;
    seine_changes **sets;
    size_t n;
    uint64_t session;
    bool has_id;
    int64_t id;
} sn_hub_edit;
sn_api_error sn_hub_push(sn_live_doc *d, const sn_hub_edit *edit, seine_time now,
                         size_t *out_again, sn_hub_why *why);
/* The document that this session has open, or NULL. */
sn_live_doc *sn_hub_opened(const sn_session *s, const char *doc);
/* `n` ranges of version `version`; shown false: no selection. */
sn_api_error sn_hub_select(sn_hub *h, sn_session *s, const char *doc, uint64_t version,
                           const uint64_t (*sel)[2], size_t n, bool is_shown);

/* Others. */
/* Calls w->fn when the document is in memory, now or later. It stays there until the
 * call to sn_hub_unpin that follows. */
void sn_hub_want(sn_hub *h, const char *doc, sn_hub_wait *w, seine_time now);
void sn_hub_unpin(sn_live_doc *d, seine_time now);
/* Calls w->fn when all that is accepted now is committed. */
void sn_hub_settled(sn_live_doc *d, sn_hub_wait *w);
/* A title, a label, a removal that the store has taken. */
void sn_hub_retitle(sn_hub *h, const char *doc, const char *title, int64_t ms);
void sn_hub_labelled(sn_hub *h, const char *doc, uint64_t version, const char *label);
void sn_hub_deleted(sn_hub *h, const char *doc, seine_time now);
/* A message for everyone who has the document open. */
void sn_hub_tell(sn_live_doc *d, sn_str text);
sn_live_doc *sn_hub_find(const sn_hub *h, const char *doc); /* in memory, or NULL */
/* Snapshots of all documents that have changed: before a stop. */
void sn_hub_save(sn_hub *h);
bool sn_hub_is_busy(const sn_hub *h); /* something is on its way to the store */
size_t sn_hub_docs(const sn_hub *h);
size_t sn_hub_sessions(const sn_hub *h);

/* Answers of the store. `loaded` is the hub's afterwards; err UNKNOWN: no such. */
void sn_hub_loaded(sn_hub *h, const char *doc, seine_err err, sn_doc_loaded *loaded,
                   seine_time now);
void sn_hub_committed(sn_hub *h, sn_append *give, seine_err err, seine_time now);
void sn_append_free(sn_append *a);
void sn_snapshot_free(sn_snapshot *s);

/* A text as a JSON string. */
void sn_hub_quote(sn_buf *b, sn_str text);

#endif
