/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_rows.h - the option rows that `fetch`, `crawl` and `explain` share.
 *
 * Each command includes this file inside of its option table and defines IN_CRAWL as 0 or
 * 1. FOR picks one of two values by it; #if leaves out the rows that a command lacks.
 */
#define AT(member) .at = offsetof(fetch_settings, member)
#if IN_CRAWL
#define FOR(fetch, crawl) crawl
#else
#define FOR(fetch, crawl) fetch
#endif
#ifndef IN_CHECK
#define IN_CHECK 0 /* 1: `check`, which has inputs and outputs of its own */
#endif
#ifndef IN_MIRROR
#define IN_MIRROR 0 /* 1: `mirror`, a crawl whose output is a copy of the site */
#endif
#ifndef IN_EXPLAIN
#define IN_EXPLAIN 0 /* 1: -h shows only the options that decide about URLs */
#endif

/* clang-format off */
#if !IN_CHECK
    {"input", "i", KIND_FILES, "FILE", AT(input), .rare = FOR(false, true), .group = "Which URLs",
     .help = FOR("read URLs from FILE; may be repeated; -: stdin", "read seeds from FILE; may be repeated; -: stdin"),
     .more = "One URL per line; blank lines and lines that begin with # are passed over. A file named .jsonl or .ndjson, or whose first "
             "byte is `{`, has one JSON object per line: `url`, and if wanted `method`, `headers`, `body`, `body_b64`, `timeout`, `retries`, "
             "`priority`, `tags`, `id`, `idempotent`. A file named .csv has a header line and the URLs in one column; the other columns become `tags`. Of a web archive (.warc) the targets of its answers are read. It is read as it is needed: the first request leaves before the end of the input."},
    {"input-format", NULL, KIND_CHOICE, "auto|text|jsonl|csv|sitemap|warc|html", "auto", AT(input_format), .env = true, .rare = true,
     .help = "what the input is"},
    {"url-column", NULL, KIND_TEXT, "NAME", "url", AT(url_column), .env = true, .rare = true,
     .help = "the column of a CSV that has the URLs; the others become tags"},
#endif
    {"base", NULL, KIND_TEXT, "URL", AT(base), .env = true, .rare = true, .group = "Which URLs",
     .help = IN_CHECK ? "links of files that begin with / lead there" : "relative URLs of the input resolve against it"},
#if IN_CRAWL
    {"depth", "l", KIND_TEXT, "N|off", IN_CHECK + IN_MIRROR > 0 ? "off" : "5", AT(depth), .env = true, .rare = IN_CHECK,
     .help = "links from a seed; 0: the seeds alone",
     .more = "While it is limited a host is asked level by level, so that how far a crawl reaches does not depend on how fast pages answer."},
    {"scope", NULL, KIND_CHOICE, "host|domain|prefix|any", IN_MIRROR ? "prefix" : "host", AT(scope), .env = true, .rare = IN_CHECK,
     .help = "which links belong to the crawl, by its seeds",
     .more = "`host`: the same host and port, over http or https. `domain`: the same registrable domain. `prefix`: below the directory of the seed. "
             "Other links are skipped with reason `offsite`."},
    {"parent", NULL, KIND_FLAG, NULL, "on", AT(parent), .env = true, .rare = true,
     .help = "--no-parent is --scope prefix, for those used to wget"},
    {"domains", "D", KIND_LIST, "LIST", AT(domains), .env = true, .rare = true,
     .help = "further hosts in scope: a.example,*.b.example"},
#endif
    {"include", NULL, KIND_LIST, "RE", AT(include), .max = 1000, .env = true, .rare = FOR(true, IN_CHECK + IN_MIRROR > 0),
     .help = "only URLs in which RE matches; may be repeated",
     .more = FOR("A regular expression, looked for in the whole URL; one of several is enough. Others are skipped with reason `pattern`.",
                 "A regular expression, looked for in the whole URL; one of several is enough. Seeds need not match. Others are skipped with reason `pattern`.")},
    {"glob", NULL, KIND_LIST, "PATTERN", AT(glob), .env = true, .rare = true,
     .help = "as --include, with a pattern of the shell: '*.pdf'",
     .more = "Without a slash it is the last part of the path, with one at its front the whole path. `*` stays in one part of the path, `**` does not."},
    {"exclude", NULL, KIND_LIST, "RE", AT(exclude), .max = 1000, .env = true, .rare = FOR(true, false),
     .help = "none in which RE matches; may be repeated",
     .more = "It beats --include, and seeds have to pass it, too."},
#if IN_CRAWL && !IN_CHECK
    {"keep", NULL, KIND_LIST, "RE|TYPE", AT(keep), .member = "keep|accept_urls", .env = true, .rare = true,
     .help = "write these pages alone: '\\.pdf$' or application/pdf",
     .more = "Other pages are fetched for their links, and no output has a record of them; what failed is listed at the end all the same. A media type, or "
             "a regular expression for the whole URL; may be repeated, and one of several is enough. Bodies of these are taken, too."},
    {"follow", NULL, KIND_LIST, "RE|TYPE", AT(follow), .env = true, .rare = true,
     .help = "look for links in these pages alone, beside --keep",
     .more = "URLs that match neither --follow nor --keep are not fetched. If not given: every page that is HTML."},
