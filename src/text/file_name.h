/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.h - under which file name is a URL kept?
 *
 * A copy of a site needs path names, and a download needs a name. Both are made here, and
 * nowhere else does a byte from the web become part of a path. The names are safe on any
 * file system: a relative path without "." and "..", its parts at most 240 bytes of
 * printable ASCII without < > : " \ | ? *, none begins with a dot or a dash, ends in a
 * dot or a blank, or is the name of a device (CON, LPT1.txt). A byte that is not allowed
 * becomes %XX.
 *
 *     e = sn_file_name_of_url(&url, type, &name);      "e.example/a/index.html"
 *     e = sn_file_name_apart(path, key, 0, &other);    "e.example/a/index~k3….html"
 *     e = sn_file_name_of_last(&url, &name);           "a.pdf" of …/b/a.pdf?x
 *     e = sn_file_name_of_header(value, &name);        Content-Disposition; may be empty
 *
 * Two URLs may have the same natural name, also if only the case differs; file_names.h
 * tells them apart.
 *
 * Time    plays no part; work is linear in the URL.
 * Memory  the caller's buffer.
 * Threads any thread.
 */
#ifndef SN_FILE_NAME_H
#define SN_FILE_NAME_H

#include "base/buf.h"
#include "seine/url.h"

enum {
    SN_FILE_PART = 240,  /* bytes of a part; file systems have 255 */
    SN_FILE_PATH = 1000, /* bytes of a whole name */
    SN_FILE_HASH = 16    /* characters that tell names apart */
};

/* The natural name of a URL whose response has that content type. A directory becomes
 * index.html, a query stands behind an @, and an extension is added where a browser needs
 * it to open the file: page.php is page.php.html. NOMEM. */
SEINE_MUST_CHECK seine_err sn_file_name_of_url(const seine_url *url, sn_str type,
                                               sn_buf *out);

/* Another name beside it, by a hash of the key: a.html becomes a~k3….html. */
SEINE_MUST_CHECK seine_err sn_file_name_apart(sn_str name, sn_str key, unsigned salt,
                                              sn_buf *out);

/* The last part of the path, for a download; "index.html" if there is none. */
SEINE_MUST_CHECK seine_err sn_file_name_of_last(const seine_url *url, sn_buf *out);

/* The file name of a Content-Disposition (RFC 6266), in UTF-8; nothing is added if it has
 * none. */
SEINE_MUST_CHECK seine_err sn_file_name_of_header(sn_str value, sn_buf *out);

/* Whether a name is safe as it is: what every name above is. */
bool sn_file_name_is_safe(sn_str name);

/* Of a content type: "text/html" of " Text/HTML; charset=x". */
sn_str sn_file_name_essence(sn_str type);

#endif
