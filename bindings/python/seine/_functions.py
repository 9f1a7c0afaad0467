# SPDX-License-Identifier: Apache-2.0
"""The functions of libseine that the binding calls, with their types.

A function of QUICK never waits and keeps the lock of the interpreter, so that two threads of Python are never in the same
object at once. A function of SLOW releases the lock: it waits, or works for long.
"""
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from . import _structs as s
from ._library import lib, quick

ERR = c_int
SPAN = c_int64
P = POINTER
OUT = P(c_void_p)
DIAG = P(s.Diag)

QUICK = {
    "seine_version": (c_char_p,),
    "seine_now": (c_int64,),
    "seine_err_name": (c_char_p, ERR),
    "seine_err_text": (c_char_p, ERR),
    "seine_err_class": (c_int, ERR),
    "seine_err_group": (ERR, ERR),
    "seine_phase_name": (c_char_p, c_int),
    "seine_fate_name": (c_char_p, c_int),
    "seine_skip_name": (c_char_p, c_int),
    "seine_wait_name": (c_char_p, c_int),
    "seine_diag_print": (c_size_t, DIAG, P(s.DiagName), c_char_p, c_size_t),
    "seine_units_span": (c_char_p, c_char_p, P(c_int64)),
    "seine_units_decimal": (c_bool, c_char_p, c_size_t, SPAN, P(c_int64)),
    "seine_units_rate": (c_char_p, c_char_p, P(s.Frequency)),
    "seine_units_rate_decimal": (c_char_p, c_char_p, c_size_t, P(s.Frequency)),
    "seine_units_count": (c_char_p, c_char_p, P(c_uint64)),
    "seine_units_size": (c_char_p, c_char_p, P(c_uint64)),
    "seine_units_share": (c_char_p, c_char_p, c_uint64, P(c_uint32)),
    "seine_status_set_parse": (ERR, c_char_p, P(c_char_p), P(s.StatusSet), P(c_uint32), P(s.View)),
    "seine_breaker_spec": (ERR, c_char_p, P(s.BreakerOpts), P(c_uint32), DIAG),
    "seine_fetch_opts_init": (None, P(s.FetchOpts), c_size_t),
    "seine_crawl_defaults": (s.CrawlOpts,),
    "seine_fetch_stream_fetch": (c_void_p, c_void_p),
    "seine_fetch_stream_add": (ERR, c_void_p, c_char_p, c_size_t, P(c_size_t)),
    "seine_fetch_stream_record_free": (None, c_void_p),
    "seine_fetch_add": (ERR, c_void_p, P(s.Ask), c_void_p),
    "seine_fetch_close": (None, c_void_p),
    "seine_fetch_stop": (None, c_void_p, ERR),
    "seine_fetch_err": (ERR, c_void_p, DIAG),
    "seine_fetch_stats_get": (None, c_void_p, P(s.FetchStats)),
    "seine_record_json": (c_size_t, c_void_p, c_uint64, P(s.Members), c_int, c_char_p, c_size_t),
    "seine_record_data": (s.View, c_void_p),
    "seine_extract_new": (ERR, OUT),
    "seine_extract_free": (None, c_void_p),
    "seine_extract_add": (ERR, c_void_p, c_int, c_char_p, DIAG),
    "seine_secrets_new": (ERR, OUT),
    "seine_secrets_free": (None, c_void_p),
    "seine_secrets_add": (ERR, c_void_p, c_char_p, c_size_t),
    "seine_secrets_add_field": (ERR, c_void_p, c_char_p, c_size_t, c_char_p, c_size_t),
    "seine_cookie_jar_new": (ERR, OUT),
    "seine_cookie_jar_free": (None, c_void_p),
    "seine_limiter_init_rate": (ERR, P(s.Limiter), P(s.Rate), c_int64, c_int64),
    "seine_limiter_allow": (c_bool, P(s.Limiter), c_int64, c_uint32),
    "seine_limiter_when": (c_int64, P(s.Limiter), c_int64, c_uint32),
    "seine_limiter_left": (c_uint32, P(s.Limiter), c_int64),
    "seine_limiter_reserve": (c_bool, P(s.Limiter), c_int64, c_uint32, c_int64, P(c_int64)),
    "seine_limiter_undo": (c_bool, P(s.Limiter), c_int64, c_uint32),
    "seine_limiter_pause": (None, P(s.Limiter), c_int64),
    "seine_breaker_init": (ERR, P(s.Breaker), P(s.BreakerOpts)),
    "seine_breaker_fini": (None, P(s.Breaker)),
    "seine_breaker_acquire": (ERR, P(s.Breaker), c_int64, P(s.Permit)),
    "seine_breaker_settle": (ERR, P(s.Breaker), P(s.Permit), c_int, c_int64),
    "seine_breaker_when": (c_int64, P(s.Breaker), c_int64),
    "seine_breaker_state_get": (c_int, P(s.Breaker)),
    "seine_breaker_state_name": (c_char_p, c_int),
    "seine_breaker_reset": (None, P(s.Breaker)),
    "seine_breaker_force": (None, P(s.Breaker), c_int, c_int64),
    "seine_breaker_stats_get": (None, P(s.Breaker), P(s.BreakerStats)),
    "seine_robots_free": (None, c_void_p),
    "seine_robots_delay": (c_int64, c_void_p, c_char_p),
    "seine_robots_sitemap": (c_bool, c_void_p, c_size_t, P(s.View)),
    "seine_url_init": (None, P(s.Url), c_char_p, c_size_t),
    "seine_url_parse": (ERR, P(s.Url), c_char_p, c_size_t, P(s.UrlFlaw)),
    "seine_url_resolve": (ERR, P(s.Url), P(s.Url), c_char_p, c_size_t, P(s.UrlFlaw)),
    "seine_url_flaw_text": (c_char_p, c_int),
    **{"seine_url_" + part: (s.View, P(s.Url)) for part in
       ("href", "scheme", "username", "password", "host", "host_port", "port_text", "path", "query", "fragment", "target")},
    "seine_url_port": (c_int, P(s.Url)),
    "seine_url_key": (ERR, P(s.Url), c_char_p, c_char_p, c_size_t, P(c_size_t)),
    "seine_url_authority": (c_size_t, P(s.Url), c_char_p, c_size_t),
    "seine_url_origin": (c_size_t, P(s.Url), c_char_p, c_size_t),
    "seine_psl_new": (ERR, c_char_p, OUT),
    "seine_psl_site": (c_size_t, c_void_p, c_char_p, c_size_t),
    "seine_links_new": (ERR, c_void_p, OUT),
    "seine_links_free": (None, c_void_p),
    "seine_links_at": (c_bool, c_void_p, c_size_t, P(s.Link)),
    "seine_links_meta": (c_bool, c_void_p, c_size_t, P(s.Meta)),
    "seine_links_jsonld": (c_bool, c_void_p, c_size_t, P(s.View)),
    "seine_links_title": (s.View, c_void_p),
    "seine_links_lang": (s.View, c_void_p),
    "seine_links_canonical": (s.View, c_void_p),
    "seine_links_base_url": (ERR, c_void_p, P(s.Url), P(s.Url)),
    "seine_tree_new": (ERR, OUT),
    "seine_tree_free": (None, c_void_p),
    "seine_tree_size": (c_uint32, c_void_p),
    "seine_tree_root": (c_uint32, c_void_p),
    "seine_node_what": (c_int, c_void_p, c_uint32),
    **{"seine_node_" + to: (c_uint32, c_void_p, c_uint32) for to in ("parent", "first", "next", "end")},
    "seine_node_name": (s.View, c_void_p, c_uint32),
    "seine_node_value": (s.View, c_void_p, c_uint32),
    "seine_node_attr": (s.View, c_void_p, c_uint32, c_char_p),
    "seine_node_attr_at": (c_bool, c_void_p, c_uint32, c_size_t, P(s.Attr)),
    **{"seine_node_" + form: (ERR, c_void_p, c_uint32, P(s.Text)) for form in ("text", "words", "html")},
    "seine_text_free": (None, P(s.Text)),
    "seine_select_new": (ERR, c_char_p, c_size_t, OUT, DIAG),
    "seine_select_free": (None, c_void_p),
    "seine_finder_new": (ERR, c_void_p, OUT),
    "seine_finder_free": (None, c_void_p),
    "seine_finder_next": (ERR, c_void_p, c_void_p, c_uint32, P(c_uint32)),
    "seine_charset_decide": (None, c_char_p, c_size_t, c_char_p, c_size_t, P(s.CharsetChoice)),
}

