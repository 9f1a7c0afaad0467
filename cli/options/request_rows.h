/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rows.h - the options of verbs that send a few requests by the way: as whom they
 * ask, whom they trust, and through which proxy.
 *
 * AT(member) and NET(member) are the file's own: the place of a setting, and of one of
 * its fetch_settings.
 */
#ifndef CLI_REQUEST_ROWS_H
#define CLI_REQUEST_ROWS_H

/* clang-format off */
#define REQUEST_ROWS \
    {"header", "H", KIND_LIST, "LINE", NET(header), .member = "fields", .env = true, .rare = true, \
     .help = "a header for the hosts given; may be repeated"}, \
    {"user", "u", KIND_TEXT, "NAME[:PASS]", NET(user), .rare = true, \
     .help = "Basic authentication at the hosts given; asks for PASS"}, \
    {"user-agent", "A", KIND_TEXT, "S", NET(user_agent), .env = true, .rare = true, \
     .help = "who asks; seine/VERSION if not given"}, \
    {"contact", NULL, KIND_TEXT, "S", NET(contact), .member = "from", .env = true, .rare = true, \
     .help = "mail or URL for those who run the hosts"}, \
    {"insecure", "k", KIND_FLAG, AT(insecure), .rare = true, \
     .help = "check no certificate of the hosts given"}, \
    {"cacert", NULL, KIND_FILE, "FILE", NET(cacert), .env = true, .rare = true, \
     .help = "authorities to trust (PEM), not those of the system"}, \
    {"proxy", "x", KIND_TEXT, "URL|off", NET(proxy), .env = true, .rare = true, \
     .help = "through a proxy: http:// https:// socks5:// socks5h://"}, \
    {"no-proxy", NULL, KIND_TEXT, "LIST", NET(no_proxy), .env = true, .rare = true, \
     .help = "hosts asked straight: names, addresses, nets, or *"}
/* clang-format on */

#endif
