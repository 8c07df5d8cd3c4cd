"""One page of HTML with charts and tables: a single file that needs no network."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --faint: #6b7480; --grid: #e2e5e9; --ground: #fff;
  --good: #11723c; --bad: #b3261e;
  --c0: #1f6feb; --c1: #d9480f; --c2: #2b8a3e; --c3: #9c36b5; --c4: #b08800; --c5: #0b7285;
  --c6: #c2255c; --c7: #5f5f5f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --faint: #98a2ad; --grid: #31373e; --ground: #15181b;
    --good: #5fd38d; --bad: #ff8a80;
    --c0: #6cb2ff; --c1: #ff9f6b; --c2: #69db7c; --c3: #da9cf0; --c4: #f2cc60; --c5: #66d9e8;
    --c6: #faa2c1; --c7: #b5b5b5; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p.remark { color: var(--faint); max-width: 60rem; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; } .charts svg { flex: 1 1 32rem; max-width: 40rem; }
.wide { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--grid);
  vertical-align: top; }
th { color: var(--faint); font-weight: 600; } .met { color: var(--good); }
.missed { color: var(--bad); font-weight: 700; }
svg text { fill: var(--ink); font-size: 12px; } svg .title { font-size: 14px; font-weight: 600; }
svg .tick { fill: var(--faint); font-size: 11px; }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--grid); } svg .axis { stroke: var(--faint); }
svg .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
svg .dashed { stroke-dasharray: 6 5; } svg .dot { fill: currentColor; }
""" + "".join(f"svg .c{index} {{ color: var(--c{index}); }}\n" for index in range(8))

CLASSES = {"met": "met", "NOT MET": "missed"}


def table(heads, rows):
    """A table of texts. A verdict has its colour."""
    def cell(text):
        kind = CLASSES.get(text)
        return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"

    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>\n" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>\n{body}</table></div>'


def section(title, remark, charts=(), tables=()):
    """A part of the page."""
    shown = f'<div class="charts">{"".join(charts)}</div>' if charts else ""
    return (f"<h2>{escape(title)}</h2>\n<p class=\"remark\">{escape(remark)}</p>\n{shown}\n"
            + "\n".join(tables))


def page(title, remark, sections):
    """The whole file."""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>\n'
            f"<style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n"
            f'<p class="remark">{escape(remark)}</p>\n' + "\n".join(sections) + "\n</body></html>\n")


def write(path, title, remark, sections):
    """Writes the page."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(title, remark, sections))
