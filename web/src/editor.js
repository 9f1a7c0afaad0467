// SPDX-License-Identifier: Apache-2.0
// CodeMirror for recipes: YAML, completion from the schema, diagnostics of the server, peers' carets. Loaded when a recipe
// is opened; nothing else imports CodeMirror.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { yaml } from "@codemirror/lang-yaml"
import { bracketMatching, codeFolding, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language"
import { lintGutter, lintKeymap, nextDiagnostic, setDiagnostics } from "@codemirror/lint"
import { unifiedMergeView } from "@codemirror/merge"
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search"
import { Compartment, EditorState, Prec, StateEffect, StateField, Transaction } from "@codemirror/state"
import { crosshairCursor, Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, rectangularSelection, WidgetType } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { DocSession } from "./collab.js"
import { completions } from "./completion.js"
import { inert, inkOn, personColour } from "./format.js"

const MAX_PASTE = 60_000 // UTF-16 units in one change: it has to fit one message
const MAX_SECTIONS = 900

const theme = EditorView.theme({
    "&": { height: "100%", fontSize: "13px", backgroundColor: "transparent", color: "var(--text)" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
    ".cm-content": { padding: "12px 0", caretColor: "var(--accent)" },
    ".cm-line": { padding: "0 16px 0 8px" },
    ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
    ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none", paddingLeft: "6px" },
    ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 10px", minWidth: "34px" },
    ".cm-activeLine": { backgroundColor: "var(--hover)" },
    ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--select)" },
    ".cm-selectionMatch": { backgroundColor: "var(--mark)" },
    ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)", outline: "1px solid var(--line-strong)" },
    ".cm-panels": { backgroundColor: "var(--panel-2)", color: "var(--text)", borderColor: "var(--line)" },
    ".cm-panels input, .cm-panels button": { font: "inherit", fontSize: "13px" },
    ".cm-textfield": { backgroundColor: "var(--panel)", border: "1px solid var(--line-strong)", borderRadius: "6px" },
    ".cm-button": { backgroundImage: "none", backgroundColor: "var(--panel)", border: "1px solid var(--line-strong)", borderRadius: "6px", color: "var(--text)" },
    ".cm-searchMatch": { backgroundColor: "var(--mark)", outline: "1px solid var(--warn)" },
    ".cm-tooltip": { backgroundColor: "var(--panel)", border: "1px solid var(--line-strong)", borderRadius: "8px", boxShadow: "var(--shadow)", color: "var(--text)", overflow: "hidden" },
    ".cm-tooltip-autocomplete ul li": { padding: "4px 10px", fontFamily: "var(--mono)" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
    ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1em" },
    ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "inherit" },
    ".cm-completionInfo": { padding: "8px 12px", maxWidth: "300px", fontFamily: "var(--sans)" },
    ".cm-diagnostic": { padding: "6px 12px", fontFamily: "var(--sans)" },
    ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
    ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn)" },
    ".cm-diagnostic-info": { borderLeft: "3px solid var(--info)" },
    ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
    ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn)", textUnderlineOffset: "3px" },
    ".cm-lintRange-info": { backgroundImage: "none", textDecoration: "underline dotted var(--info)", textUnderlineOffset: "3px" },
    ".cm-lint-marker": { width: "9px", height: "9px", borderRadius: "50%", marginTop: "6px" },
    ".cm-lint-marker-error": { content: "normal", backgroundColor: "var(--bad)" },
    ".cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--warn)", borderRadius: "2px" },
    ".cm-lint-marker-info": { content: "normal", backgroundColor: "var(--info)" },
    ".cm-foldPlaceholder": { backgroundColor: "var(--panel-2)", border: "1px solid var(--line)", color: "var(--muted)" },
    ".cm-peer-caret": { position: "relative", borderLeft: "2px solid var(--peer)", marginLeft: "-1px", marginRight: "-1px" },
    ".cm-peer-flag": { position: "absolute", bottom: "100%", left: "-2px", padding: "0 5px", borderRadius: "4px 4px 4px 0", backgroundColor: "var(--peer)", color: "var(--peer-ink)",
        fontFamily: "var(--sans)", fontSize: "11px", lineHeight: "16px", whiteSpace: "nowrap", pointerEvents: "none", zIndex: "5", userSelect: "none" },
    ".cm-line:first-child .cm-peer-flag": { bottom: "auto", top: "100%", borderRadius: "0 4px 4px 4px" },
    ".cm-peer-selection": { backgroundColor: "color-mix(in srgb, var(--peer) 22%, transparent)" },
    ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)", paddingLeft: "8px" },
    ".cm-deletedChunk .cm-deletedText": { background: "var(--bad-soft-2)" },
    "&.cm-merge-b .cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--ok-soft)" },
    "&.cm-merge-b .cm-changedText, .cm-changedText": { background: "var(--ok-soft-2)" },
    ".cm-collapsedLines": { background: "var(--panel-2)", color: "var(--muted)", padding: "3px 12px" },
})

