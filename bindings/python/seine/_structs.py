# SPDX-License-Identifier: Apache-2.0
"""The structs of include/seine/*.h that the binding reads or writes.

A `seine_view` inside of a struct is two members here, NAME_ptr and NAME_len: reading two numbers is quicker than making
an object for the pair. bindings/python/tests/test_layout.py compares sizes and offsets with the headers.
"""
import ctypes
from ctypes import (POINTER, c_bool, c_char, c_char_p, c_double, c_int8, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p)

ENUM = c_uint  # the enums of the headers have no negative values
SPAN = c_int64
TEXTS = POINTER(c_char_p)


def views(*names):
    return [part for name in names for part in ((name + "_ptr", c_void_p), (name + "_len", c_size_t))]


def struct(name, fields):
    return type(name, (ctypes.Structure,), {"_fields_": fields})


View = struct("seine_view", [("ptr", c_void_p), ("len", c_size_t)])
Text = struct("seine_text", [("bytes", c_void_p), ("len", c_size_t)])
Field = struct("seine_field", views("name", "value"))
Rate = struct("seine_rate", [("count", c_uint64), ("per", SPAN), ("burst", c_uint32)])
Frequency = struct("seine_frequency", [("count", c_uint64), ("per", SPAN)])
Limiter = struct("seine_limiter", [("every", SPAN), ("depth", SPAN), ("full", c_int64), ("shut", c_int64)])
StatusSet = struct("seine_status_set", [("words", c_uint64 * 10)])
Diag = struct("seine_diag", [("member", c_char * 32), ("file", c_char * 80), ("line", c_uint64), ("column", c_uint64),
                             ("text", c_char * 160)])
DiagName = struct("seine_diag_name", [("member", c_char_p), ("shown", c_char_p)])
Fault = struct("seine_fault", [("code", ENUM), ("phase", ENUM), ("status", c_uint16), ("sent", c_bool), ("timeout_ms", c_int64),
                               ("retry_after", SPAN), ("url", c_char * 256), ("text", c_char * 96)])

RetryOpts = struct("seine_retry_opts", [
    ("size", c_size_t), ("max_attempts", c_uint32), ("jitter", ENUM), ("jitter_pct", c_uint32), ("base", SPAN), ("max", SPAN),
    ("retry_after_max", SPAN), ("max_elapsed", SPAN), ("min_attempt", SPAN), ("status", StatusSet), ("not_net", c_bool),
    ("not_timeout", c_bool), ("factor_pct", c_uint32), ("backoff", c_void_p), ("backoff_arg", c_void_p), ("on_retry", c_void_p)])
RetryBudgetOpts = struct("seine_retry_budget_opts", [("size", c_size_t), ("ratio_milli", c_uint32), ("cap", c_uint32),
                                                     ("reserve", Rate)])
BreakerOpts = struct("seine_breaker_opts", [
    ("size", c_size_t), ("failure_threshold", c_uint32), ("half_open_max", c_uint32), ("success_threshold", c_uint32),
    ("open_growth_pct", c_uint32), ("window_calls", c_uint32), ("window_time", SPAN), ("min_calls", c_uint32),
    ("failure_pct", c_uint32), ("slow_pct", c_uint32), ("slow", SPAN), ("open_for", SPAN), ("open_max", SPAN), ("probe_lease", SPAN),
    ("on_change", c_void_p), ("arg", c_void_p)])
Permit = struct("seine_permit", [("generation", c_uint64), ("start", c_int64), ("id", c_uint32), ("why", c_uint16), ("held", c_uint8)])
Breaker = struct("seine_breaker", [("opts", c_void_p), ("extra", c_void_p), ("word", c_uint64 * 14)])
BreakerStats = struct("seine_breaker_stats", [
    ("state", ENUM), ("why", ENUM), ("failures", c_uint32), ("half_open_successes", c_uint32), ("half_open_failures", c_uint32),
    ("half_open_active", c_uint32), ("streak", c_uint32), ("last_failure_at", c_int64), ("open_until", c_int64),
    ("generation", c_uint64), ("succeeded", c_uint64), ("failed", c_uint64), ("ignored", c_uint64), ("slow", c_uint64),
    ("rejected", c_uint64), ("late", c_uint64), ("opened", c_uint64), ("failure_rate", c_double), ("slow_rate", c_double)])

