/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "store/job_parts.h"

static sn_job_mark *
find(const seine_durable_job *j, sn_str path)
{
    for (unsigned i = 0; i < j->n_outputs; i++)
        if (sn_str_eq(j->outputs[i]->out.path, path))
            return j->outputs[i];
    return NULL;
}

const sn_job_output *
sn_job_output_get(const seine_durable_job *j, sn_str path)
{
    const sn_job_mark *m = find(j, path);

    return m ? &m->out : NULL;
}

static char *
copy(sn_str s)
{
    char *text = sn_alloc(s.len + 1);

    if (text) {
        if (s.len > 0)
            memcpy(text, s.ptr, s.len);
        text[s.len] = '\0';
    }
    return text;
}

static sn_job_mark *
make(seine_durable_job *j, sn_str path)
{
    sn_job_mark *m = j->n_outputs < SN_JOB_OUTPUTS ? sn_zalloc(sizeof *m) : NULL;

    if (!m)
        return NULL;
    m->path = copy(path);
    m->out.path = (sn_str){m->path, path.len};
    if (!m->path) {
        sn_free(m);
        return NULL;
    }
    m->id = (int64_t)j->n_outputs + 1;
    j->outputs[j->n_outputs++] = m;
    return m;
}

seine_err
sn_job_output_set(seine_durable_job *j, const sn_job_output *o)
{
    sn_job_mark *m = find(j, o->path);
    bool is_new = !m;

    if (!m)
        m = make(j, o->path);
    if (!m)
        return SEINE_E_NOMEM;
    if (is_new || !sn_str_eq(m->out.detail, o->detail)) {
        char *detail = copy(o->detail);

        if (!detail)
            return SEINE_E_NOMEM;
        sn_free(m->detail);
        m->detail = detail;
        m->out.detail = (sn_str){detail, o->detail.len};
        m->is_dirty = true;
    }
    m->has_end = false;
    m->is_dirty |= m->out.dev != o->dev || m->out.ino != o->ino ||
                   m->out.committed != o->committed || m->out.tail_crc != o->tail_crc;
    m->out.dev = o->dev;
    m->out.ino = o->ino;
    m->out.committed = o->committed;
    m->out.tail_crc = o->tail_crc;
    return SEINE_OK;
}

seine_err
sn_job_output_end(seine_durable_job *j, const sn_job_output *o)
{
    sn_job_mark *m = find(j, o->path);

    if (o->detail.len >= sizeof m->end_detail)
        return SEINE_E_INVAL;
    if (!m || m->out.dev != o->dev || m->out.ino != o->ino)
        return sn_job_output_set(j, o);
    m->has_end = true;
    m->end_committed = o->committed;
    m->end_crc = o->tail_crc;
    memcpy(m->end_detail, o->detail.ptr, o->detail.len);
    m->end_detail[o->detail.len] = '\0';
    return SEINE_OK;
}

seine_err
sn_job_outputs_end(seine_durable_job *j)
{
    seine_err e = SEINE_OK;

    for (unsigned i = 0; i < j->n_outputs && e == SEINE_OK; i++) {
        sn_job_mark *m = j->outputs[i];
        sn_job_output o = m->out;

        if (!m->has_end)
            continue;
        o.committed = m->end_committed;
        o.tail_crc = m->end_crc;
        o.detail = sn_str_of(m->end_detail);
        e = sn_job_output_set(j, &o);
    }
    return e;
}

void
sn_job_outputs_free(seine_durable_job *j)
{
    for (unsigned i = 0; i < j->n_outputs; i++) {
        sn_free(j->outputs[i]->path);
        sn_free(j->outputs[i]->detail);
        sn_free(j->outputs[i]);
    }
    j->n_outputs = 0;
}

seine_err
sn_job_outputs_load(seine_durable_job *j)
{
    sn_job_row row;
    bool there = true;
    seine_err e;

    while ((e = sn_job_table_next(&j->tables[SN_TABLE_OUTPUT], &row, &there)) ==
               SEINE_OK &&
           there) {
        sn_job_output o = {.path = row.texts[0],
                           .dev = row.ints[1],
                           .ino = row.ints[2],
                           .committed = row.ints[3],
                           .tail_crc = row.ints[4],
                           .detail = row.texts[1]};

        if (row.ints[0] != (int64_t)j->n_outputs + 1 || find(j, o.path))
            return SEINE_E_STATE_CORRUPT;
        e = sn_job_output_set(j, &o);
        if (e != SEINE_OK)
            return e;
        j->outputs[j->n_outputs - 1]->is_dirty = false;
        j->outputs[j->n_outputs - 1]->synced = row.ints[5];
        j->outputs[j->n_outputs - 1]->synced_crc = row.ints[6];
    }
    return e == SEINE_OK && (int64_t)j->n_outputs != j->head.outputs
               ? SEINE_E_STATE_CORRUPT
               : e;
}