const colours = HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--syn-key)" },
    { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--syn-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--syn-number)" },
    { tag: tags.comment, color: "var(--syn-comment)", fontStyle: "italic" },
    { tag: [tags.punctuation, tags.separator, tags.bracket, tags.squareBracket, tags.brace], color: "var(--muted)" },
    { tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: "var(--syn-number)" },
    { tag: tags.invalid, color: "var(--bad)" },
])

class Caret extends WidgetType {
    constructor(name, color) {
        super()
        this.name = name
        this.color = color
    }
    eq(other) {
        return other.name === this.name && other.color === this.color
    }
    toDOM() {
        const caret = document.createElement("span"), flag = document.createElement("span")
        caret.className = "cm-peer-caret"
        caret.style.setProperty("--peer", this.color)
        caret.style.setProperty("--peer-ink", inkOn(this.color))
        caret.setAttribute("aria-hidden", "true")
        flag.className = "cm-peer-flag"
        flag.textContent = this.name
        caret.append(flag)
        return caret
    }
    ignoreEvent() {
        return true
    }
}

const setPeers = StateEffect.define()
const peersField = StateField.define({
    create: () => Decoration.none,
    update(value, tr) {
        let next = value.map(tr.changes)
        for (const e of tr.effects) if (e.is(setPeers)) next = drawPeers(e.value, tr.state.doc.length)
        return next
    },
    provide: f => EditorView.decorations.from(f),
})
function drawPeers(peers, length) {
    const out = []
    for (const p of peers) {
        const color = personColour(p.color)
        for (const { anchor, head } of p.ranges) {
            const from = Math.min(anchor, head, length), to = Math.min(Math.max(anchor, head), length)
            if (to > from) out.push(Decoration.mark({ class: "cm-peer-selection", attributes: { style: `--peer: ${color}` } }).range(from, to))
            out.push(Decoration.widget({ widget: new Caret(inert(p.name || "guest", 40), color), side: 1 }).range(Math.min(head, length)))
        }
    }
    return Decoration.set(out, true)
}

// A change of very many places becomes one change of the whole stretch; one too big for a message is refused.
function bounded(notice) {
    return EditorState.transactionFilter.of(tr => {
        if (!tr.docChanged || tr.annotation(Transaction.remote)) return tr
        let sections = 0, inserted = 0, from = -1, to = 0, toNew = 0
        tr.changes.iterChanges((a, b, _c, d, text) => {
            sections += 2
            inserted += text.length
            if (from < 0) from = a
            to = b
            toNew = d
        })
        if (inserted > MAX_PASTE) {
            notice(`A change may bring at most ${MAX_PASTE / 1000} 000 characters; paste it in parts.`)
            return []
        }
        if (sections <= MAX_SECTIONS) return tr
        const newFrom = tr.changes.mapPos(from, -1), insert = tr.newDoc.slice(newFrom, toNew)
        if (insert.length > MAX_PASTE) {
            notice("This changes too many places at once; change them in parts.")
            return []
        }
        return { changes: { from, to, insert }, selection: tr.newSelection, scrollIntoView: tr.scrollIntoView, annotations: Transaction.userEvent.of(tr.annotation(Transaction.userEvent) || "input") }
    })
}

// Text never holds CR or NUL.
const clean = EditorState.transactionFilter.of(tr => {
    if (!tr.docChanged) return tr
    let dirty = false
    tr.changes.iterChanges((_a, _b, _c, _d, text) => { if (/[\r\0]/.test(text.toString())) dirty = true })
    return dirty ? [] : tr
})

