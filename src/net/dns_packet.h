/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_packet.h - is this response of a name server well-formed?
 *
 * c-ares does not say so: it passes over records and responses that it cannot read, and
 * then a name seems to have no address, or its server seems to be silent. So every
 * datagram is looked at before c-ares gets it. RFC 1035, 4.1.
 *
 *     char name[SN_DNS_PACKET_NAME];
 *     size_t len;
 *     sn_str packet = received();
 *     if (!sn_dns_packet_is_sound(packet, name, &len))
 *         note_malformed((sn_str){name, len});
 *
 * Time    linear in the packet.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_DNS_PACKET_H
#define SN_DNS_PACKET_H

#include <stdbool.h>

#include "base/str.h"

#define SN_DNS_PACKET_NAME 256

/* Also writes the name of the question, in lower case and with dots; its length is 0 if
 * it cannot be read. */
bool sn_dns_packet_is_sound(sn_str packet, char out_name[SN_DNS_PACKET_NAME],
                            size_t *out_len);

#endif
