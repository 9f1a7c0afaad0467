/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit.h - one URL from admission to its record.
 *
 * This struct carries a URL through its life. Stages take a visit and return; they never
 * call each other, and engine/run.c alone knows their order. A visit is made by whoever
 * admits it, moves to the shard that owns its host, perhaps to another one when it is
 * redirected, and goes back to the pool when its record is out. Everything it points to
 * lives in its arena and dies with it.
 *
 *     ADMITTED → WAITING → READY → IN_FLIGHT → DONE → EMITTED
 *                  ↑__________________|  again: a retry, a redirect, a replay
 *
 * Time    is passed in; the three waits of a record are added up here.
 * Memory  a visit of up to 1,368 bytes and its arena, recycled: a request allocates
 *         nothing once warm.
 * Threads one owner at a time; it changes hands through sn_inbox.
 */
#ifndef SN_VISIT_H
#define SN_VISIT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "engine/memory_brake.h"
#include "net/transport.h"
#include "seine/attempt.h"
#include "seine/record.h"
#include "seine/retry.h"
#include "seine/retry_hint.h"
#include "store/record.h"

#define SN_NO_HOST UINT32_MAX

enum { SN_TRAP_LEVELS = 4 }; /* of engine/frontier_traps.c */

/* The number of the stage that leads to the state stands first; 5, links, changes none.
 */
typedef enum sn_visit_state {
    SN_ADMITTED,  /* 1 new, in scope; on its way to its shard */
    SN_WAITING,   /* 2 its host may not be asked yet, or has a queue */
    SN_READY,     /* 2 limiter, breaker and throttle have said yes; permits are held */
    SN_IN_FLIGHT, /* 3 bytes are moving */
    SN_DONE,      /* 4 verdict given: result or final error; nothing is held */
    SN_EMITTED,   /* 6 exactly one record is on its way; the arena is free */
} sn_visit_state;

/* What is asked for. Of the first alone there are records. */
typedef enum sn_visit_kind {
    SN_KIND_PAGE,
    SN_KIND_ROBOTS,
    SN_KIND_SITEMAP
} sn_visit_kind;

typedef struct sn_visit sn_visit;

/* What a response says about the next visit of its page. */
typedef struct sn_freshness {
    sn_str etag, modified;
    int64_t max_age; /* of its Cache-Control, in s; -1: it has none */
} sn_freshness;

/* The page that led to a URL, in a crawl. */
typedef struct sn_referrer {
    sn_str url;
    seine_found found; /* texts of the tables of text/html.h */
} sn_referrer;

/* One request under way: what the transport borrows until its end. */
typedef struct sn_flight {
    sn_visit *prev; /* newer ones, where `next` of the visit leads to older ones */
    struct sn_requests *requests;
    sn_request request;
    seine_permit via; /* of its proxy */
    sn_str cookie;    /* what the jar had for it; of the heap */
} sn_flight;

/* Members are ordered by what they are for, then by size: 10,000 visits wait at once, and
 * a hole of 8 bytes is 90 KB. Whatever few visits have is a pointer into the arena. */
struct sn_visit {
    sn_visit *next; /* in whatever list it is: inbox, queue of a host, flying, pool */
    sn_arena arena; /* all texts below */
    sn_visit_state state;
    uint8_t lane;    /* 0 high: redirects, due retries; 1 normal; 2 low */
    bool fresh;      /* the next attempt uses no idle connection */
    bool replayed;   /* of this attempt already once */
    bool is_leaving; /* its host starts no other before this one has left or ended */
    bool is_skip;    /* refused at admission: `reason`, `rule` */
    bool is_asked;   /* the attempt reached for the outside: it counts as a request */
    bool has_hint;   /* the response said something about our rate */
    bool is_excused; /* it left before the host asked to wait, and was told so, too */
    bool is_typed;   /* named by the user: own headers, ceiling local */
    bool at_home;    /* its first origin was named by the user */
    bool is_unpaid;  /* the retry budget has not paid for its next attempt */
    bool is_stored;  /* it came out of the store, where its record finishes it */
    bool is_paced;   /* it has the token of its key for the next attempt */
    uint8_t kind;    /* sn_visit_kind */
    bool has_timeout, has_retries; /* its own, whatever its host has */
    uint32_t host;                 /* in its shard; SN_NO_HOST */
    sn_address_zone ceiling;
    uint64_t number; /* 0, 1, 2 … in the order of the input */