Hop = struct("seine_hop", views("url") + [("status", c_uint16)])
Try = struct("seine_record_try", [("wall", c_int64), ("n", c_uint32), ("status", c_uint16), ("err", ENUM), ("took", SPAN),
                                  ("wait", SPAN), ("wait_reason", ENUM)])
Found = struct("seine_found", views("tag", "attr", "text") + [("line", c_uint32)])
TlsFacts = struct("seine_tls_facts", [("version", c_uint8), ("verified", c_bool), ("not_after", c_int64)])
WarcPlace = struct("seine_warc_place", views("file") + [("offset", c_uint64), ("length", c_uint64)] + views("id"))
Record = struct("seine_record", [
    ("type", ENUM), ("wall", c_int64), ("number", c_uint64), *views("input"), ("line", c_uint64),
    *views("id", "tags", "url", "key", "final_url"), ("hops", c_void_p), ("n_hops", c_size_t), *views("method", "host", "ip"),
    ("http", c_uint8), ("is_crawled", c_bool), ("depth", c_uint32), *views("parent"), ("via", Found), ("has_links", c_bool),
    ("n_links", c_uint32), *views("lang", "canonical", "meta_robots"), ("extract", ENUM), ("fate", ENUM), ("fault", POINTER(Fault)),
    *views("message", "hint"), ("retryable", c_bool), ("status", c_uint16), ("attempts", c_uint32), ("tries", c_void_p),
    ("n_tries", c_size_t), *views("content_type", "charset"), ("charset_from", c_char_p), ("charset_errors", c_uint64),
    ("content_length", c_int64), ("bytes_in", c_uint64), ("bytes_body", c_uint64), ("partial", c_bool), ("notes", TEXTS),
    ("n_notes", c_size_t), ("queue", SPAN), ("throttle", SPAN), ("backoff", SPAN), ("retry_budget", SPAN), ("dns", SPAN),
    ("connect", SPAN), ("tls", SPAN), ("ttfb", SPAN), ("body_time", SPAN), ("total", SPAN), *views("title"), ("fields", c_void_p),
    ("n_fields", c_size_t), *views("body"), ("sha256", c_void_p), ("secure", TlsFacts), ("captures", c_void_p),
    ("n_captures", c_size_t), ("warc", WarcPlace), *views("body_file", "json"), ("reason", ENUM), *views("rule"), ("hold", c_void_p)])
Members = struct("seine_members", [("bits", c_uint64)])

Ask = struct("seine_ask", [
    *views("url", "input"), ("line", c_uint64), *views("id", "tags", "method"), ("fields", POINTER(Field)), ("n_fields", c_size_t),
    *views("body"), ("timeout", SPAN), ("retries", c_int32), ("priority", c_int8), ("idempotent", c_bool), ("is_bad", c_bool),
    ("reason", ENUM), *views("rule")])
CrawlOpts = struct("seine_crawl_opts", [
    ("size", c_size_t), ("depth", c_uint32), ("scope", ENUM), ("domains", TEXTS), ("sitemaps", ENUM), ("nofollow", c_bool),
    ("skips", c_bool), ("pattern_budget", c_uint32), ("max_subdomains", c_uint32), ("max_per_host", c_uint64),
    ("max_links", c_uint32), ("spill", c_char_p), ("max_sitemaps", c_uint32), ("max_sitemap_bytes", c_uint64)])
