/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a node as people see it. */
#include "text/tree.h"

#define MOST ((size_t)256 << 20) /* most bytes of a text */

/* Words, and what separates the next one: 0 nothing, 1 a blank, 2 a line feed. */
typedef struct words {
    sn_buf out;
    int gap;
} words;

static void
gap(words *w, int size)
{
    if (w->gap < size)
        w->gap = size;
}

static void
say(words *w, sn_str s)
{
    for (size_t i = 0; i < s.len;) {
        size_t from = i;

        while (i < s.len && !sn_is_space(s.ptr[i]))
            i++;
        if (i > from) {
            if (w->gap > 0 && w->out.len > 0)
                sn_buf_char(&w->out, w->gap == 1 ? ' ' : '\n');
            w->gap = 0;
            sn_buf_add(&w->out, s.ptr + from, i - from);
        }
        for (; i < s.len && sn_is_space(s.ptr[i]); i++)
            gap(w, 1);
    }
}

/* A block stands on lines of its own, a cell is apart from its neighbour. */
static void
gap_at(words *w, uint8_t look)
{
    if (look == SN_LOOK_BLOCK)
        gap(w, 2);
    else if (look == SN_LOOK_CELL)
        gap(w, 1);
}

seine_err
seine_node_words(const seine_tree *t, seine_node n, seine_text *out_text)
{
    if (!t || !out_text)
        return SEINE_E_INVAL;
    seine_node end = seine_node_end(t, n), open = n; /* open: innermost open element */
    words w = {.gap = 0};

    sn_buf_init(&w.out, MOST);
    for (seine_node i = n; i < end;) {
        const sn_node *node = sn_tree_node(t, i);

        while (open != n && sn_tree_node(t, open)->end <= i) { /* leaves elements */
            gap_at(&w, sn_tree_node(t, open)->look);
            open = sn_tree_node(t, open)->parent;
        }
        if (node->look == SN_LOOK_UNSEEN && i != n) {
            i = node->end;
            continue;
        }
        gap_at(&w, node->look);
        if (node->kind == SEINE_NODE_TEXT)
            say(&w, (sn_str){t->text.ptr + node->at, node->len});
        else if (node->kind == SEINE_NODE_ELEMENT && node->end > i + 1)
            open = i;
        i++;
    }
    return sn_tree_finish_text(&w.out, out_text);
}