    /* what was asked */
    sn_str input; /* as given */
    uint64_t line;
    sn_str id, tags; /* copied to the record; tags is a JSON object */
    sn_str key;
    sn_str method, body;
    const sn_field *own; /* fields of this URL alone (JSON lines) */
    size_t n_own;
    seine_url url;          /* of the hop under way */
    const seine_url *first; /* as asked: `url`, until a redirect leads elsewhere */
    seine_hop *hops;        /* room for opts.max_redirects, made by the first */
    seine_span timeout;     /* of one attempt */
    const struct sn_host_policy *policy;   /* of its host; NULL: as for all */
    const struct sn_group_rule *net_group; /* it is in flight there; NULL: in none */
    uint32_t n_hops;

    /* where it was found, in a crawl */
    uint32_t depth;                 /* links from a given URL */
    uint32_t moved;                 /* redirects in a row that led here */
    uint32_t home, home_host;       /* of a robots.txt or sitemap: shard and host */
    uint16_t again[SN_TRAP_LEVELS]; /* which of its residues were asked for before */
    uint8_t looks;                  /* a bit for each level: its text is looked at */
    uint8_t leader;                 /* sn_leader and look of the page it was found on */
    bool is_counted;                /* among the pages of its host, since it was given */
    bool is_recalled;               /* `known` was looked for */
    uint64_t traps[SN_TRAP_LEVELS]; /* keys of engine/pattern_table.h; 0: none */
    const sn_referrer *referrer;    /* NULL: it was given */
    const seine_url *target;        /* of a page that redirects; NULL: it does not */

    /* attempts */
    seine_retry retry;
    seine_attempt attempt;
    uint32_t ticket;   /* of the wave of its host */
    uint32_t ip_slot;  /* of sn_address_limits, while in flight; UINT32_MAX */
    uint32_t requests; /* hops and retries alike, also refused ones */
    uint32_t n_tries, tries_room;
    seine_wait waits_for;
    seine_record_try *tries; /* each attempt, if there was more than one */
    seine_time tried_at; /* the last of `tries` ended then; NEVER: its wait is known */
    seine_time proxy_at; /* its proxy is left alone until then; NEVER: given up;
                          INT64_MIN: it was asked, or there is none */
    seine_time deadline; /* no attempt after; NEVER */
    sn_exchange *exchange;
    char *why; /* text of a failure, used again; NULL: none had one. See sn_visit_say */

    /* of an incremental crawl, see engine/revisit.h */
    const struct sn_job_page *known; /* the last copy of the page; NULL: none */
    int64_t spec;                    /* a hash of what shapes the response */

    /* waits, over all attempts; `since` the one that lasts, for `waits_for` */
    seine_time admitted_at, since, not_before;
    seine_span life;      /* from admission to its record; known when it ends */
    seine_span held_mark; /* how long its host had been held when it came there */
    seine_span waited[SN_WAIT_COUNT];
    bool is_conditional; /* the request has the validators of `known` */

