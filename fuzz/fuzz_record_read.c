/* SPDX-License-Identifier: Apache-2.0 */
/* Any line: what is read as a record is written as a line that reads as the same record,
 * and a line that is refused has one clear reason. */
#include <stdlib.h>
#include <string.h>

#include "store/record_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* The record as a line; the caller frees it. */
static char *
written(const sn_record_reader *rr, size_t *out_n)
{
    seine_members all = {UINT64_MAX};
    size_t n = seine_record_json(&rr->record, rr->seq, &all, rr->form, NULL, 0);
    char *line = malloc(n);

    REQUIRE(line);
    REQUIRE(seine_record_json(&rr->record, rr->seq, &all, rr->form, line, n) == n);
    *out_n = n;
    return line;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *line = malloc(n + 1);
    seine_diag diag = SEINE_DIAG;
    sn_record_reader rr, again;

    REQUIRE(line);
    memcpy(line, bytes, n);
    sn_record_reader_init(&rr);
    sn_record_reader_init(&again);
    seine_err e = sn_record_read(&rr, (sn_str){line, n}, &diag);
    REQUIRE((e == SEINE_OK) == (diag.text[0] == '\0'));
    if (e == SEINE_OK && rr.kind == SN_READ_RECORD) {
        size_t first_n, second_n;
        char *first = written(&rr, &first_n);

        e = sn_record_read(&again, (sn_str){first, first_n - 1}, &diag);
        REQUIRE(e == SEINE_OK && again.kind == SN_READ_RECORD);
        char *second = written(&again, &second_n);
        REQUIRE(first_n == second_n && memcmp(first, second, first_n) == 0);
        free(first);
        free(second);
    }
    sn_record_reader_fini(&rr);
    sn_record_reader_fini(&again);
    free(line);
    return 0;
}
