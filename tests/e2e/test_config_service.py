#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sections server, database, redis, monitoring, console and egress of a configuration, and their variables."""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402


def run(text, *words, env=None):
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "seine.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f.name, 0o644)
        return seine(*words, cwd=where, env={"XDG_CONFIG_HOME": where + "/xdg", **(env or {})})


def shown(text, env=None):
    r = run(text, "config", "show", "--origin", env=env)
    check((r.code, r.err), (0, ""))
    found, section = {}, ""
    for line in r.out.splitlines():
        head = re.fullmatch(r"(\w+):", line)
        value = re.fullmatch(r"  (\w+): (.*)  # (.*)", line)
        section = head.group(1) if head else section
        if value and section:
            found[f"{section}.{value.group(1)}"] = (value.group(2), value.group(3))
    return found


@rows([
    # a slip names the right word
    ("server: {prot: 1}", "unknown key 'prot' in the section 'server'", "port"),
    ("monitoring: {prometheus_prot: 1}", "unknown key 'prometheus_prot' in the section 'monitoring'", "prometheus_port"),
    ("servr: {port: 1}", "unknown key 'servr' in the configuration", "server"),
    # numbers out of range, on both sides
    ("server: {port: 65536}", "port '65536': must be 0 to 65535", None),
    ("database: {min_connections: 0}", "min_connections '0': must be 1 to 64", None),
    ("database: {max_connections: 65}", "max_connections '65': must be 1 to 64", None),
    ("monitoring: {metrics_per_host: 101}", "metrics_per_host '101': must be 0 to 100", None),
    # words and URLs
    ("monitoring: {log_level: loud}", "log_level 'loud': not one of the choices", "trace|debug|info|warn|error"),
    ("monitoring: {otlp_endpoint: collector}", "otlp_endpoint 'collector': not a URL that begins with http:// or https://", None),
    ("monitoring: {jaeger_endpoint: ftp://c}", "otlp_endpoint 'ftp://c': not a URL that begins with http:// or https://", None),
    ("server: {origin: https://e.example/console}", "origin 'https://e.example/console': has a path", None),
    ("server: {host: example.org}", "host 'example.org': not an address", None),
    ("database: {url: postgres://db}", "url 'postgres://db': not a database that is known here", "sqlite:console.db"),
    ("redis: {url: 127.0.0.1}", "url '127.0.0.1': not a URL of Redis", None),
    ("egress: {allow_net: [10.0.0.1/8]}", "allow_net '10.0.0.1/8': bits are set behind the prefix", "203.0.113.0/24"),
    # a section is a map
    ("console: 5", "console must be a map", None),
])
def a_mistake_is_told_with_its_place(text, what, hint):
    r = run(text, "config", "check")
    check(r.code, 2)
    check(f"seine: ./seine.yaml:1:" in r.err and what in r.err, True, r.err)
    check(hint is None or f"try: {hint}" in r.err, True, r.err)


@rows([
    # name, value, message, hint
    ("SEINE_SERVER_PROT", "1", "unknown variable SEINE_SERVER_PROT", "SEINE_SERVER_PORT"),
    ("SEINE_SERVER_PORT", "70000", "SEINE_SERVER_PORT '70000': must be 0 to 65535", None),
    ("SEINE_EGRESS_ALLOW_NET", "10.0.0.0/8", "egress.allow_net is read from a file only", None),
    ("SEINE_CONSOLE_RECIPE_ENV", "HOME", "console.recipe_env is read from a file only", None),
    ("SEINE_MONITORING_LOG_LEVEL", "loud", "SEINE_MONITORING_LOG_LEVEL 'loud': not one of the choices", "trace|debug|info|warn|error"),
    ("SEINE_SERVER_TRUSTED_PROXIES", "10.0.0.0/8,x", "SEINE_SERVER_TRUSTED_PROXIES 'x': not a network", None),
    ("SEINE_DATABASE_MIN_CONNECTIONS", "9", "database.min_connections 9 is above database.max_connections 4", None),
    ("SEINE_SERVER_BEHIND_PROXY", "on", "server.behind_proxy needs server.origin", None),
])
def a_wrong_variable_is_exit_2(name, value, what, hint):
    r = run("", "config", "show", env={name: value})
    check((r.code, what in r.err), (2, True), r.err)
    check(hint is None or f"try: {hint}" in r.err, True, r.err)


@case
def every_command_that_reads_a_configuration_refuses_a_stray_variable():
    r = run("", "fetch", "http://127.0.0.1:9/", env={"SEINE_DATABASE_URI": "sqlite:x"})
    check((r.code, "try: SEINE_DATABASE_URL" in r.err), (2, True), r.err)


@case
def an_option_of_a_command_may_begin_like_a_section():
    r = run("", "config", "show", env={"SEINE_REDIS_TIMEOUT": "50ms"})
    check((r.code, r.err), (0, ""))


@case
def the_environment_beats_the_file_and_secrets_are_hidden():
    text = "server: {port: 9000, host: '::1'}\nredis: {url: 'redis://:hush@r.example'}\nmonitoring: {jaeger-endpoint: 'http://u:hush@c.example:4318'}\n"
    got = shown(text, {"SEINE_SERVER_PORT": "9001"})
    check(got["server.port"], ("9001", "SEINE_SERVER_PORT"))
    check(got["server.host"], ('"::1"', "./seine.yaml:1"))
    check(got["redis.url"], ('"redis://***@r.example"', "./seine.yaml:2"))
    check(got["monitoring.otlp_endpoint"], ('"http://***@c.example:4318"', "./seine.yaml:3"))


@case
def the_collector_of_opentelemetry_counts_below_our_own_variable():
    check(shown("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://o:4318"})["monitoring.otlp_endpoint"][0], '"http://o:4318"')
    both = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://o:4318", "SEINE_MONITORING_OTLP_ENDPOINT": "http://s:4318"}
    check(shown("", both)["monitoring.otlp_endpoint"][0], '"http://s:4318"')


@case
def metrics_for_everybody_must_be_asked_for():
    text = "monitoring: {prometheus_port: 9464, prometheus_host: 0.0.0.0}"
    r = run(text, "config", "show")
    check((r.code, "monitoring.metrics_public: true" in r.err), (2, True), r.err)
    check(shown(text.replace("}", ", metrics_public: true}"))["monitoring.metrics_public"][0], "true")


@case
def what_init_prints_is_a_configuration_without_its_hashes():
    init = run("", "config", "init").out
    body = init[init.index("# server:"):]
    lines = [line[2:].split("  #")[0].rstrip() for line in body.splitlines() if line.startswith("# ")]
    text = "\n".join(line for line in lines if not re.fullmatch(r"  \w+:", line)) + "\n"
    r = run(text, "config", "check")
    check((r.code, r.err), (0, ""), text)
    for key in ("console.send_queue", "database.max_connections", "server.trusted_proxies"):
        check(key in shown(text), True, key)


finish(at_once=8)
