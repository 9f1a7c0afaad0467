# SPDX-License-Identifier: Apache-2.0
"""Options of fetch and crawl, under the names of the command line: `--max-redirects 3` is max_redirects=3.

TABLE has a row for each: its name and a function that writes it into a Plan. What `seine fetch` alone can do (outputs, jobs,
logs, the screen) has no option here.
"""
import base64
import ctypes
import difflib
import os
import time
from ctypes import byref, c_char_p, c_uint32, c_void_p

from . import _functions as c
from . import _structs as s
from . import errors, units

KEEP_TITLE, KEEP_FIELDS, KEEP_BODY, KEEP_SHA256, KEEP_LINKS = 1, 2, 4, 8, 32
PAGE_FIELDS = {"links", "lang", "canonical", "meta_robots", "charset_from", "charset_errors"}
CRAWL_TYPES = "text/html,application/xhtml+xml"
ANY_DEPTH = 2 ** 32 - 1

# Members of the library's options that have another name here: messages use ours.
NAMES = {"from": "contact", "fields": "header", "body": "data", "untrusted": "untrusted_urls", "zones": "zone",
         "max_per_host": "max_pages_per_host", "sitemaps": "sitemap", "speed_bytes": "min_speed", "speed_span": "min_speed",
         "ratio_from": "max_ratio", "retry": "backoff", "insecure_hosts": "insecure"}

PROGRAM_ONLY = frozenset(
    "input input_format url_column base output format json write_out save raw remote_name remote_header_name output_dir ordered events csv_raw "
    "csv_crlf summary warc_size append overwrite fail_on max_errors job fresh resume incremental revisit revisit_min revisit_max change "
    "only_changes plan refresh state durability verbose log log_level log_file progress metrics metrics_file config compressed quiet".split())


class Plan:
    """The options of one fetch, and everything that they point to."""

    def __init__(self, crawls):
        self.opts = s.FetchOpts()
        c.seine_fetch_opts_init(byref(self.opts), ctypes.sizeof(self.opts))
        self.crawl = c.seine_crawl_defaults() if crawls else None
        self.crawls = crawls
        self.kept = []  # what C points to
        self.headers, self.given = [], set()
        self.burst = self.host_burst = 1
        self.max_time = self.contact = self.agent = None
        self.wants_jar, self.jar_file, self.cookie_files = None, None, []
        self.secrets, self.jar, self.extract = c_void_p(), c_void_p(), c_void_p()

    def text(self, member, value, of=None):
        setattr(of or self.opts, member, value.encode() if value is not None else None)

    def texts(self, member, value, of=None):
        made = s.text_list(_list(value))
        self.kept.append(made)
        setattr(of or self.opts, member, made)

    def bytes(self, member, value):
        self.kept.append(value)
        setattr(self.opts, member + "_ptr", ctypes.cast(c_char_p(value), c_void_p).value)
        setattr(self.opts, member + "_len", len(value))

    def drop(self):
        """As free, of a fetch that never was: nothing is saved."""
        self.jar_file = None
        self.free()

    def free(self):
        """Saves the cookies, and frees jar and secrets: after the fetch."""
        jar, self.jar = self.jar, c_void_p()
        secrets, self.secrets = self.secrets, c_void_p()
        extract, self.extract = self.extract, c_void_p()
        try:
            if jar and self.jar_file:
                diag = s.Diag()
                errors.check_diag(c.seine_cookie_jar_save(jar, os.fsencode(self.jar_file), wall(), byref(diag)), diag)
        finally:
            c.seine_cookie_jar_free(jar)
            c.seine_secrets_free(secrets)
            c.seine_extract_free(extract)


def wall():
    return time.time_ns()


def _list(value):
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    values = list(value)
    if not all(isinstance(v, str) for v in values):
        raise TypeError(f"{value!r}: not a text or a list of texts")
    return values


def _split(value):
    return [word for text in _list(value) for word in text.replace(" ", "").split(",") if word]


