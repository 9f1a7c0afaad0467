# SPDX-License-Identifier: Apache-2.0
"""Options: the names of the command line, and what is wrong with a wrong one."""
import datetime
import os
import re
import subprocess
import unittest

from support import BUILD

import seine
from seine import options, units

WRONG = [  # option, value, exception, what it says
    ("retrys", 3, TypeError, "did you mean 'retries'"),
    ("time_out", 3, TypeError, "did you mean 'timeout'"),
    ("output", "x.jsonl", TypeError, "seine fetch --output"),
    ("depth", 3, TypeError, "one of crawl"),
    ("xyzzy", 1, TypeError, "no option 'xyzzy'$"),
    ("timeout", "10x", ValueError, "^timeout: '10x'"),
    ("timeout", 0, ValueError, "above 0"),
    ("timeout", -1, ValueError, "not a duration"),
    ("timeout", [], TypeError, "^timeout: "),
    ("timeout", True, TypeError, "^timeout: "),
    ("timeout", float("nan"), ValueError, "not a duration"),
    ("concurrency", 0, ValueError, "^concurrency: 0: not from 1"),
    ("concurrency", 2.5, ValueError, "not a count"),
    ("rate", "often", ValueError, "^rate: 'often'"),
    ("burst", 3, ValueError, "goes with rate"),
    ("mine", "yes", TypeError, "not True or False"),
    ("robots", "maybe", ValueError, "off, on, audit"),
    ("accept", "2xx,abc", ValueError, "'abc' is no status"),
    ("retry_on", "sometimes", ValueError, "no status"),
    ("backoff", "1s", ValueError, "1s..30s"),
    ("breaker", "fail=x", ValueError, "breaker"),
    ("include", "(", ValueError, "include"),
    ("proxy", "bla://x", ValueError, "proxy"),
    ("header", "novalue", ValueError, "Name: value"),
    ("header", {"Bad Name": "x"}, ValueError, "header"),
    ("contact", "a\nb", ValueError, "contact"),
    ("user_agent", "a\0b", ValueError, "NUL"),
    ("fields", "+nonsense", ValueError, "'nonsense' is no member"),
    ("cacert", "/nowhere/at/all.pem", ValueError, "cacert"),
    ("resolve", "abc", ValueError, "resolve"),
    ("allow_net", "10.0.0/8", ValueError, "allow_net"),
    ("cookie", "/nowhere/at/all", ValueError, "neither NAME=VALUE nor a file"),
    ("tls_min", "1.1", ValueError, "1.2, 1.3"),
    ("css", "p[", ValueError, "css: .*expected an attribute name"),
    ("css", ["a", "A=b"], ValueError, "there already"),
    ("json_pointer", "a", ValueError, "no JSON pointer"),
    ("jsonld", "yes", TypeError, "not True or False"),
]
RIGHT = [  # option, value, member, what the library gets
    ("timeout", "1m30s", "timeout", 90 * 10 ** 9),
    ("timeout", 1.5, "timeout", 1500000000),
    ("timeout", 1e-3, "timeout", 1000000),
    ("timeout", datetime.timedelta(milliseconds=250), "timeout", 250000000),
    ("max_body", "64k", "max_body", 65536),
    ("max_body", 100, "max_body", 100),
    ("per_ip", "off", "per_ip", 0),
    ("per_ip", None, "per_ip", 0),
    ("concurrency", "1k", "concurrency", 1000),
    ("retries", 2, "retry.max_attempts", 3),
    ("rate", "3/7s", "rate.count", 3),
    ("rate", 0.5, "rate.per", 2 * 10 ** 9),
    ("rate", "off", "rate.count", 0),
    ("host_rate", 7, "host_rate.count", 7),
    ("jitter", "full", "retry.jitter", 2),
    ("jitter", "minus", "retry.jitter", 5),
    ("robots", "audit", "robots", 2),
    ("robots", True, "robots", 1),
    ("dedup", "off", "dedup", False),
    ("dedup", True, "dedup", True),
    ("head", True, "method", b"HEAD"),
    ("data", b"x", "method", b"POST"),
    ("location", False, "max_redirects", 0),
    ("tls_min", 1.3, "tls_min", 13),
    ("insecure", True, "insecure", True),
    ("ipv6", True, "family", 2),
    ("retry_budget", "off", "retry_budget.ratio_milli", 2 ** 32 - 1),
    ("retry_budget", "30%", "retry_budget.ratio_milli", 300),
    ("breaker", "fail=3,open=5s", "breaker.open_for", 5 * 10 ** 9),
    ("min_speed", "1k/10s", "speed_bytes", 1024),
    ("max_ratio", "9:2k", "ratio_from", 2048),
    ("backoff", "2s..8s", "retry.max", 8 * 10 ** 9),
    ("body", True, "keep", 5),
    ("fields", ["+headers", "-key"], "keep", 3),
    ("accept_type", ["text/html", "text/plain"], "accept_type", b"text/html,text/plain"),
]


