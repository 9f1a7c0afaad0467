// SPDX-License-Identifier: Apache-2.0
// The console: shell, routes, keys. Pages beyond the first are loaded when they are opened.
import { render } from "preact"
import { useEffect, useErrorBoundary, useState } from "preact/hooks"
import { role, session, setToken, signIn, takeLinkOnce, takeLinkToken, token } from "./api.js"
import { inert, timeOfDay } from "./format.js"
import { help, Help, Palette, palette, startKeys } from "./keys.jsx"
import { dropToast, frozen, said, socket, startLive, toasts, useNow } from "./live.js"
import { Button, Failure, Skeleton } from "./parts/basic.jsx"
import { Brand, Icon } from "./parts/icons.jsx"
import { go, parse, route, startRouter } from "./router.js"
import { nextTheme, startTheme, theme } from "./theme.js"
import { Runs } from "./pages/runs.jsx"
import { SignIn } from "./pages/signin.jsx"
import "./style.css"

const LAZY = {
    run: () => import("./pages/run.jsx").then(m => m.Run),
    records: () => import("./pages/records.jsx").then(m => m.Records),
    recipes: () => import("./pages/recipes.jsx").then(m => m.Recipes),
    editor: () => import("./pages/recipe.jsx").then(m => m.Recipe),
    system: () => import("./pages/system.jsx").then(m => m.System),
}
const loaded = { runs: Runs }
const NAV = [["runs", "Runs", "#/runs", ["runs", "run", "records"]], ["recipes", "Recipes", "#/recipes", ["recipes", "editor"]], ["system", "System", "#/system", ["system"]]]

function Pill() {
    const { word, until, since } = socket.status.value
    const now = useNow(word === "waiting" ? 250 : 1000)
    const left = Math.max(0, Math.ceil((until - now) / 1000))
    const text = { live: "live", connecting: "connecting", waiting: left ? `reconnecting in ${left} s` : "reconnecting", offline: "offline", signedout: "signed out", replaced: "open elsewhere", idle: "not connected" }[word]
    const tone = { live: "ok", connecting: "warn", waiting: "warn", offline: "bad", signedout: "bad", replaced: "warn" }[word] || "muted"
    return <button type="button" class={`pill ${tone}`} title={word === "live" ? "Connected since " + timeOfDay(since) : "Connect now"} onClick={() => (word === "replaced" ? socket.start() : socket.hurry())}>
        <i aria-hidden="true" /><span>{text}</span></button>
}

function Stale() {
    const { word, since } = socket.status.value
    if (frozen.value) return <p class="banner" role="status">The view stands still; the run goes on. Press <kbd>p</kbd> to follow again. <Button small onClick={() => { frozen.value = false }}>Follow</Button></p>
    if (word === "waiting" || word === "offline") return <p class="banner warn" role="status">Showing data of {timeOfDay(since)}. The connection is lost; nothing here is newer.</p>
    return null
}

function User() {
    const [open, setOpen] = useState(false)
    const user = session.value?.user ?? session.value ?? {}
    const name = inert(user.name || "you", 40)
    useEffect(() => {
        if (!open) return
        const away = e => { if (!e.target.closest?.(".user-menu")) setOpen(false) }
        const key = e => { if (e.key === "Escape") setOpen(false) }
        document.addEventListener("click", away)
        document.addEventListener("keydown", key)
        return () => { document.removeEventListener("click", away); document.removeEventListener("keydown", key) }
    }, [open])
    const out = () => { setToken(""); session.value = null; socket.stop("signedout"); go("#/signin") }
    return <div class="user-menu">
        <button type="button" class="avatar" aria-expanded={open} aria-haspopup="true" aria-label={`${name}, ${role()}: account`} onClick={() => setOpen(!open)}>{[...name][0]?.toUpperCase()}</button>
        {open && <div class="menu"><p><strong><bdi>{name}</bdi></strong><span class="muted">{role()}</span></p>
            <button type="button" onClick={() => { setOpen(false); help.value = true }}><Icon name="keys" size={16} />Keyboard<kbd>?</kbd></button>
            <button type="button" onClick={out}><Icon name="back" size={16} />Sign out</button></div>}
    </div>
}