#endif
    {"max-pages", "n", KIND_COUNT, "N", AT(max_pages), .min = 1, .off = true, .env = true, .rare = FOR(true, IN_CHECK + IN_EXPLAIN > 0),
     .help = "fetch at most so many; the rest is skipped"},
    {"max-bytes", NULL, KIND_SIZE, "SIZE", AT(max_bytes), .min = 1, .off = true, .env = true, .rare = true,
     .help = "at most so many bytes of bodies in all; the rest is skipped"},
#if IN_CRAWL
    {"max-pages-per-host", NULL, KIND_COUNT, "N", AT(max_per_host), .member = "max_per_host", .min = 1, .off = true, .env = true, .rare = true,
     .help = "fetch at most so many of a host; the rest is skipped"},
    {"max-links", NULL, KIND_COUNT, "N", "50000", AT(max_links), .max = 10000000, .env = true, .rare = true,
     .help = "look at so many links of a page, and URLs of a sitemap",
     .more = "A page with more has the note `links_capped`; the number of links that were left out stands in the summary, and the exit code is 4."},
    {"max-subdomains", NULL, KIND_COUNT, "N", "256", AT(max_subdomains), .max = 1000000, .min = 1, .off = true, .env = true, .rare = true,
     .help = "at most so many hosts of a domain beyond given ones"},
    {"max-sitemaps", NULL, KIND_COUNT, "N", "10000", AT(max_sitemaps), .max = 1000000000, .min = 1, .off = true, .env = true, .rare = true,
     .help = "read at most so many sitemaps in all"},
    {"max-sitemap-bytes", NULL, KIND_SIZE, "SIZE", "4G", AT(max_sitemap_bytes), .min = 1, .off = true, .env = true, .rare = true,
     .help = "read at most so many bytes of sitemaps in all, decoded"},
    {"pattern-budget", NULL, KIND_COUNT, "N", "1000", AT(pattern_budget), .max = 1000000000, .min = 1, .off = true, .env = true, .rare = true,
     .help = "of URLs that look alike, look at the pages after so many",
     .more = "URLs look alike when they differ in numbers, identifiers and values of parameters only. Further ones are skipped with reason `trap` "
             "while nine of ten of the last 200 pages repeat words that were seen and lead nowhere new; `off` fetches all."},
    {"sitemap", NULL, KIND_CHOICE, "auto|only|off", "auto", AT(sitemap), .member = "sitemaps", .env = true, .rare = true,
     .help = "read sitemaps besides links, instead of them, or not at all",
     .more = "Those that robots.txt names, and /sitemap.xml."},
#endif
    {"robots", NULL, KIND_CHOICE, "on|off|audit", FOR("off", "on"), AT(robots), .env = true, .rare = FOR(true, IN_CHECK + IN_MIRROR > 0),
     .help = "obey robots.txt, or audit: tell what it refuses",
     .more = "By RFC 9309, for every URL, the given ones too. While robots.txt of a host cannot be had, the host is not asked for anything else."},
    {"robots-agent", NULL, KIND_TEXT, "TOKEN", AT(robots_agent), .env = true, .rare = true,
     .help = "who we are to robots.txt; that of --user-agent if not given",
     .more = "A product token: letters, digits, `-` and `_`. The token of `Mozilla/5.0 (compatible; mybot/1)` is mybot."},
#if IN_CRAWL
    {"nofollow", NULL, KIND_FLAG, NULL, "on", AT(nofollow), .env = true, .rare = true,
     .help = "leave links alone that ask for it",
     .more = "By rel=nofollow, a robots meta element or the header X-Robots-Tag. Such links are skipped, unless another one leads there."},
#endif
    {"max-crawl-delay", NULL, KIND_SPAN, "D", "60s", AT(max_crawl_delay), .env = true, .rare = true,
     .help = "a longer Crawl-delay of robots.txt is cut to this"},
    {"strip-params", NULL, KIND_TEXT, "LIST", AT(strip_params), .env = true, .rare = true,
     .help = "query parameters left out when URLs are compared: utm_*,fbclid"},
#if !IN_CRAWL
    {"dedup", NULL, KIND_CHOICE, "batch|off", "batch", AT(dedup), .env = true, .rare = true,
     .help = "fetch a URL that is given twice once, or each time"},
#endif

    {"concurrency", "c", KIND_COUNT, "N", "64", AT(concurrency), .min = 1, .max = 65536, .env = true, .rare = IN_CHECK + IN_EXPLAIN + IN_MIRROR > 0, .group = "How much at once",
     .help = "requests in flight in all"},
    {"per-host", NULL, KIND_COUNT, "N", "4", AT(per_host), .min = 1, .max = 65536, .env = true, .rare = FOR(false, true),
     .help = "requests in flight per host"},
    {"per-ip", NULL, KIND_COUNT, "N", "8", AT(per_ip), .max = 65535, .min = 1, .off = true, .env = true, .rare = true,
     .help = "requests in flight per address"},
    {"rate", "r", KIND_PACE, "R", "off", AT(rate), .env = true, .rare = FOR(false, true),
     .help = "at most this rate over all hosts"},
    {"burst", NULL, KIND_COUNT, "N", "1", AT(burst), .min = 1, .max = 1000000, .env = true, .rare = true,
     .help = "so many may start at once under --rate"},
