/* SPDX-License-Identifier: Apache-2.0 */
/* JSON bodies of the API. The first byte names the call, the rest is its body: a new
 * document, a title, operations, a label, a return to an older text, a run. Each is
 * answered once, by JSON or by nothing; whatever was asked for, the text of the document
 * stays one that can be read. Calls go through the handlers, the hub and a database in a
 * folder of its own, as in a console, but for the network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "console/docs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())
#define USER       "01JD2Z6W9N0000000000000003"

enum { TURNS = 100000 }; /* of at most a millisecond: a call that waits longer hangs */

static char folder[] = "/tmp/doc_body.XXXXXX";
static seine_console *console;

static void
remove_folder(void)
{
    static const char *const names[] = {"console.db", "console.db-wal", "console.db-shm"};
    char path[64];

    sn_docs_fini(console);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    sn_loop_fini(&console->loop);
    seine_metrics_free(console->metrics);
    free(console);
}

static void
open_console(void)
{
    seine_diag diag = SEINE_DIAG;

    if (console)
        return;
    console = calloc(1, sizeof *console);
    REQUIRE(console && mkdtemp(folder));
    console->opts = (seine_console_opts)SEINE_CONSOLE_OPTS;
    console->opts.state_dir = folder;
    snprintf(console->state_dir, sizeof console->state_dir, "%s", folder);
    REQUIRE(sn_loop_init(&console->loop, seine_clock_system()) == SEINE_OK);
    REQUIRE(seine_metrics_new(&console->metrics) == SEINE_OK);
    REQUIRE(sn_docs_start(console, &diag) == SEINE_OK);
}

static void
begin_call(sn_call *call, const char *doc, sn_str body)
{
    sn_call_init(call);
    call->console = console;
    call->body = body;
    call->param[0] = sn_str_of(doc);
    call->user.role = SN_ROLE_EDITOR;
    snprintf(call->user.id, sizeof call->user.id, USER);
}

/* Calls the handler and waits for its answer. */
static void
answer(sn_call *call, void (*handle)(sn_call *call))
{
    handle(call);
    for (int i = 0; call->reply.status == 0; i++) {
        REQUIRE(i < TURNS);
        sn_loop_turn(&console->loop, sn_time_add(console->loop.now, SEINE_MS(1)));
        sn_console_deliver(console);
    }
}

/* The answer is whole. */
static void
check_answer(const sn_call *call)
{
    const seine_text *text = &call->reply.text;
    seine_json *json = NULL;

    REQUIRE(call->reply.status >= 200 && call->reply.status < 600);
    REQUIRE(call->reply.status != 500);
    if (text->len == 0)
        return;
    REQUIRE(seine_json_parse(text->bytes, text->len, &json, NULL) == SEINE_OK);
    seine_json_free(json);
}

static void
make_doc(char out_id[SN_ULID])
{
    seine_json *json = NULL;
    const char *id;
    size_t n;
    sn_call call;

    begin_call(&call, "",
               SN_STR("{\"title\":\"t\",\"text\":\"a\\u00e4\\ud83d\\ude00 end\\n\"}"));
    answer(&call, sn_api_docs_add);
    REQUIRE(call.reply.status == 201);
    REQUIRE(seine_json_parse(call.reply.text.bytes, call.reply.text.len, &json, NULL) ==
            SEINE_OK);
    REQUIRE(seine_json_string(seine_json_get(json, "id"), &id, &n) && n < SN_ULID);
    memcpy(out_id, id, n + 1);
    seine_json_free(json);
    sn_call_fini(&call);
}

/* What can be read of the document afterwards. */
static void
check_doc(const char *id)
{
    sn_call call;

    begin_call(&call, id, (sn_str){NULL, 0});
    answer(&call, sn_api_doc);
    REQUIRE(call.reply.status == 200);
    check_answer(&call);
    sn_call_fini(&call);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static void (*const handlers[])(sn_call * call) = {
        sn_api_docs_add,  sn_api_doc_patch,   sn_api_doc_ops,
        sn_api_doc_label, sn_api_doc_restore, sn_api_run_start};
    char id[SN_ULID];
    sn_call call;

    if (n == 0 || n > 65536)
        return 0;
    bool is_first = !console;
    open_console();
    make_doc(id);
    if (is_first) /* behind the first digest: the library of digests ends after us */
        atexit(remove_folder);
    begin_call(&call, id, (sn_str){(const char *)bytes + 1, n - 1});
    answer(&call, handlers[bytes[0] % (sizeof handlers / sizeof *handlers)]);
    check_answer(&call);
    sn_call_fini(&call);
    check_doc(id);
    return 0;
}