SLOW = {
    "seine_fetch_stream_new": (ERR, P(s.FetchOpts), OUT, DIAG),
    "seine_fetch_stream_free": (None, c_void_p),
    "seine_fetch_stream_take": (ERR, c_void_p, SPAN, OUT, c_size_t, P(c_size_t)),
    "seine_cookie_jar_load": (ERR, c_void_p, c_char_p, c_int64, DIAG),
    "seine_cookie_jar_save": (ERR, c_void_p, c_char_p, c_int64, DIAG),
    "seine_robots_new": (ERR, c_char_p, c_size_t, OUT),
    "seine_robots_check": (ERR, c_void_p, c_char_p, c_char_p, c_size_t, P(s.RobotsVerdict)),
    "seine_links_feed": (ERR, c_void_p, c_char_p, c_size_t),
    "seine_links_end": (ERR, c_void_p),
    "seine_tree_parse": (ERR, c_void_p, c_char_p, c_size_t, c_void_p),
    "seine_charset_decode": (ERR, c_int, c_char_p, c_size_t, P(s.Text), P(c_uint64)),
}


def declare(library, table):
    for name, (result, *arguments) in table.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        globals()[name] = function


declare(quick, QUICK)
declare(lib, SLOW)


def take_text(text):
    """The content of a seine_text, which is freed."""
    try:
        return s.view_text(text.bytes, text.len) or ""
    finally:
        globals()["seine_text_free"](text)
