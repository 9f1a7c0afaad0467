/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - which format does a file name mean?
 *
 * One table knows the formats by a name and by the endings of file names:
 *
 *     jsonl    .jsonl .ndjson          packed or not   written and read
 *     csv      .csv                    packed or not   written and read
 *     sqlite   .sqlite .sqlite3 .db                    written and converted
 *     warc     .warc                   packed or not   written and read
 *     sitemap  .xml                    packed or not   read
 *     html     .html .htm              packed or not   read
 *
 * A compressed file has .gz or .zst after the ending of its format. A name without a
 * known ending may begin with its format, as in "csv.gz:results":
 *
 *     seine_sink_opts o = SEINE_SINK_OPTS;
 *     o.path = seine_format_split("csv.gz:results", &o.format, &o.pack);
 *
 *     seine_sink_pack pack;
 *     seine_sink_format format = seine_format_of_output("pages.warc.zst", &pack);
 *
 * Time    plays no part; no file is opened.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_FORMAT_H
#define SEINE_FORMAT_H

#include "seine/input.h"
#include "seine/sink.h"

SEINE_BEGIN

/* The format of an output called `path`; AUTO if its ending is unknown, and for NULL and
 * "-". *out_pack: NONE, GZIP or ZSTD by the last ending; may be NULL. */
seine_sink_format seine_format_of_output(const char *path, seine_sink_pack *out_pack);

/* The format of a list of URLs called `path`; AUTO if only its first bytes can tell. */
seine_input_format seine_format_of_input(const char *path);

/* "jsonl", "csv", "sqlite", "warc". INVAL, and nothing written: another name. */
SEINE_MUST_CHECK seine_err seine_format_by_name(const char *name,
                                                seine_sink_format *out_format);

/* True if an output of this format may be compressed. */
bool seine_format_packs(seine_sink_format format);

/* Splits "FORMAT:PATH" and "FORMAT.gz:PATH" and returns the path. A text without a known
 * format in front is all path: *out_format and *out_pack are then left as they are. */
const char *seine_format_split(const char *text, seine_sink_format *out_format,
                               seine_sink_pack *out_pack);

SEINE_END

#endif
