// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks"
import { session, setToken, signIn, TOKEN } from "../api.js"
import { socket } from "../live.js"
import { Button, Field } from "../parts/basic.jsx"
import { Brand } from "../parts/icons.jsx"
import { go, route } from "../router.js"

export function SignIn() {
    const [value, setValue] = useState(""), [device, setDevice] = useState(false), [busy, setBusy] = useState(false)
    const [error, setError] = useState(SignIn.why ? reason(SignIn.why) : "")
    const submit = async e => {
        e.preventDefault()
        const token = value.trim().replace(/^.*#token=/, "")
        if (!TOKEN.test(token)) return setError("A token begins with sn_ and has letters, digits, - and _ alone.")
        setBusy(true)
        setToken(token, device ? "device" : "tab")
        try {
            await signIn()
            SignIn.why = null
            socket.start()
            if (route.value.page === "signin") go("#/runs")
        } catch (e2) {
            setToken("")
            session.value = null
            setError(reason(e2))
        }
        setBusy(false)
    }
    return <main class="signin" id="main"><form onSubmit={submit} aria-labelledby="signin-title">
        <div class="signin-brand"><Brand /><span>seine</span></div>
        <h1 id="signin-title">Sign in</h1>
        <p class="muted">This console opens with a token. <code>seine serve</code> printed a link that carries one.</p>
        <Field label="Token or link" error={error}>{(id, hint) => <input id={id} name="token" type="password" autocomplete="off" spellcheck={false} autofocus required value={value} aria-describedby={hint} aria-invalid={error ? "true" : undefined} placeholder="sn_…" onInput={e => { setValue(e.currentTarget.value); setError("") }} />}</Field>
        <fieldset><legend>Keep it</legend>
            <label><input type="radio" name="keep" checked={!device} onChange={() => setDevice(false)} /> for this tab</label>
            <label><input type="radio" name="keep" checked={device} onChange={() => setDevice(true)} /> on this device</label></fieldset>
        <Button kind="primary" type="submit" busy={busy} disabled={!value.trim()} onClick={() => {}}>Sign in</Button>
        <details><summary>Where is the link?</summary><p>Ask for it again where the server runs:</p><pre>seine serve token</pre><p>Open the link it prints, or paste the token here.</p></details>
    </form></main>
}
function reason(e) {
    if (e.status === 401) return "This token is not known here, has expired or was revoked."
    if (e.status === 429) return "Too many wrong tokens. Wait a minute, then try again."
    return e.message + (e.hint ? ". " + e.hint : "")
}