    /* the response of the last attempt */
    uint8_t n_locations; /* different ones */
    uint8_t robots_tag;  /* SEINE_NOFOLLOW … of the head */
    bool enough;         /* we ended it ourselves, and that is fine */
    bool is_coded;       /* the body has a Content-Encoding */
    bool is_expected;    /* its length was told to the memory brake */
    bool is_too_large;   /* for the memory, even alone */
    bool has_data;       /* the body is kept for the values that are in it */
    bool not_wanted;     /* not of a type that is asked for */
    bool is_hashed;      /* the body goes through `digest` */
    seine_skip reason;
    union {
        sn_flight flight; /* IN_FLIGHT */
        sn_end end;       /* in any other state, of the last attempt */
    };
    seine_time started_at;
    int64_t started_wall;
    seine_span ttfb;
    sn_str content_type, charset, location;
    int64_t content_length;
    seine_field *fields; /* if they are kept */
    size_t n_fields;
    seine_retry_hint *hint;       /* what the server asks for, if has_hint */
    sn_buf kept;                  /* of the body, if it is kept */
    sn_charge charge;             /* memory of body, captures and reader of the page */
    struct sn_captures *captures; /* NULL: nobody archives; see engine/capture.h */
    struct sn_page *page;         /* NULL: it is not read, or did not end well */
    sn_str title;                 /* of the page */
    struct sn_values *values;     /* they were read already; NULL. See engine/values.h */
    sn_str links;                 /* prints of the known URLs that the page names */
    sn_freshness *freshness;      /* in an incremental crawl; NULL: nothing was said */
    sn_digest digest;
    sn_fault fault; /* of the whole visit: what the record says */
    sn_str rule;
};

/* Changes the state; asserts that the step is legal. */
void sn_visit_step(sn_visit *v, sn_visit_state to);

/* Forgets everything of the last response, before the next attempt. */
void sn_visit_clear_response(sn_visit *v);

/* Copies the text of a failure, as far as a fault has room for it. NULL: there is no
 * memory, or no text; the kind of the failure has to do. */
const char *sn_visit_say(sn_visit *v, const char *text);

/* How far that reaches which the response names, links, redirects and sitemaps: no
 * further than the server that sent it, and no further than the URL that led there. */
static inline sn_address_zone
sn_visit_ceiling(const sn_visit *v)
{
    sn_address_zone peer = sn_address_zone_ceiling(v->end.zone);

    return peer < v->ceiling ? peer : v->ceiling;
}

/* How long the response asks us to stay away; -1: it does not. */
static inline seine_span
sn_visit_wish(const sn_visit *v)
{
    return v->has_hint ? seine_retry_hint_pause(v->hint) : -1;
}

/* Begins to wait for `why`, at `now`; the wait before, if any, is added up. */
void sn_visit_wait(sn_visit *v, seine_wait why, seine_time now);
void sn_visit_wait_over(sn_visit *v, seine_time now);

/* The next attempt begins: the wait before it is known now. */
static inline void
sn_visit_note_wait(sn_visit *v, seine_time now)
{
    if (v->n_tries > 0 && v->tried_at != SEINE_NEVER)
        v->tries[v->n_tries - 1].wait = now - v->tried_at;
    v->tried_at = SEINE_NEVER;
}

/* A bounded store of visits for all shards: what is in it at once is what is admitted
 * and not done. A visit that comes back keeps its arena's first chunk and its buffer. */
typedef struct sn_visits sn_visits;

/* The first chunk of an arena has so many bytes: URL and what a record says of it fit. A
 * page that was found carries more: where it was found, its title, links of a job. */
enum { SN_VISIT_GIVEN = 320, SN_VISIT_FOUND = 768 };

SEINE_MUST_CHECK seine_err sn_visits_new(uint32_t max, size_t chunk,
                                         sn_visits **out_visits);
void sn_visits_free(sn_visits *p); /* all are back */

/* NULL: `max` are out (*out_err FULL), or NOMEM. */
sn_visit *sn_visits_take(sn_visits *p, seine_err *out_err);

/* The same for visits of our own, whose number the requests in flight bound: `max` does
 * not count. NULL: no memory. */
sn_visit *sn_visits_take_own(sn_visits *p);
void sn_visits_give(sn_visits *p, sn_visit *give);
uint32_t sn_visits_out(const sn_visits *p);

/* A shard's letter box: any thread puts, the owner takes all, first in first out.
 * Bounded by the visits there are. */
typedef struct sn_inbox {
    sn_visit *_Atomic head;
} sn_inbox;

/* True: it was empty, wake the owner. */
bool sn_inbox_put(sn_inbox *box, sn_visit *give);
sn_visit *sn_inbox_take_all(sn_inbox *box);

#endif
