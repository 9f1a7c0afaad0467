/* SPDX-License-Identifier: Apache-2.0 */
#include "console/topics.h"

#include "console/message.h"
#include "console/topic.h"

void
sn_topics_take(sn_socket *s, const sn_message *m)
{
    sn_topic_flaw flaw = {SN_API_INTERNAL, ""};
    bool fine = m->type == SN_MESSAGE_SUB ? sn_topic_subscribe(s, m->json, &flaw)
                                          : sn_topic_unsubscribe(s, m->json, &flaw);

    if (!fine)
        sn_message_refuse(s, &(sn_message_refusal){.error = flaw.error,
                                                   .text = flaw.text,
                                                   .re = m->t,
                                                   .id = m->has_id ? &m->id : NULL});
}

void
sn_topics_closed(sn_socket *s)
{
    sn_topic_closed(s);
}