#if !IN_CRAWL
    {"rate-key", NULL, KIND_TEXT, "KEY", AT(rate_key), .env = true, .rare = true,
     .help = "--rate is that of each value: host, /id, /tags/NAME",
     .more = "A JSON Pointer into the lines of a JSON input: /id, /url, /method or /tags/NAME; lines without that member share a bucket. `host`: each host. `none`: all together."},
    {"max-wait", NULL, KIND_SPAN, "D", "off", AT(max_wait), .off = true, .env = true, .rare = true,
     .help = "give a request up that would wait longer for --rate",
     .more = "It takes no token: `gave_up`, `limited`. It is meant for a rate with --rate-key or of less than one in D."},
#endif
    {"host-rate", NULL, KIND_PACE, "R", "5/s", AT(host_rate), .env = true,
     .help = "at most this rate per host, retries included",
     .more = "Ports 80 and 443 of one name are one host here; every other port is a host of its own."},
    {"host-burst", NULL, KIND_COUNT, "N", "1", AT(host_burst), .min = 1, .max = 1000000, .env = true, .rare = true,
     .help = "so many may start at once under --host-rate"},
    {"adaptive", NULL, KIND_FLAG, NULL, "on", AT(adaptive), .env = true, .rare = true,
     .help = "slow down when a host does, never above the ceilings"},
    {"mine", NULL, KIND_FLAG, AT(mine), .env = true,
     .help = "the hosts are mine: no limits per host",
     .more = FOR("Lifts --host-rate, --per-host, --per-ip and --adaptive.", "For the hosts of the seeds: lifts --host-rate, --per-host, --per-ip, --adaptive and --robots.")},
    {"queue", NULL, KIND_COUNT, "N", "1000", AT(queue), .min = 1, .max = 10000000, .env = true, .rare = true,
     .help = FOR("URLs held in memory; the input waits when there are more", "URLs being worked on; others wait in a compact form"),
     .more = "Never less than twice --concurrency."},
    {"threads", NULL, KIND_COUNT, "N", AT(threads), .min = 1, .max = 256, .env = true, .rare = true,
     .help = "threads that fetch; as many as there are processors"},
    {"limit-rate", NULL, KIND_SIZE, "SIZE", AT(limit_rate), .off = true, .min = 1, .env = true, .rare = true,
     .help = "bytes that are read in a second, all connections together",
     .more = "200k is 204,800 bytes, as with curl and wget. Time limits do not count while reading waits for it."},
    {"max-memory", NULL, KIND_SIZE, "SIZE", "512M", AT(max_memory), .min = 1 << 20, .env = true, .rare = true,
     .help = "bound on buffers and bodies"},

    {"timeout", "t", KIND_SPAN, "D", "30s", AT(timeout), .env = true, .rare = IN_EXPLAIN, .group = "How long",
     .help = "one attempt, everything included"},
    {"connect-timeout", NULL, KIND_SPAN, "D", "10s", AT(connect_timeout), .env = true, .rare = true,
     .help = "looking up the name, connecting and TLS, together"},
    {"dns-timeout", NULL, KIND_SPAN, "D", "5s", AT(dns_timeout), .env = true, .rare = true,
     .help = "looking up the name"},
    {"tcp-timeout", NULL, KIND_SPAN, "D", "5s", AT(tcp_timeout), .env = true, .rare = true,
     .help = "connecting to an address"},
    {"tls-timeout", NULL, KIND_SPAN, "D", "5s", AT(tls_timeout), .env = true, .rare = true,
     .help = "agreeing on TLS"},
    {"head-timeout", NULL, KIND_SPAN, "D", "20s", AT(head_timeout), .env = true, .rare = true,
     .help = "from the request to the end of the head of the response"},
    {"min-speed", NULL, KIND_TEXT, "SIZE/D|off", "100/20s", AT(min_speed), .member = "speed_bytes|speed_span", .env = true, .rare = true,
     .help = "a body slower than this ends as stalled"},
    {"max-time", "m", KIND_SPAN, "D", AT(max_time), .off = true, .env = true, .rare = IN_EXPLAIN,
     .help = "the whole run; with work left the exit code is 4"},
    {"grace", NULL, KIND_SPAN, "D", "10s", AT(grace), .env = true, .rare = true,
     .help = "time to finish what is in flight after a stop"},

    {"retries", NULL, KIND_COUNT, "N", "5", AT(retries), .max = 1000, .env = true, .rare = FOR(false, true), .group = "Failures, and trying again",
     .help = "tries after the first"},
    {"retry-on", NULL, KIND_TEXT, "LIST", "net,timeout,408,425,429,5xx,!501,!505", AT(retry_on), .env = true, .rare = true,
     .help = "failures that are tried again"},
    {"backoff", NULL, KIND_TEXT, "D..D", "1s..30s", AT(backoff), .member = "retry", .env = true, .rare = true,
     .help = "first and longest wait before a try; doubling"},
    {"jitter", NULL, KIND_CHOICE, "minus|plusminus|full|equal|decorrelated|none", "minus", AT(jitter), .env = true, .rare = true,
     .help = "how chance spreads the waits",
     .more = "For a wait of d: `minus` up to a tenth less, so that no URL waits longer than --backoff says, `plusminus` a tenth less to "
             "a tenth more, `full` 0 to d, `equal` d/2 to d, `decorrelated` the first wait to three times the one before, `none` d."},
    {"retry-budget", NULL, KIND_TEXT, "P|off", "20%", AT(retry_budget), .env = true, .rare = true,
     .help = "retries per host, as a share of its first attempts; and 10 more",
     .more = "A retry beyond it waits until its host has nothing else to do. It is not lost: `--retries` alone ends a URL."},
    {"max-retry-after", NULL, KIND_SPAN, "D", "5m", AT(max_retry_after), .env = true, .rare = true,
     .help = "a host that asks for a longer wait is parked"},
    {"breaker", NULL, KIND_TEXT, "SPEC|off", "fail=5,open=60s", AT(breaker), .env = true, .rare = true,
     .help = "when a host is left alone for a while",
     .more = "`fail` failures in a row open it for `open`; also `rate`=50% of at least `min`=10 of the last `window`=100 calls, `probes`=1 at a "
             "time, `close`=1 good ones to close it, `max-open`=5m. A row is judged when the requests in flight have ended, and must be longer where failures "
             "are usual. After `park` failed probes in a row the host is given up; without it after one, after ten failures if it has responded, "
             "after five failed probes if it has answered well."},
    {"max-errors", NULL, KIND_TEXT, "N|P|off", "off", AT(max_errors), .env = true, .rare = true,
     .help = "stop when so many failed; a share counts from 100 results on"},

    {"header", "H", KIND_LIST, "LINE", AT(header), .member = "fields", .env = true, .rare = FOR(false, true), .group = "What is sent",
     .help = "a header for the hosts given; may be repeated",
     .more = "`Name: value`, to the origins of the given URLs and to no other. `@FILE` reads such lines; a word `env:NAME` or `file:PATH` "
             "of the value is read from there, as in `Authorization: Bearer env:TOKEN`, so that secrets stay out of the command line."},
