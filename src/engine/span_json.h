/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_json.h - spans as a request of OTLP over HTTP in JSON.
 *
 *     e = sn_span_resource(&resource, "seine", "0.1.0", "a=b,c=d%20e");
 *     sn_span_json(spans, n, sn_buf_view(&resource), SN_STR("0.1.0"), &out);
 *
 * Ids are hexadecimal, integers of 64 bits are decimal strings, enums are numbers, and a
 * status stands there for errors alone.
 *
 * Time    plays no part.
 * Memory  the caller's buffers, whose caps hold.
 * Threads any thread.
 */
#ifndef SN_SPAN_JSON_H
#define SN_SPAN_JSON_H

#include "base/buf.h"
#include "base/span_ring.h"

/* The attributes of the resource: service.name, service.version, and those of
 * OTEL_RESOURCE_ATTRIBUTES, whose values are percent-encoded; NULL: none. INVAL: it is
 * no list of key=value; NOMEM, FULL. */
SEINE_MUST_CHECK seine_err sn_span_resource(sn_buf *out, const char *service,
                                            const char *version, const char *more);

/* Adds the request to `out`, whose error says if it is whole. */
void sn_span_json(const sn_span *spans, size_t n, sn_str resource, sn_str version,
                  sn_buf *out);

#endif