class Options(unittest.TestCase):
    def test_wrong_options_are_refused_with_their_name_before_anything_is_asked(self):
        for name, value, kind, text in WRONG:
            with self.subTest(option=name, value=value), self.assertRaisesRegex(kind, text):
                seine.fetch(["http://127.0.0.1:9/"], **{name: value})

    def test_values_reach_the_library(self):
        for name, value, member, want in RIGHT:
            with self.subTest(option=name, value=value):
                plan = options.make_plan("fetch", {name: value})
                got = plan.opts
                for part in member.split("."):
                    got = getattr(got, part)
                plan.free()
                self.assertEqual(got, want)

    def test_values_of_a_crawl_reach_the_library(self):
        plan = options.make_plan("crawl", dict(depth="off", scope="domain", domains="a.example,*.b.example", sitemap="only", nofollow=False,
                                               max_pages_per_host="off", max_sitemap_bytes="1k"))
        o = plan.crawl
        self.assertEqual((o.depth, o.scope, o.sitemaps, o.nofollow, o.max_per_host, o.max_sitemap_bytes), (2 ** 32 - 1, 1, 1, False, 0, 1024))
        self.assertEqual([o.domains[i] for i in range(3)], [b"a.example", b"*.b.example", None])
        self.assertEqual(plan.opts.robots, 1)
        plan.free()
        self.assertEqual(options.make_plan("crawl", {"mine": True}).opts.robots, 0)
        self.assertEqual(options.make_plan("crawl", {"mine": True, "scope": "any"}).opts.robots, 1)
        self.assertEqual(options.make_plan("crawl", {"parent": False}).crawl.scope, 2)
        self.assertRaises(ValueError, options.make_plan, "crawl", {"parent": False, "scope": "any"})

    def test_every_option_is_one_of_the_program(self):
        for verb, table in (("fetch", options.FETCH), ("crawl", options.CRAWL)):
            text = subprocess.run([os.path.join(BUILD, "seine"), verb, "--help"], capture_output=True, text=True, check=True).stdout
            words = {word.replace("-", "_") for word in re.findall(r"--(?:\[no-\])?([a-z0-9-]+)", text)}
            self.assertGreater(len(words), 60)
            self.assertEqual(set(table) - words, set(), verb)

    def test_a_secret_is_in_no_message(self):
        r = next(seine.fetch("http://127.0.0.1:9/hunter22hunter", header={"Authorization": "Bearer hunter22hunter"}, retries=0, breaker="off"))
        self.assertIsNotNone(r.error)
        self.assertNotIn("hunter22", str(r.error))

    def test_units(self):
        self.assertEqual((units.span("1h30m"), units.size("2GiB"), units.count("10k"), units.share("20%")), (5400 * 10 ** 9, 2 << 30, 10000, 20))
        self.assertRaises(ValueError, units.span, "eleven")
        self.assertRaises(ValueError, units.size, -1)

    def test_errors_have_the_names_of_records_and_their_kinds_as_bases(self):
        e = seine.errors
        self.assertTrue(issubclass(e.DnsTimeout, e.Timeout) and issubclass(e.Timeout, seine.Error))
        self.assertEqual((e.DnsTimeout.name, e.DnsTimeout.transient, e.TlsCertExpired.transient), ("dns_timeout", True, False))
        self.assertTrue(issubclass(e.Config, ValueError) and issubclass(e.BadUrl, ValueError))
        self.assertEqual(len(e.BY_NUMBER), len({kind.__name__ for kind in e.BY_NUMBER.values()}))


if __name__ == "__main__":
    unittest.main()