#if !IN_CRAWL
    {"method", "X", KIND_TEXT, "M", AT(method), .env = true, .rare = true,
     .help = "request method; GET, or POST with --data"},
    {"head", "I", KIND_FLAG, AT(head), .env = true, .rare = true,
     .help = "HEAD requests: no bodies"},
    {"data", "d", KIND_TEXT, "S|@FILE|@-", AT(data), .member = "body", .env = true, .rare = true,
     .help = "body of the requests; makes them POST"},
    {"json-body", NULL, KIND_TEXT, "JSON|@FILE|@-", AT(json_body), .env = true, .rare = true,
     .help = "the same with JSON, and its Content-Type and Accept"},
#endif
    {"user", "u", KIND_TEXT, "NAME[:PASS]", AT(user), .rare = true,
     .help = "Basic authentication at the hosts given; asks for PASS",
     .more = "PASS, or all of it, may be `env:NAME` or `file:PATH`. Without PASS it is asked on the terminal. What is typed is overwritten in the "
             "list of processes, and a note warns; it is sent to the origins of the given URLs and to no other."},
    {"cookie", "b", KIND_TEXT, "S", AT(cookie), .rare = true,
     .help = "cookies for the hosts given: a=b; c=d; or a file of them",
     .more = "They go to the origins of the given URLs and to no other; `env:NAME` and `file:PATH` keep them out of the command line. What has no "
             "`=` in it is a file in the format of Netscape, as in curl. Turns --cookies on."},
    {"cookies", NULL, KIND_FLAG, AT(cookies), .env = true, .rare = true,
     .help = "take and send cookies, as a browser would",
     .more = "By RFC 6265bis: a cookie goes back to where it came from and to no other site."},
    {"cookie-jar", NULL, KIND_FILE, "FILE", AT(cookie_jar), .env = true, .rare = true,
     .help = "cookies from FILE if it exists, and to it at the end",
     .more = "In the format of Netscape, that of curl and wget; mode 0600. Turns --cookies on."},
    {"user-agent", "A", KIND_TEXT, "S", AT(user_agent), .env = true, .rare = true,
     .help = "who asks; seine/VERSION if not given"},
    {"contact", NULL, KIND_TEXT, "S", AT(contact), .member = "from", .env = true, .rare = true,
     .help = "mail or URL for those who run the hosts",
     .more = "Added to the user agent, and sent as From."},
    {"referer", "e", KIND_TEXT, "S", AT(referer), .env = true, .rare = true,
     .help = "where the links were found"},
    {"accept-type", NULL, KIND_TEXT, "LIST", FOR(NULL, IN_MIRROR ? "*/*" : "text/html,application/xhtml+xml"), AT(accept_type), .env = true, .rare = true, .group = "What is taken",
     .help = "media types to take: text/html,image/*; others are skipped",
     .more = "The body of another type is not downloaded, and its URL is a skip with reason `mime`. An answer that names no type is taken."},
    {"accept", "a", KIND_TEXT, "LIST", "200-299", AT(accept), .env = true, .rare = true,
     .help = "statuses that are ok: 200-299,304 or 2xx,!204"},
    {"max-redirects", NULL, KIND_COUNT, "N", "10", AT(max_redirects), .max = 1000, .env = true, .rare = true,
     .help = "redirects followed; 0: none, and 3xx is ok"},
    {"follow-body", NULL, KIND_FLAG, AT(follow_body), .env = true, .rare = true,
     .help = "a body may go to another origin on 307 and 308"},
    {"location", "L", KIND_FLAG, NULL, "on", AT(location), .rare = true,
     .help = "follow redirects, which is the default; for those used to curl"},
    {"compressed", NULL, KIND_FLAG, NULL, "on", AT(compressed), .rare = true, .hidden = true,
     .help = "accepted and without effect: bodies are always asked for so"},
    {"max-body", NULL, KIND_SIZE, "SIZE", "16M", AT(max_body), .env = true, .rare = true,
     .help = "bytes of a body; more is body_too_large"},
    {"max-wire", NULL, KIND_SIZE, "SIZE", "16M", AT(max_wire), .env = true, .rare = true,
     .help = "bytes of it as they are received"},
    {"max-ratio", NULL, KIND_TEXT, "N[:SIZE]|off", "200:8M", AT(max_ratio), .member = "max_ratio|ratio_from", .env = true, .rare = true,
     .help = "a packed body may grow so often; more is body_too_large",
     .more = "It counts once the body is larger than SIZE, since small pages that repeat themselves do no harm."},
    {"raw-encoding", NULL, KIND_FLAG, AT(raw_encoding), .env = true, .rare = true,
     .help = "take bodies that cannot be decoded as they are",
     .more = "For a coding nobody knows, and one that is not there. A body that breaks in the middle is still bad_encoding."},
    {"insecure", "k", KIND_TEXT, "HOSTS", AT(insecure), .member = "insecure|insecure_hosts", .alone = true, .rare = true, .group = "Trust and network",
     .help = "check no certificate of the hosts given, or of HOSTS",
     .more = "Never those of hosts that redirects lead to. HOSTS is a list with commas. Each such record says `tls.verified: false`."},
    {"cacert", NULL, KIND_FILE, "FILE", AT(cacert), .env = true, .rare = true,
     .help = "authorities to trust (PEM), not those of the system"},
    {"ca", NULL, KIND_FILE, "FILE", AT(cacert), .rare = true,
     .help = "as --cacert"},
    {"cert", NULL, KIND_FILE, "FILE", AT(cert), .env = true, .rare = true,
     .help = "certificate to show to the hosts given, if they ask (PEM)"},
    {"cert-key", NULL, KIND_FILE, "FILE", AT(cert_key), .env = true, .rare = true,
     .help = "its key, if that is not in the same file"},
    {"tls-min", NULL, KIND_CHOICE, "1.2|1.3", "1.2", AT(tls_min), .env = true, .rare = true,
     .help = "oldest version of TLS"},
    {"proxy", "x", KIND_TEXT, "URL|off", AT(proxy), .env = true, .rare = true,
     .help = "through a proxy: http:// https:// socks5:// socks5h://",
     .more = "If not given: `https_proxy` or `HTTPS_PROXY`, `http_proxy` (lower case only), `all_proxy` or `ALL_PROXY`. No scheme is http; no port "
             "1080, for https 443. `socks5` resolves names here, the others let the proxy do it. A login is `USER:PASSWORD@`, percent-encoded; "
             "`env:NAME` and `file:PATH` read the URL from there."},
    {"no-proxy", NULL, KIND_TEXT, "LIST", AT(no_proxy), .env = true, .rare = true,
     .help = "hosts asked straight: names, addresses, nets, or *",
     .more = "If not given: `no_proxy` or `NO_PROXY`. `e.example` and `.e.example` are the name and all below it; `e.example:8080` that port alone; "
             "`10.0.0.0/8` addresses that stand in URLs; `*` is everything."},
    {"ipv4", "4", KIND_FLAG, AT(ipv4), .env = true, .rare = true,
     .help = "IPv4 alone"},
    {"ipv6", "6", KIND_FLAG, AT(ipv6), .env = true, .rare = true,
     .help = "IPv6 alone"},
    {"resolve", NULL, KIND_LIST, "HOST:PORT:ADDR", AT(resolve), .env = true, .rare = true,
     .help = "the address of a host; may be repeated"},
    {"dns", NULL, KIND_TEXT, "ADDR[:PORT]", AT(dns), .env = true, .rare = true,
     .help = "name server to ask, not those of the system"},
    {"https-only", NULL, KIND_FLAG, AT(https_only), .env = true, .rare = true,
     .help = "ask nothing over plain http"},
    {"allow-net", NULL, KIND_LIST, "CIDR", AT(allow_net), .env = true, .rare = true,
     .help = "addresses any page may lead to; may be repeated",
     .more = "A public page never leads to a private address unless this says so."},
    {"deny-net", NULL, KIND_LIST, "CIDR", AT(deny_net), .env = true, .rare = true,
     .help = "addresses that are never asked; may be repeated",
     .more = "local:PORT is a port of this machine, whatever address leads to it."},
    {"zone", NULL, KIND_LIST, "CIDR=Z", AT(zone), .member = "zones", .env = true, .rare = true,
     .help = "how private addresses are: public, private …; may be repeated"},
    {"untrusted-urls", NULL, KIND_FLAG, AT(untrusted_urls), .member = "untrusted", .env = true, .rare = true,
     .help = "the URLs given may reach public addresses only"},