def _str(value):
    if not isinstance(value, str):
        raise TypeError(f"{value!r}: not a text")
    if "\0" in value:
        raise ValueError(f"{value!r}: has a NUL in it")
    return value


def _bool(value):
    if not isinstance(value, bool):
        raise TypeError(f"{value!r}: not True or False")
    return value


def _choice(*words):
    def read(value):
        if value is False and "off" in words:
            value = "off"
        if value is True and "on" in words:
            value = "on"
        if value not in words:
            raise ValueError(f"{value!r}: not one of {', '.join(words)}")
        return words.index(value)
    return read


def _is_off(value):
    return value is None or value is False or value == "off"


# Writers of rows: each makes a function of (plan, value).

def _set(member, read, of="opts"):
    def write(plan, value):
        setattr(getattr(plan, of), member, read(value))
    return write


def _count(member, least=0, most=2 ** 32 - 1, of="opts", off=False, read=units.count):
    def write(plan, value):
        n = 0 if off and _is_off(value) else read(value)
        if not least <= n <= most:
            raise ValueError(f"{value!r}: not from {least} to {most}")
        setattr(getattr(plan, of), member, n)
    return write


def _span(member):
    def write(plan, value):
        n = units.span(value)
        if n == 0 and member.endswith("timeout"):
            raise ValueError(f"{value!r}: a timeout must be above 0")
        setattr(plan.opts, member, n)
    return write


def _text(member, of="opts"):
    return lambda plan, value: plan.text(member, _str(value), getattr(plan, of))


def _path(member):
    return lambda plan, value: setattr(plan.opts, member, os.fsencode(value))


def _texts(member, of="opts", read=_list):
    return lambda plan, value: plan.texts(member, read(value), getattr(plan, of))


def _pace(member):
    def write(plan, value):
        pace = s.Frequency() if _is_off(value) else units.rate(value)
        getattr(plan.opts, member).count, getattr(plan.opts, member).per = pace.count, pace.per
    return write


def _keep_attr(name, read=lambda v: v):
    return lambda plan, value: setattr(plan, name, read(value))


def _depth(plan, value):
    plan.crawl.depth = ANY_DEPTH if _is_off(value) else min(units.count(value), 1000000)


def _parent(plan, value):
    if not _bool(value):
        if "scope" in plan.given and plan.crawl.scope != 2:
            raise ValueError("parent=False is scope='prefix', and another scope is given")
        plan.crawl.scope = 2


def _min_speed(plan, value):
    if _is_off(value):
        plan.opts.speed_bytes = 0
        return
    bytes_, slash, span = _str(value).partition("/")
    if not slash:
        raise ValueError(f"{value!r}: not like '1k/10s', or 'off'")
    plan.opts.speed_bytes, plan.opts.speed_span = units.size(bytes_), units.span(span)


def _max_ratio(plan, value):
    if _is_off(value):
        plan.opts.max_ratio = 0
        return
    ratio, colon, size = str(value).partition(":")
    plan.opts.max_ratio = units.count(ratio)
    if colon:
        plan.opts.ratio_from = units.size(size)


def _backoff(plan, value):
    first, dots, last = _str(value).partition("..")
    if not dots:
        raise ValueError(f"{value!r}: not like '1s..30s'")
    plan.opts.retry.base, plan.opts.retry.max = units.span(first), units.span(last)


def _retry_on(plan, value):
    words, bad = c_uint32(), s.View()
    also = (c_char_p * 3)(b"net", b"timeout", None)
    if c.seine_status_set_parse(",".join(_list(value)).encode(), also, byref(plan.opts.retry.status), byref(words), byref(bad)) != errors.OK:
        raise ValueError(f"{value!r}: '{s.view_of(bad)}' is no status")
    plan.opts.retry.not_net, plan.opts.retry.not_timeout = not words.value & 1, not words.value & 2