FetchOpts = struct("seine_fetch_opts", [
    ("size", c_size_t), ("concurrency", c_uint32), ("per_host", c_uint32), ("per_ip", c_uint32), ("threads", c_uint32),
    ("queue", c_uint32), ("rate", Rate), ("host_rate", Rate), ("adaptive", c_bool), ("mine", c_bool), ("max_memory", c_uint64),
    ("max_pages", c_uint64), ("timeout", SPAN), ("connect_timeout", SPAN), ("dns_timeout", SPAN), ("tcp_timeout", SPAN),
    ("tls_timeout", SPAN), ("head_timeout", SPAN), ("speed_bytes", c_uint64), ("speed_span", SPAN), ("grace", SPAN),
    ("retry", RetryOpts), ("retry_budget", RetryBudgetOpts), ("breaker", BreakerOpts), ("park", c_uint32), ("max_retry_after", SPAN),
    ("method", c_char_p), ("user_agent", c_char_p), ("from", c_char_p), ("fields", POINTER(Field)), ("n_fields", c_size_t),
    *views("body"), ("accept", StatusSet), ("max_redirects", c_uint32), ("follow_body", c_bool), ("https_only", c_bool),
    ("max_body", c_uint64), ("max_wire", c_uint64), ("max_ratio", c_uint64), ("ratio_from", c_uint64), ("keep", c_uint32),
    ("dedup", c_bool), ("strip_params", c_char_p), ("raw_encoding", c_bool), ("include", TEXTS), ("exclude", TEXTS),
    ("accept_type", c_char_p), ("max_bytes", c_uint64), ("robots", ENUM), ("robots_on_mine", c_bool), ("max_crawl_delay", SPAN),
    ("crawl", POINTER(CrawlOpts)), ("cacert", c_char_p), ("cert", c_char_p), ("cert_key", c_char_p), ("tls_min", c_uint8),
    ("insecure", c_bool), ("insecure_hosts", TEXTS), ("proxy", c_char_p), ("no_proxy", c_char_p), ("proxy_env", c_void_p),
    ("jar", c_void_p), ("family", ENUM), ("dns", c_char_p), ("resolve", TEXTS), ("allow_net", TEXTS), ("deny_net", TEXTS),
    ("zones", TEXTS), ("untrusted", c_bool), ("on_record", c_void_p), ("ready", c_void_p), ("due", c_void_p), ("on_event", c_void_p),
    ("arg", c_void_p), ("names", POINTER(DiagName)), ("secrets", c_void_p), ("log", c_void_p), ("metrics", c_void_p),
    ("clock", c_void_p), ("robots_agent", c_char_p), ("output_memory", c_uint64), ("job", c_void_p), ("on_earlier", c_void_p),
    ("revisit", c_void_p), ("on_trace", c_void_p), ("accept_urls", TEXTS), ("requisites", c_bool), ("limit_rate", c_uint64),
    ("extract", c_void_p), ("on_kept", c_void_p), ("on_again", c_void_p), ("timeline", c_bool), ("rate_key", c_char_p),
    ("max_wait", c_int64)])
FetchStats = struct("seine_fetch_stats", [
    *((name, c_uint64) for name in "given duplicates admitted refused done links_cut sitemaps_cut lost ok failed blocked waiting in_flight".split()),
    ("waiting_for", c_uint64 * 16),
    *((name, c_uint64) for name in "requests retries replays bytes_in bytes_body connections reused hosts parked breaker_opens unread".split()),
    ("parked_until", c_int64), ("sitemaps_over", c_uint64), ("sitemap_bytes_over", c_uint64)])

RobotsVerdict = struct("seine_robots_verdict", [("allowed", c_bool), ("is_over", c_bool), *views("rule"), ("line", c_uint32),
                                                *views("group")])
UrlFlaw = struct("seine_url_flaw", [("kind", ENUM), ("at", c_size_t)])
Url = struct("seine_url", [
    ("href", c_void_p), ("room", c_uint32), ("len", c_uint32), ("scheme_end", c_uint32), ("user_end", c_uint32),
    ("password_end", c_uint32), ("host_at", c_uint32), ("host_end", c_uint32), ("path_at", c_uint32), ("path_end", c_uint32),
    ("query_end", c_uint32), ("port", c_int32), ("scheme", c_uint8), ("host", c_uint8), ("opaque", c_bool)])
Link = struct("seine_link", [("tag", c_char_p), ("attr", c_char_p), *views("value", "text", "rel", "hreflang"), ("offset", c_uint64),
                             ("line", c_uint32), ("col", c_uint32)])
Meta = struct("seine_meta", [("attr", c_char_p), *views("name", "content")])
Attr = struct("seine_attr", views("name", "value"))
CharsetChoice = struct("seine_charset_choice", [("charset", ENUM), ("from", ENUM), ("bom", c_size_t)])

ALL = [kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure]


def view_text(ptr, length):
    """The text of a view; None: it is absent."""
    return ctypes.string_at(ptr, length).decode("utf-8", "replace") if ptr else None


def view_of(view):
    return view_text(view.ptr, view.len)


def text_list(texts):
    """A list of C strings that ends with NULL; None for none. The array keeps the bytes."""
    if not texts:
        return None
    return (c_char_p * (len(texts) + 1))(*[t.encode() for t in texts], None)