function Shell({ children, page }) {
    return <>
        <a class="skip" href="#main" onClick={e => { e.preventDefault(); document.getElementById("main").focus() }}>Skip to the content</a>
        <header class="top">
            <a class="brand" href="#/runs" aria-label="seine, runs"><Brand /><span>seine</span></a>
            <nav aria-label="Pages">{NAV.map(([icon, label, href, pages]) => <a key={href} href={href} aria-current={pages.includes(page) ? "page" : undefined}><Icon name={icon} /><span>{label}</span></a>)}</nav>
            <div class="top-right">
                <button type="button" class="find" onClick={() => { palette.value = true }}><Icon name="search" size={15} /><span>Find</span><kbd>Ctrl K</kbd></button>
                <Pill />
                <Button kind="ghost" icon={{ system: "auto", light: "sun", dark: "moon" }[theme.value]} aria-label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`} onClick={nextTheme} />
                <User />
            </div>
        </header>
        <Stale />
        <main id="main" tabIndex={-1} class={["waiting", "offline"].includes(socket.status.value.word) ? "stale" : ""}>{children}</main>
        <Palette /><Help />
    </>
}

function Crash({ error, reset }) {
    return <Failure error={{ message: "This page stumbled: " + error.message, code: "page", hint: "Reloading helps; the server and its runs are not touched.", request: "" }} retry={reset} />
}

function Page() {
    const r = route.value
    const [, again] = useState(0), [failed, setFailed] = useState(null)
    const [error, reset] = useErrorBoundary()
    const Component = loaded[r.page]
    useEffect(() => { setFailed(null) }, [r.page])
    useEffect(() => {
        document.title = ({ runs: "Runs", run: "Run", records: "Records", recipes: "Recipes", editor: "Recipe", system: "System", signin: "Sign in" }[r.page] || "Not found") + " · seine"
        if (Component || !LAZY[r.page]) return
        LAZY[r.page]().then(c => { loaded[r.page] = c; again(n => n + 1) }, setFailed)
    }, [r.page, Component])
    if (error) return <Crash error={error} reset={reset} />
    if (failed) return <Failure error={{ message: "This page could not be loaded", hint: failed.message, code: "load", request: "" }} retry={() => location.reload()} />
    if (r.page === "missing") return <div class="page"><h1>Nothing here</h1><p>This address names no page. <a href="#/runs">Go to the runs.</a></p></div>
    if (!Component) return <Skeleton rows={8} />
    return <Component key={r.page + (r.id || "")} {...r} />
}

function Toasts() {
    return <div class="toasts">{toasts.value.map(t => <div key={t.id} class={`toast ${t.tone}`}><span>{inert(t.text, 500)}</span><Button kind="ghost" small icon="close" aria-label="Dismiss" onClick={() => dropToast(t.id)} /></div>)}</div>
}

function App() {
    const page = route.value.page
    const inside = session.value && page !== "signin"
    return <>
        {inside ? <Shell page={page}><Page /></Shell> : <SignIn />}
        <Toasts />
        <p class="sr-only" role="status" aria-live="polite">{said.value}</p>
    </>
}

startTheme()
startRouter()
if (takeLinkToken()) route.value = parse(location.hash)
startKeys()
startLive()
socket.options.onstop = word => { if (word === "signedout") { SignIn.why = { status: 401 }; session.value = null } }
async function begin() {
    let once
    try {
        if ((once = location.hash.includes("once=")) && await takeLinkOnce()) route.value = parse(location.hash)
        await signIn()
        socket.start()
        if (route.value.page === "signin") go("#/runs")
    } catch (e) {
        SignIn.why = token.value || once ? e : null
    }
    const box = document.getElementById("app")
    box.replaceChildren()
    render(<App />, box)
}
addEventListener("hashchange", () => { if (takeLinkToken()) signIn().then(() => { socket.start(); go("#/runs") }, () => {}) })
begin()