def _accept(plan, value):
    bad = s.View()
    text = str(value) if isinstance(value, int) else ",".join(_list(value))
    if c.seine_status_set_parse(text.encode(), None, byref(plan.opts.accept), None, byref(bad)) != errors.OK:
        raise ValueError(f"{value!r}: '{s.view_of(bad)}' is no status")


def _retry_budget(plan, value):
    budget = plan.opts.retry_budget
    if _is_off(value):
        budget.ratio_milli = 2 ** 32 - 1
        return
    budget.ratio_milli, budget.cap = units.share(value) * 10, 1000000


def _jitter(value):
    words = ("plusminus", "none", "full", "equal", "decorrelated", "minus")  # in the order of seine_jitter
    return _choice(*words)(value)


def _breaker(plan, value):
    park, diag = c_uint32(plan.opts.park), s.Diag()
    text = "off" if _is_off(value) else _str(value)
    e = c.seine_breaker_spec(text.encode(), byref(plan.opts.breaker), byref(park), byref(diag))
    errors.check_diag(e, diag)
    plan.opts.park = park.value


def _header(plan, value):
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, str):
        value = [value]
    for line in value:
        name, value_ = line if isinstance(line, tuple) else _header_line(line)
        plan.headers.append((_str(name), _str(value_)))


def _header_line(line):
    name, colon, value = _str(line).partition(":")
    if not colon:
        raise ValueError("not 'Name: value'")
    return name, value.strip()


def _user(plan, value):
    text = _str(value) if isinstance(value, str) else ":".join(value)
    if ":" not in text:
        raise ValueError("not 'name:password'")
    plan.headers.append(("Authorization", "Basic " + base64.b64encode(text.encode()).decode()))
    _add_secret(plan, text.partition(":")[2])


def _add_secret(plan, text):
    if not plan.secrets:
        errors.check(c.seine_secrets_new(byref(plan.secrets)))
    errors.check(c.seine_secrets_add(plan.secrets, text.encode(), len(text.encode())))


def _cookie(plan, value):
    if isinstance(value, dict):
        value = "; ".join(f"{name}={text}" for name, text in value.items())
    if "=" in _str(value):
        plan.headers.append(("Cookie", value))
    elif os.path.exists(value):
        plan.cookie_files.append(value)
    else:
        raise ValueError(f"{value!r}: neither NAME=VALUE nor a file")
    plan.wants_jar = True if plan.wants_jar is None else plan.wants_jar


def _cookie_jar(plan, value):
    plan.jar_file = os.fspath(value)
    plan.cookie_files.append(plan.jar_file)


def _data(plan, value):
    plan.bytes("body", value.encode() if isinstance(value, str) else bytes(value))


def _head(plan, value):
    if _bool(value):
        plan.text("method", "HEAD")


def _insecure(plan, value):
    if isinstance(value, bool):
        plan.opts.insecure = value
    else:
        plan.texts("insecure_hosts", _split(value))


def _family(number):
    def write(plan, value):
        if _bool(value):
            if plan.opts.family not in (0, number):
                raise ValueError("ipv4 does not go with ipv6")
            plan.opts.family = number
    return write


def _location(plan, value):
    if not _bool(value):
        plan.opts.max_redirects = 0


def _proxy(plan, value):
    text = "off" if _is_off(value) else _str(value)
    login = text.rpartition("@")[0].rpartition("//")[2]
    if login.partition(":")[2]:
        _add_secret(plan, login.partition(":")[2])
    plan.text("proxy", text)


def _fields(plan, value):
    words = {word.lstrip("+") for word in _split(value) if not word.startswith("-")}
    if "headers" in words:
        plan.opts.keep |= KEEP_FIELDS
    if "sha256" in words:
        plan.opts.keep |= KEEP_SHA256
    if words & {"body", "body_b64"}:
        plan.opts.keep |= KEEP_BODY
    if words & PAGE_FIELDS:
        plan.opts.keep |= KEEP_LINKS
    unknown = words - FIELDS
    if unknown:
        raise ValueError(f"{unknown.pop()!r} is no member of a record")