#if !IN_CHECK
#if !IN_MIRROR
    {"css", NULL, KIND_LIST, "[NAME=]SEL[@ATTR]", AT(css), .member = "extract", .rare = true, .group = "Values of pages",
     .help = "put what a CSS selector finds into `data` of the record",
     .more = "Its text, or an attribute; `@text` is the text, `@html` the element as HTML. Attributes that are URLs are resolved. `data.NAME` is a "
             "list of all matches; CSV and SQLite get a column NAME. NAME is what stands before the first `=` if it is a name, else the selector."},
    {"json-pointer", NULL, KIND_LIST, "[NAME=]PTR", AT(json_pointer), .rare = true,
     .help = "the same with the value of a JSON page at this pointer",
     .more = FOR("RFC 6901; `-` in place of an element means every element.",
                 "RFC 6901; `-` in place of an element means every element. A crawl takes JSON then, too, unless --accept-type is given.")},
    {"meta", NULL, KIND_LIST, "NAME", AT(meta), .alone = true, .rare = true,
     .help = "the same with metas of this name or property; all without one"},
    {"jsonld", NULL, KIND_FLAG, AT(jsonld), .env = true, .rare = true,
     .help = "the same with all scripts of JSON-LD"},
    {"text", NULL, KIND_FLAG, AT(page_text), .env = true, .rare = true,
     .help = "the same with the text of the page as people see it"},
