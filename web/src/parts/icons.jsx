// SPDX-License-Identifier: Apache-2.0
// Line icons of 20 units. Decoration only: the words stand beside them or in aria-label.
const PATHS = {
    runs: "M3 15l4-6 3.500 4L17 5M13 5h4v4",
    recipes: "M5 3h7l3 3v11H5zM12 3v3h3M8 10h5M8 13h5",
    system: "M3 5h14v4H3zM3 11h14v4H3zM6 7h.01M6 13h.01",
    sun: "M10 6.500a3.500 3.500 0 100 7 3.500 3.500 0 000-7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M15.700 4.300l-1.100 1.100M5.400 14.600l-1.100 1.100",
    moon: "M16.500 12A7 7 0 018 3.500 7 7 0 1016.500 12z",
    auto: "M10 3a7 7 0 100 14zM10 3a7 7 0 010 14",
    plus: "M10 4v12M4 10h12",
    pause: "M7 4v12M13 4v12",
    play: "M6 4l10 6-10 6z",
    stop: "M5 5h10v10H5z",
    close: "M5 5l10 10M15 5L5 15",
    search: "M9 4a5 5 0 100 10A5 5 0 009 4zM13 13l4 4",
    sliders: "M4 6h7M15 6h1M13 4v4M4 14h1M9 14h7M7 12v4",
    download: "M10 3v9M6 9l4 4 4-4M4 16h12",
    report: "M5 3h10v14H5zM8 12v2M10 9v5M12 11v3",
    columns: "M3 4h14v12H3zM8 4v12M12 4v12",
    more: "M5 10h.01M10 10h.01M15 10h.01",
    chevron: "M7 5l5 5-5 5",
    back: "M12 5l-5 5 5 5",
    copy: "M7 7h9v9H7zM4 13V4h9",
    trash: "M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11",
    edit: "M4 16l1-4 8-8 3 3-8 8z",
    link: "M8 12l4-4M7 9l-2 2a3 3 0 004 4l2-2M13 11l2-2a3 3 0 00-4-4L9 7",
    keys: "M3 5h14v10H3zM6 8h.01M9 8h.01M12 8h.01M14.500 8h.01M6 11h.01M8 12.500h5M14.500 11h.01",
    user: "M10 4a3 3 0 100 6 3 3 0 000-6zM4 17c.500-3.500 3-5 6-5s5.500 1.500 6 5",
    check: "M4 10l4 4 8-9",
    warn: "M10 3l8 14H2zM10 8v4M10 14.500h.01",
    retry: "M16 10a6 6 0 11-2-4.500L16 7M16 3v4h-4",
    clock: "M10 3a7 7 0 100 14 7 7 0 000-14zM10 6v4l3 2",
    up: "M10 16V4M5 9l5-5 5 5",
    tag: "M3 10V4h6l8 8-6 6zM6.500 7.500h.01",
}
export function Icon({ name, size = 18 }) {
    return <svg class="icon" width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.600" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d={PATHS[name]} /></svg>
}
export function Brand() {
    return <svg class="brand-mark" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" class="brand-back" />
        <g fill="none" class="brand-lines" stroke-width="2" stroke-linecap="round">
            <path d="M6 10c3.300 3.200 6.700 3.200 10 0s6.700-3.200 10 0" /><path d="M7.500 15.500c2.800 2.800 5.700 2.800 8.500 0s5.700-2.800 8.500 0" opacity=".8" /><path d="M10 21c2 2 4 2 6 0s4-2 6 0" opacity=".6" />
        </g>
    </svg>
}