FIELDS = frozenset(
    "type ts number input line id tags url key final_url redirects method host ip http depth parent via outcome ok status error attempts tries "
    "headers content_type charset charset_from charset_errors content_length bytes_in bytes_body partial notes time tls title lang canonical "
    "meta_robots links data extract sha256 body body_b64 reason rule".split())

# What of a page becomes record.data: seine_extract_what of <seine/extract.h>.
CSS, POINTER, META, JSONLD, TEXT = range(5)


def _add_value(plan, what, text=None):
    if not plan.extract:
        errors.check(c.seine_extract_new(byref(plan.extract)))
        plan.opts.extract = plan.extract
    diag = s.Diag()
    errors.check_diag(c.seine_extract_add(plan.extract, what, text.encode() if text is not None else None, byref(diag)), diag)


def _values(what):
    def write(plan, value):
        if isinstance(value, dict):
            value = [f"{name}={text}" for name, text in value.items()]
        if what == META and isinstance(value, bool):
            value = [None] if value else []
        for text in value if value == [None] else _list(value):
            _add_value(plan, what, text)
    return write


def _value(what):
    def write(plan, value):
        if _bool(value):
            _add_value(plan, what)
    return write


def _body(plan, value):
    if value is True or value in ("text", "b64"):
        plan.opts.keep |= KEEP_BODY
    elif value not in (False, None, "none"):
        raise ValueError(f"{value!r}: not True or False")


def _dedup(value):
    return value is True or not _choice("batch", "off")(value)


def _contact(plan, value):
    plan.contact = _str(value)
    if not value.isprintable():
        raise ValueError(f"{value!r}: cannot be sent")
    plan.text("from", plan.contact)