#endif
    {"output", "o", KIND_FILES, "[FMT:]FILE", AT(output), .rare = IN_EXPLAIN, .group = "Outputs",
     .help = "write records to FILE (.jsonl .csv .sqlite .warc), or a report (.html)",
     .more = "It may be repeated; all outputs get the same records. `.html` is the page of `seine report`, written when the run has ended. `.gz` or `.zst` behind `.jsonl`, `.csv` and `.warc` packs them. `jsonl:`, `csv.gz:`, `sqlite:` "
             "before the name says the format when the name does not. `-` is standard "
             "output, which is silent otherwise. A file that exists is an error without --append or --overwrite."},
    {"format", "f", KIND_CHOICE, "auto|text|jsonl|csv", "auto", AT(format), .env = true, .rare = IN_EXPLAIN || IN_MIRROR,
     .help = "of standard output",
     .more = "`auto` is text on a terminal and JSON lines everywhere else."},
    {"json", "j", KIND_FLAG, AT(json), .env = true, .rare = true,
     .help = "as --format jsonl"},
    {"write-out", "w", KIND_TEXT, "T", AT(write_out), .env = true, .rare = true,
     .help = "standard output by a template like %{status} %{url}",
     .more = "`%{time.total}` is a member of the record, `%%` a percent sign; \\n, \\t and \\r as usual. What is absent is empty."},
    {"fields", NULL, KIND_TEXT, "LIST", AT(fields), .env = true, .rare = true,
     .help = "members of records: url,status or +headers,-key"},
    {"body", NULL, KIND_CHOICE, "none|text|b64|file", "none", AT(body), .env = true, .rare = true,
     .help = "bodies inside of records, or in files of --save"},
    {"save", NULL, KIND_FILE, "DIR", AT(save), .env = true, .rare = true,
     .help = "bodies to files in DIR, named by their hash",
     .more = "A body becomes DIR/ab/cdef….html by the SHA-256 of its bytes and its content type; the same body is written once. Records tell the "
             "name as `body_file`."},
#if !IN_CRAWL
    {"include-headers", NULL, KIND_FLAG, AT(include_headers), .env = true, .rare = true,
     .help = "standard output is the head of each response, then its body",
     .more = "What curl does with -i, in input order. On a terminal nothing of it can move the cursor."},
    {"dump-header", NULL, KIND_FILE, "FILE", AT(dump_header), .env = true, .rare = true,
     .help = "the heads of all responses to FILE, redirects included; -: stdout",
     .more = "Values that are secret, cookies among them, are REDACTED."},
#endif
    {"raw", NULL, KIND_FLAG, AT(raw), .rare = true, .env = true,
     .help = FOR("standard output is the bodies of ok results, in input order", "standard output is the bodies of ok results")},
#if IN_CRAWL
#if !IN_MIRROR
    {"mirror", NULL, KIND_FLAG, AT(mirror), .member = "requisites", .env = true, .rare = true,
     .help = "a copy of the site in --output-dir, to be opened from disk",
     .more = "As `seine mirror` does, with the scope and the depth of a crawl: pages and their parts become files, links between them relative. "
             "The same command visits the site again and asks only for what has changed."},
#endif
    {"output-dir", NULL, KIND_FILE, "DIR", ".", AT(output_dir), .env = true, .rare = !IN_MIRROR,
     .help = IN_MIRROR ? "where the copy is; made if it is missing" : "where the copy of --mirror is; made if it is missing"},
    {"keep-original", NULL, KIND_FLAG, AT(keep_original), .env = true, .rare = !IN_MIRROR,
     .help = IN_MIRROR ? "keep pages as they came, too, in .original" : "of --mirror: pages as they came, too, in .original"},
    {"delete", NULL, KIND_FLAG, AT(remove_gone), .env = true, .rare = !IN_MIRROR,
     .help = IN_MIRROR ? "remove files whose page is 404 or 410 now" : "of --mirror: remove files whose page is 404 or 410 now"},
#endif
#if !IN_CRAWL
    {"remote-name", "O", KIND_FLAG, AT(remote_name), .env = true, .rare = true,
     .help = "bodies of ok results to files named by the end of their URL",
     .more = "In --output-dir. Names are made safe: characters that a file system may not take are %XX, and no name leaves the directory. A "
             "name that is taken gets the hash of its URL, a~k3….pdf, unless --overwrite is given. Records tell the name as `body_file`."},
    {"remote-header-name", "J", KIND_FLAG, AT(remote_header_name), .env = true, .rare = true,
     .help = "as -O, by the name that the server says, if it does",
     .more = "That of Content-Disposition, without directories."},
    {"output-dir", NULL, KIND_FILE, "DIR", ".", AT(output_dir), .env = true, .rare = true,
     .help = "where -O and -J put files; made if it is missing"},
    {"ordered", NULL, KIND_FLAG, AT(ordered), .env = true, .rare = true,
     .help = "records in the order of the input"},
