// SPDX-License-Identifier: Apache-2.0
// Light, dark or as the system has it; kept on this device.
import { signal } from "@preact/signals"

const KEY = "seine.theme"
const MODES = ["system", "light", "dark"]
function read(key) {
    try { return localStorage.getItem(key) } catch { return null }
}
function keep(key, value) {
    try { localStorage.setItem(key, value) } catch { /* a browser that stores nothing still shows the page */ }
}
export const theme = signal(MODES.includes(read(KEY)) ? read(KEY) : "system")
// Counts changes of the colours in force, so that charts draw again.
export const painted = signal(0)
export const keysOn = signal(read("seine.keys") !== "off")

export function setTheme(mode) {
    theme.value = mode
    keep(KEY, mode)
    apply()
}
export function setKeys(on) {
    keysOn.value = on
    keep("seine.keys", on ? "on" : "off")
}
export function nextTheme() {
    setTheme(MODES[(MODES.indexOf(theme.value) + 1) % MODES.length])
}
function apply() {
    if (theme.value === "system") document.documentElement.removeAttribute("data-theme")
    else document.documentElement.setAttribute("data-theme", theme.value)
    painted.value++
}
export function startTheme() {
    apply()
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { painted.value++ })
}
export function isDark() {
    return theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches)
}
// A colour of style.css as a string that a canvas takes.
export function colour(name) {
    const probe = document.createElement("i")
    probe.className = "colour-probe"
    probe.style.color = `var(--${name})`
    document.body.append(probe)
    const value = getComputedStyle(probe).color
    probe.remove()
    return value
}