COMMON = {
    "include": _texts("include"),
    "exclude": _texts("exclude"),
    "max_pages": _count("max_pages", most=2 ** 63, off=True),
    "max_bytes": _count("max_bytes", most=2 ** 63, off=True, read=units.size),
    "robots": _set("robots", _choice("off", "on", "audit")),
    "robots_agent": _text("robots_agent"),
    "max_crawl_delay": _span("max_crawl_delay"),
    "strip_params": lambda plan, value: plan.text("strip_params", ",".join(_list(value))),
    "concurrency": _count("concurrency", 1, 65536),
    "per_host": _count("per_host", 1, 65536),
    "per_ip": _count("per_ip", most=65536, off=True),
    "rate": _pace("rate"),
    "burst": _keep_attr("burst", units.count),
    "host_rate": _pace("host_rate"),
    "host_burst": _keep_attr("host_burst", units.count),
    "adaptive": _set("adaptive", _bool),
    "mine": _set("mine", _bool),
    "queue": _count("queue", 1, 10000000),
    "threads": _count("threads", 1, 256),
    "max_memory": _count("max_memory", 1 << 20, 2 ** 63, read=units.size),
    **{name: _span(name) for name in ("timeout", "connect_timeout", "dns_timeout", "tcp_timeout", "tls_timeout", "head_timeout", "grace",
                                      "max_retry_after")},
    "min_speed": _min_speed,
    "max_time": _keep_attr("max_time", lambda value: None if _is_off(value) else units.span(value)),
    "retries": lambda plan, value: setattr(plan.opts.retry, "max_attempts", units.count(value) + 1),
    "retry_on": _retry_on,
    "backoff": _backoff,
    "jitter": lambda plan, value: setattr(plan.opts.retry, "jitter", _jitter(value)),
    "retry_budget": _retry_budget,
    "breaker": _breaker,
    "header": _header,
    "user": _user,
    "cookie": _cookie,
    "cookies": _keep_attr("wants_jar", _bool),
    "cookie_jar": _cookie_jar,
    "user_agent": _keep_attr("agent", _str),
    "contact": _contact,
    "referer": lambda plan, value: plan.headers.append(("Referer", _str(value))),
    "accept_type": lambda plan, value: plan.text("accept_type", ",".join(_list(value))),
    "accept": _accept,
    "max_redirects": _count("max_redirects", most=1000),
    "follow_body": _set("follow_body", _bool),
    "location": _location,
    "max_body": _count("max_body", most=2 ** 63, read=units.size),
    "max_wire": _count("max_wire", most=2 ** 63, read=units.size),
    "max_ratio": _max_ratio,
    "raw_encoding": _set("raw_encoding", _bool),
    "insecure": _insecure,
    "cacert": _path("cacert"),
    "cert": _path("cert"),
    "cert_key": _path("cert_key"),
    "tls_min": lambda plan, value: setattr(plan.opts, "tls_min", 12 + _choice("1.2", "1.3")(str(value))),
    "proxy": _proxy,
    "no_proxy": lambda plan, value: plan.text("no_proxy", ",".join(_list(value))),
    "ipv4": _family(1),
    "ipv6": _family(2),
    "resolve": _texts("resolve"),
    "dns": _text("dns"),
    "https_only": _set("https_only", _bool),
    "allow_net": _texts("allow_net"),
    "deny_net": _texts("deny_net"),
    "zone": _texts("zones"),
    "untrusted_urls": _set("untrusted", _bool),
    "body": _body,
    "fields": _fields,
    "css": _values(CSS),
    "json_pointer": _values(POINTER),
    "meta": _values(META),
    "jsonld": _value(JSONLD),
    "text": _value(TEXT),
}
FETCH = {
    **COMMON,
    "dedup": _set("dedup", _dedup),
    "rate_key": _text("rate_key"),
    "max_wait": _span("max_wait"),
    "method": _text("method"),
    "head": _head,
    "data": _data,
}
CRAWL = {
    **COMMON,
    "depth": _depth,
    "scope": _set("scope", _choice("host", "domain", "prefix", "any"), "crawl"),
    "parent": _parent,
    "domains": _texts("domains", "crawl", _split),
    "max_pages_per_host": _count("max_per_host", most=2 ** 63, of="crawl", off=True),
    "max_links": _count("max_links", most=10000000, of="crawl"),
    "max_subdomains": _count("max_subdomains", most=1000000, of="crawl", off=True),
    "max_sitemaps": _count("max_sitemaps", most=1000000000, of="crawl", off=True),
    "max_sitemap_bytes": _count("max_sitemap_bytes", most=2 ** 63, of="crawl", off=True, read=units.size),
    "pattern_budget": _count("pattern_budget", most=1000000000, of="crawl", off=True),
    "sitemap": _set("sitemaps", _choice("auto", "only", "off"), "crawl"),
    "nofollow": _set("nofollow", _bool, "crawl"),
    "skips": _set("skips", _bool, "crawl"),
}


