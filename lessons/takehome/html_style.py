"""The style of the HTML page: light and dark, screen and paper, without anything from a network."""

from __future__ import annotations

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page tells the browser: no scripts, and nothing from anywhere else."""

STYLE = """
:root { color-scheme: light dark; --page: #fdfdfb; --ink: #22252a; --soft: #6a7077; --line: #d9dbd7; --box: #f3f3ef;
  --code: #1f5f8b; --mine: #2b7a46; --alarm: #b00020; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181c; --ink: #dfe2e6; --soft: #9aa1a9; --line: #3a3f46; --box: #1f2227; --code: #7cc0ee;
    --mine: #6fc98d; --alarm: #ff8a94; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 6rem; max-width: 56rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3.5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { margin-top: 2.25rem; }
a { color: var(--code); }
code, pre, table, .digits { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { color: var(--code); font-size: .92em; overflow-wrap: anywhere; }
pre { margin: .4rem 0 1rem; padding: .7rem .9rem; background: var(--box); border-left: 3px solid var(--line);
  overflow-x: auto; font-size: .86rem; line-height: 1.45; }
pre code { color: inherit; font-size: inherit; overflow-wrap: normal; }
pre.answer, pre.draft, pre.changes, .given { border-left: 3px solid var(--mine); }
pre.draft { border-left-style: dashed; }
.label { margin: 1rem 0 0; color: var(--soft); font-size: .92rem; }
.given { padding-left: .9rem; }
.soft { color: var(--soft); }
.alarm { color: var(--alarm); }
ol.options { list-style: none; padding-left: .5rem; }
figure { margin: 1rem 0 1.5rem; position: relative; }
figure > div { overflow-x: auto; margin: -3px; padding: 3px; }
figcaption { font-size: .9rem; color: var(--soft); }
figcaption b { color: var(--ink); }
table { border-collapse: separate; border-spacing: 2px; font-size: .84rem; margin: .3rem 0; }
th { font-weight: normal; color: var(--soft); padding: .1rem .45rem; text-align: right; white-space: nowrap; }
td { padding: 0; text-align: right; white-space: nowrap; border-radius: 3px; }
td > span, summary { padding: .15rem .5rem; display: block; }
td.bar { min-width: 12rem; text-align: left; }
td.bar i { display: block; height: .8rem; background: rgba(222,132,32,.7); border-radius: 2px; }
td summary { cursor: pointer; list-style: none; border-radius: 3px; }
td summary::-webkit-details-marker { display: none; }
td summary:hover, td summary:focus-visible, td details[open] > summary { outline: 2px solid var(--code); }
td .why { position: absolute; z-index: 2; left: 0; margin-top: 5px;
  width: max-content; max-width: min(34rem, 100%); padding: .6rem .8rem;
  text-align: left; white-space: normal; background: var(--page); border: 1px solid var(--line);
  border-radius: 5px; box-shadow: 0 4px 18px rgba(0,0,0,.25); }
td .why { scroll-margin: 40vh; }
.why a { white-space: nowrap; margin-right: .5em; }
.why div { margin: .15rem 0; overflow-wrap: anywhere; }
nav ol { padding-left: 0; list-style: none; columns: 2 18rem; }
@media (max-width: 40rem) { body { padding: 1rem .8rem 4rem; }
  table { font-size: .8rem; } td > span, summary { padding: .15rem .3rem; } th { padding: .1rem .25rem; } }
@media print {
  :root { --page: #fff; --ink: #000; --soft: #444; --line: #bbb; --box: #f6f6f6; --code: #123f5e; --mine: #2b7a46; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, td .why, .screen { display: none; }
  pre { white-space: pre-wrap; }
  pre, figure > div { overflow: visible; }
  pre, figure, tr { break-inside: avoid; }
  h2, h3, .label, figcaption { break-after: avoid; }
  td, td.bar i { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
