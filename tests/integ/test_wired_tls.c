/* SPDX-License-Identifier: Apache-2.0 */
/* HTTPS on real sockets: who is trusted, what an end means, and what is kept. */
#include "failing.h"
#include "wired_tls.h"

TEST(a_host_whose_certificate_is_not_right_is_named_and_gets_no_request)
{
    static const struct {
        const char *host;
        seine_err want;
        const char *text;
    } rows[] = {
        {"expired.a.test", SEINE_E_TLS_CERT_EXPIRED, "certificate expired on "},
        {"future.a.test", SEINE_E_TLS_CERT_EXPIRED, "certificate is not valid before "},
        {"wronghost.a.test", SEINE_E_TLS_HOST_MISMATCH, "certificate is for "},
        {"selfsigned.a.test", SEINE_E_TLS_UNTRUSTED, "self-signed certificate"},
        {"untrusted.a.test", SEINE_E_TLS_UNTRUSTED, ""},
        {"tls10.a.test", SEINE_E_TLS_ERROR, ""},
        {"alert.a.test", SEINE_E_TLS_ERROR, ""},
        {"x.garbage.test", SEINE_E_TLS_ERROR, ""},
        {"fin.a.test", SEINE_E_CONN_RESET, ""},
        {"reset.a.test", SEINE_E_CONN_RESET, ""},
    };
    secured s = secure();

    EACH_ROW(i, rows) {
        visit *v = get(s.t, at(&s, rows[i].host), "/ok");

        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_TLS);
        CHECK(strncmp(v->end.fault.text, rows[i].text, strlen(rows[i].text)) == 0);
        CHECK(!v->end.fault.sent && v->heads == 0 && !v->end.partial);
        CHECK_EQ(v->end.secure.version, 0);
        free(v);
    }
    CHECK_EQ(seen(s.c, "totals", NULL, "requests"), 0);
    CHECK_EQ(wired_stats(s.t).open, 0);
    secure_end(&s);
}

TEST(https_works)
{
    secured s = secure();
    visit *v = get(s.t, at(&s, "a.test"), "/bytes:1000");

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->bytes, 1000);
    CHECK_EQ(v->end.secure.version, 13);
    CHECK(v->end.secure.verified);
    free(v);
    secure_end(&s);
}
