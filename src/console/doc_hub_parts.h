/* SPDX-License-Identifier: Apache-2.0 */
/* doc_hub_parts.h - the inside of a hub, for doc_hub*.c. */
#ifndef SN_DOC_HUB_PARTS_H
#define SN_DOC_HUB_PARTS_H

#include "console/doc_hub.h"

#define SN_REFUSE_NONE SN_API_ERROR_COUNT

struct sn_hub {
    sn_hub_opts opts;
    seine_collab_opts collab;
    sn_map docs;
    sn_session *sessions;
    size_t n_sessions;
    uint64_t last_number;
    size_t in_flight; /* jobs of which an answer is expected */
    sn_buf out;       /* of one message */
};

/* Tells whoever counts. */
void sn_hub_note_down(const sn_hub *h, sn_hub_note what, int64_t value);
/* Sends h->out and empties it. */
void sn_hub_send(sn_hub *h, sn_session *s);
/* Tells those who wait for a commit: all of them, or if `why` is none those whose version
 * is committed. */
void sn_hub_wake(sn_live_doc *d, sn_api_error why);
/* One `err` for a message that is refused later than it came. */
void sn_hub_refuse(sn_hub *h, sn_session *s, sn_api_error error, const char *re,
                   const char *doc, const int64_t *id, const char *text);
sn_session *sn_hub_session(const sn_hub *h, uint64_t number);
sn_member *sn_hub_member(const sn_session *s, const char *doc);

/* doc_hub_peer.c: presence. */
void sn_hub_put_sel(sn_buf *b, const sn_member *m);
void sn_hub_tell_join(sn_member *m);
void sn_hub_tell_cursor(sn_member *m);
/* Ends a membership and tells the others. */
void sn_hub_part(sn_member *m, const char *why, seine_time now);

#endif