// Opens a document in `parent`. Callbacks: onstate(session), ondiag(items), onpreview(frame), onopened, ontitle, onnotice.
export function openEditor(parent, options) {
    let view = null
    const kept = { diag: [], dead: [], deadAt: -1 }
    const editable = new Compartment()
    const extensions = sync => [
        sync, history(), clean, bounded(options.onnotice), peersField, editable.of(editableOf(session.readOnly)),
        lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), codeFolding(), foldGutter(), drawSelection(), EditorState.allowMultipleSelections.of(true),
        indentOnInput(), indentUnit.of("  "), EditorState.tabSize.of(2), bracketMatching(), closeBrackets(), rectangularSelection(), crosshairCursor(),
        highlightActiveLine(), highlightSelectionMatches(), search({ top: true }), lintGutter(), yaml(), syntaxHighlighting(colours), theme,
        autocompletion({ override: [context => completions(context, options.schema())] }),
        Prec.high(keymap.of([
            { key: "Mod-Enter", run: () => { options.onrun?.(); return true } },
            { key: "Mod-s", run: () => { options.onlabel?.(); return true } },
            { key: "F8", run: nextDiagnostic },
        ])),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.cspNonce.of(options.nonce), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Recipe text. Tab leaves the editor.", tabindex: "0", spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
        EditorView.updateListener.of(u => {
            if (u.docChanged) {
                for (const k of ["diag", "dead"]) kept[k] = kept[k].map(d => ({ ...d, from: u.changes.mapPos(d.from, 1), to: Math.max(u.changes.mapPos(d.from, 1), u.changes.mapPos(d.to, -1)) }))
                if (session.problem?.code === "doc_full" && !u.transactions.some(t => t.annotation(Transaction.remote))) session.problem = null
                session.push()
                options.onstate?.(session)
            }
            if (u.selectionSet && !u.docChanged) session.cursor()
            if (u.docChanged || u.selectionSet) options.oncursor?.(u.state)
        }),
    ]
    const editableOf = readOnly => [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]
    const session = new DocSession({
        doc: options.doc, client: options.client, send: options.send,
        make(doc, sync) {
            view = new EditorView({ state: EditorState.create({ doc, extensions: extensions(sync) }), parent })
            return {
                get state() { return view.state },
                apply: transactions => view.update(transactions),
                replace(text, next, mine, selection) {
                    view.setState(EditorState.create({ doc: text, extensions: extensions(next) }))
                    if (mine) view.dispatch({ changes: mine, selection, annotations: Transaction.addToHistory.of(true) })
                },
            }
        },
        onchange: s => options.onstate?.(s),
        onopened(m, s) {
            view.dispatch({ effects: editable.reconfigure(editableOf(s.readOnly)) })
            options.onopened?.(m, s)
        },
        onpeers(s) {
            view?.dispatch({ effects: setPeers.of(s.localPeers()) })
            options.onpeers?.(s)
        },
        onresync: what => options.onresync?.(what),
        onerror(m, s) {
            if (m.code === "read_only" || s.problem) view?.dispatch({ effects: editable.reconfigure(editableOf(s.readOnly || !!s.stopped)) })
            options.onerror?.(m, s)
        },
        onframe(m, s) {
            if (m.t === "diag" && view) {
                kept.diag = place(s, m.items || [], m.v)
                if (kept.deadAt !== m.v) kept.dead = []
                showDiagnostics(view, kept, options)
            } else if (m.t === "preview" && view) {
                kept.dead = place(s, deadItems(m), m.v)
                kept.deadAt = m.v
                showDiagnostics(view, kept, options)
                options.onframe?.(m, s)
            } else options.onframe?.(m, s)
        },
        hidden: () => document.hidden,
    })
    const handlers = { up: w => session.up(w), down: () => session.down(), frame: m => session.frame(m) }
    return {
        session, handlers,
        get view() { return view },
        text: () => view?.state.doc.toString() ?? "",
        focus: () => view?.focus(),
        jump(from, to = from) {
            const n = view.state.doc.length
            view.dispatch({ selection: { anchor: Math.min(from, n), head: Math.min(to, n) }, scrollIntoView: true })
            view.focus()
        },
        insert(text) {
            view.dispatch(view.state.replaceSelection(text))
            view.focus()
        },
        line: position => view.state.doc.lineAt(Math.min(position, view.state.doc.length)).number,
        destroy: () => view?.destroy(),
    }
}

// What the parser says and what the preview found, at their places now; `kept` holds both kinds of this editor.
function place(session, items, v) {
    const out = []
    for (const d of items) {
        const from = session.toLocal(d.from, v, 1), to = session.toLocal(d.to, v, -1)
        if (from !== null && to !== null) out.push({ ...d, from, to: Math.max(from, to) })
    }
    return out
}
function showDiagnostics(view, kept, options) {
    const n = view.state.doc.length, items = [...kept.diag, ...kept.dead].filter(d => d.to <= n)
    view.dispatch(setDiagnostics(view.state, items.map(d => ({ from: d.from, to: d.to, severity: d.severity, source: d.code, message: d.message + (d.hint ? "\n" + d.hint : "") }))))
    options.ondiag?.(items.map(d => ({ ...d, line: view.state.doc.lineAt(d.from).number })))
}
// Selectors that match nothing on the stored page, as warnings at their place.
function deadItems(frame) {
    return (frame.dead || []).filter(d => typeof d.from === "number").map(d => ({ from: d.from, to: d.to, severity: "warning", code: "no_match",
        message: `\`${d.selector}\` matches nothing on the stored page`, hint: d.nearest ? `nearest: \`${d.nearest}\` (${d.finds})` : "" }))
}

// The difference of two texts, read only.
export function openDiff(parent, before, after, nonce) {
    const view = new EditorView({
        parent,
        state: EditorState.create({
            doc: after,
            extensions: [lineNumbers(), yaml(), syntaxHighlighting(colours), theme, EditorView.lineWrapping, EditorState.readOnly.of(true), EditorView.editable.of(false),
                EditorView.cspNonce.of(nonce), unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 }, gutter: true }),
                EditorView.contentAttributes.of({ "aria-label": "Difference of two versions", tabindex: "0" })],
        }),
    })
    return () => view.destroy()
}