#endif
    {"events", NULL, KIND_FLAG, AT(events), .env = true, .rare = true,
     .help = "records of what happens to hosts, too",
     .more = "With --incremental also of the pages that nothing links to any more, when a round ends."},
    {"skips", NULL, KIND_FLAG, NULL, "on", AT(skips), .env = true, .rare = true,
     .help = "records of URLs that were not admitted"},
    {"csv-raw", NULL, KIND_FLAG, AT(csv_raw), .env = true, .rare = true,
     .help = "CSV cells as they are, formulas included"},
    {"csv-crlf", NULL, KIND_FLAG, AT(csv_crlf), .env = true, .rare = true,
     .help = "CSV lines end in CR LF"},
    {"summary", NULL, KIND_FILE, "FILE", AT(summary), .no = true, .env = true, .rare = true,
     .help = "the summary record to FILE, too; --no-summary: none at all"},
    {"warc-size", NULL, KIND_SIZE, "SIZE", AT(warc_size), .min = 1, .env = true, .rare = true,
     .help = "begin another web archive after so many bytes",
     .more = "`-o x.warc.gz` then writes x-00001.warc.gz, x-00002.warc.gz …; a file ends with the pair of records that makes it as long."},
    {"failed", NULL, KIND_FILE, "FILE", AT(failed), .env = true, .rare = true,
     .help = "records of what failed to FILE, too; `fetch -i FILE` asks again",
     .more = "A .jsonl or .csv beside the other outputs, with the results that are not ok and nothing else. --append and --overwrite hold for it, too."},
#if IN_CRAWL && !IN_MIRROR
    {"referrers", NULL, KIND_COUNT, "N", AT(referrers), .min = 1, .max = 1000, .env = true, .rare = true,
     .help = "up to N pages that link to each URL that failed; all in SQLite",
     .more = "The list of failures names them, and records of failed URLs have them in `referrers`; these records are written at the end of the run. "
             "In a database every link of every page is a row of `link`: source, line, target and verdict."},
#endif
    {"append", NULL, KIND_FLAG, AT(append), .env = true, .rare = true,
     .help = "add to outputs that exist"},
    {"overwrite", NULL, KIND_FLAG, AT(overwrite), .env = true, .rare = true,
     .help = "replace outputs that exist"},
#endif
    {"fail-on", NULL, KIND_TEXT, "none|any|all|N|P", "any", AT(fail_on), .env = true, .rare = true,
     .help = IN_CHECK ? "how many broken links make the exit code 1" : FOR("how many failed URLs and bad lines make the exit code 1", "how many failed pages make the exit code 1"),
     .more = FOR("Failed are all outcomes but `ok`. `all`: 1 only if nothing came.", IN_CHECK ? NULL : "Pages that were given, and those in scope that a link or a sitemap leads to; what is skipped has not failed. `all`: 1 only if nothing came.")},
    {"job", NULL, KIND_TEXT, "NAME", AT(job), .no = true, .env = true, .rare = true, .group = "Jobs",
     .help = FOR("survive kill -9: the same command goes on where it was",
                 IN_CHECK ? "survive kill -9: the same command goes on where it was" : "the name of the job; the host of the first seed if not given"),
     .more = IN_CHECK ? "The state of a job is kept in --state: what was found, and what was answered. When the run ends early, in whatever way, the same "
                        "command goes on and asks for nothing twice. A check that was finished begins anew."
                      : "The state of a job is kept in --state. When the run ends early, in whatever way, the same command goes on: every URL has one record in "
             "every output. A job that is finished is not begun again without --fresh. --no-job keeps nothing."},
    {"fresh", NULL, KIND_FLAG, AT(fresh), .rare = true,
     .help = IN_CHECK ? "start the job over" : "start the job over; its state and its outputs are replaced"},
    {"resume", NULL, KIND_FLAG, AT(resume), .rare = true,
     .help = "there must be a job to go on with"},
#if IN_CRAWL && !IN_CHECK
    {"incremental", NULL, KIND_FLAG, AT(incremental), .env = true, .rare = true,
     .help = "a finished job visits its site again: what has changed?",
     .more = "Pages are asked for with their ETag and Last-Modified, and records say in `change` what became of them: `new`, `changed`, `same` or "
             "`gone`. Every URL that is known is visited, also if the page that led there is unchanged or fails. Outputs are appended to. A run that "
             "was ended early goes on before the next one begins."},
    {"revisit", NULL, KIND_SPAN, "D", IN_MIRROR ? "0s" : "1d", AT(revisit), .member = "revisit.start", .env = true, .rare = true,
     .help = "ask for a page again after this time; 0s: in every run",
     .more = "Of --incremental. A page that is the same is asked for half as often again, up to --revisit-max, one that has changed twice as often, "
             "down to --revisit-min. max-age of a response makes it later, a newer lastmod in a sitemap at once."},
    {"revisit-min", NULL, KIND_SPAN, "D", "1h", AT(revisit_min), .member = "revisit.min", .env = true, .rare = true,
     .help = "no page is asked for again earlier"},
    {"revisit-max", NULL, KIND_SPAN, "D", "30d", AT(revisit_max), .member = "revisit.max", .env = true, .rare = true,
     .help = "no page is asked for again later"},
    {"change", NULL, KIND_CHOICE, "body|content", "body", AT(change), .env = true, .rare = true,
     .help = "a page has changed: its bytes, or its words without numbers"},
    {"only-changes", NULL, KIND_FLAG, AT(only_changes), .env = true, .rare = true,
     .help = "write records of new, changed and gone pages alone"},
    {"plan", NULL, KIND_FLAG, AT(plan), .rare = true,
     .help = "print the URLs that a run would ask for; ask for nothing"},
    {"refresh", NULL, KIND_FLAG, AT(refresh), .rare = true,
     .help = "ask for whole pages: no If-None-Match, no If-Modified-Since"},