def refuse(verb, name, table):
    """A TypeError that says what the caller may have meant."""
    if name in PROGRAM_ONLY:
        return TypeError(f"{verb}() has no option {name!r}: that is for the program, `seine {verb} --{name.replace('_', '-')}`")
    if name in (CRAWL if table is FETCH else FETCH):
        return TypeError(f"{verb}() has no option {name!r}: that is one of {'crawl' if table is FETCH else 'fetch'}()")
    near = difflib.get_close_matches(name, table, 1, 0.5)
    return TypeError(f"{verb}() has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def make_plan(verb, given):
    """The plan of fetch or crawl with these options. TypeError, ValueError or errors.Config name the option."""
    table = CRAWL if verb == "crawl" else FETCH
    for name in given:
        if name not in table:
            raise refuse(verb, name, table)
    plan = Plan(verb == "crawl")
    plan.given = set(given)
    _set_defaults(plan)
    for name, value in sorted(given.items(), key=lambda item: item[0] in ("parent", "location")):
        try:
            table[name](plan, value)
        except (TypeError, ValueError) as e:
            plan.drop()
            raise type(e)(f"{name}: {e}") from None
    try:
        _finish(plan)
    except BaseException:
        plan.drop()
        raise
    return plan


def _set_defaults(plan):
    """Where the program has another default than the library."""
    plan.opts.threads = 0
    plan.opts.keep = KEEP_TITLE
    _retry_budget(plan, "20%")
    plan.opts.proxy_env = ctypes.cast(ctypes.CDLL(None).getenv, c_void_p).value
    if plan.crawls:
        plan.opts.crawl = ctypes.pointer(plan.crawl)
        plan.opts.robots = 1
        plan.text("accept_type", CRAWL_TYPES)
        if os.environ.get("TMPDIR"):
            plan.text("spill", os.environ["TMPDIR"], plan.crawl)


def _finish(plan):
    o = plan.opts
    if not o.threads:
        o.threads = min(len(os.sched_getaffinity(0)), o.concurrency)
    o.rate.burst, o.host_rate.burst = plan.burst, plan.host_burst
    if "burst" in plan.given and not o.rate.count:
        raise ValueError("burst: goes with rate")
    o.robots_on_mine = "robots" in plan.given
    if plan.crawls and o.mine and not o.robots_on_mine and plan.crawl.scope in (0, 2) and "domains" not in plan.given:
        o.robots = 0
    if o.body_ptr and "method" not in plan.given and "head" not in plan.given:
        plan.text("method", "POST")
    if plan.crawls and "json_pointer" in plan.given and "accept_type" not in plan.given:
        plan.text("accept_type", CRAWL_TYPES + ",application/json,text/json,application/ld+json")
    if o.body_ptr and not any(name.lower() == "content-type" for name, _ in plan.headers):
        plan.headers.append(("Content-Type", "application/x-www-form-urlencoded"))
    _set_agent(plan)
    _set_headers(plan)
    _open_jar(plan)
    o.secrets = plan.secrets
    names = [s.DiagName(member.encode(), shown.encode()) for member, shown in NAMES.items()]
    plan.names = (s.DiagName * (len(names) + 1))(*names)
    o.names = plan.names


def _set_agent(plan):
    agent = plan.agent
    if plan.contact and agent is None:
        agent = f"seine/{c.seine_version().decode()} (+{plan.contact})"
    elif plan.contact:
        agent += f" (+{plan.contact})"
    if agent is not None:
        plan.text("user_agent", agent)


def _set_headers(plan):
    made, kept = fields_of(plan.headers)
    plan.kept.append((made, kept))
    plan.opts.fields, plan.opts.n_fields = made, len(plan.headers)
    for name, value in kept:
        if not plan.secrets:
            errors.check(c.seine_secrets_new(byref(plan.secrets)))
        errors.check(c.seine_secrets_add_field(plan.secrets, name, len(name), value, len(value)))


def fields_of(headers):
    """An array of fields, None for none, and the bytes that it points to."""
    kept = [(name.encode(), value.encode()) for name, value in headers]
    if not kept:
        return None, kept
    rows = [(ctypes.cast(c_char_p(name), c_void_p).value, len(name), ctypes.cast(c_char_p(value), c_void_p).value, len(value))
            for name, value in kept]
    return (s.Field * len(rows))(*rows), kept


def _open_jar(plan):
    if plan.wants_jar is False and plan.cookie_files:
        raise ValueError("cookies: False does not go with a file of cookies")
    if not plan.wants_jar and not plan.cookie_files:
        return
    errors.check(c.seine_cookie_jar_new(byref(plan.jar)))
    for path in plan.cookie_files:
        diag = s.Diag()
        errors.check_diag(c.seine_cookie_jar_load(plan.jar, os.fsencode(path), wall(), byref(diag)), diag)
    plan.opts.jar = plan.jar