#endif
#if IN_CRAWL && !IN_CHECK && !IN_MIRROR
    {"store", NULL, KIND_LIST, "URL", AT(store), .env = true, .rare = true,
     .help = "keep the job in Redis, where several workers share it: redis://HOST:PORT/DB",
     .more = "Needs --job. `seine worker` joins from any machine. Records are written to segments in --out, which `seine jobs export` joins. A user and a password may "
             "stand in the URL, or the URL in env:NAME or file:PATH. Several URLs are several servers, to which the partitions of the job are dealt out."},
    {"submit", NULL, KIND_FLAG, AT(submit), .rare = true,
     .help = "only make the job of --store, with its seeds; workers do the rest"},
    {"out", NULL, KIND_FILE, "DIR", "segments", AT(out), .env = true, .rare = true,
     .help = "where the segments of a job of --store are written"},
    {"partitions", NULL, KIND_COUNT, "N", "256", AT(partitions), .min = 1, .max = 65536, .env = true, .rare = true,
     .help = "parts of a new job of --store; no more workers than that can share it"},
    {"lease", NULL, KIND_SPAN, "D", "15s", AT(lease), .env = true, .rare = true,
     .help = "how long a partition of --store waits for a worker that is gone"},
    {"store-wait", NULL, KIND_SPAN, "D", "10m", AT(store_wait), .env = true, .rare = true,
     .help = "how long to wait for a --store that is away or full"},
    {"accept-store-loss", NULL, KIND_FLAG, AT(accept_store_loss), .env = true, .rare = true,
     .help = "also use a --store that may lose its last second (appendfsync everysec)"},
    {"join", NULL, KIND_FLAG, AT(join), .rare = true,
     .help = "the job of --store must be there: its seeds are not read again"},
#endif
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true, .rare = true,
     .help = "where jobs are kept; on a local disk"},
    {"durability", NULL, KIND_CHOICE, "full|fast|none", "full", AT(durability), .env = true, .rare = true,
     .help = "what a job survives: power loss, the end of the process, nothing",
     .more = "`fast`: after a loss of power up to a second is fetched again. `none`: there is no job."},

#if !IN_CHECK
    {"verbose", "v", KIND_TIMES, .at = offsetof(fetch_settings, verbose), .rare = true, .group = "What is said meanwhile",
     .help = FOR("-v what is sent and received, -vv debug, -vvv trace", "-v info and the closing table, -vv debug, -vvv trace"),
     .more = FOR("For up to ten URLs -v shows names, addresses, TLS and its certificate, requests, heads of responses, waits and times, without secrets. "
                 "For more it says info, and the closing table follows.", NULL)},
#endif
    {"log", NULL, KIND_CHOICE, "text|json|off", "text", AT(log), .env = true, .rare = true, .group = "What is said meanwhile",
     .help = "what is said on standard error: for people or machines"},
    {"log-level", NULL, KIND_TEXT, "trace|debug|info|warn|error", AT(log_level), .env = true, .rare = true,
     .help = "the lowest level that is said; warn if not given"},
    {"log-file", NULL, KIND_FILE, "FILE", AT(log_file), .env = true, .rare = true,
     .help = "the log goes there, at its end"},
    {"progress", NULL, KIND_CHOICE, "auto|bar|line|off", "auto", AT(progress), .env = true, .rare = true,
     .help = "a bar, a line every 10 s, or nothing",
     .more = "`auto` is a bar on a terminal and lines elsewhere; no bar where records are written to the terminal as JSON or CSV."},
    {"watch", NULL, KIND_FLAG, AT(watch), .rare = true,
     .help = "show the run in a browser, on this machine alone",
     .more = "Prints the link of a dashboard on a port of 127.0.0.1; its token ends with the run. `seine serve` keeps runs and records."},
    {"metrics", NULL, KIND_TEXT, "ADDR:PORT", AT(metrics), .env = true, .rare = true,
     .help = "serve /metrics, /livez, /readyz and /healthz there",
     .more = "For Prometheus. `9464` or `:9464` is 127.0.0.1; port 0: the kernel chooses one, and it is said which."},
    {"metrics-file", NULL, KIND_FILE, "FILE", AT(metrics_file), .env = true, .rare = true,
     .help = "write them there every 10 s and at the end"},
#if !IN_CHECK
    {"otlp", NULL, KIND_TEXT, "URL", AT(otlp), .env = true, .rare = true,
     .help = "send traces to this collector: OTLP over HTTP, http://127.0.0.1:4318",
     .more = "One URL of a hundred is traced, and up to ten a second that failed. A collector that is slow or away never slows a run. Without the option "
             "monitoring.otlp_endpoint of the configuration and OTEL_EXPORTER_OTLP_ENDPOINT count."},
    {"otlp-ratio", NULL, KIND_TEXT, "P", AT(otlp_ratio), .env = true, .rare = true,
     .help = "share of the URLs that are traced, from 0 to 1; 0.01 if not given"},
#endif
    /* clang-format on */
