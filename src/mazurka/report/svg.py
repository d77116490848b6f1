"""Write drawings as SVG: shapes and texts on a page that suits light and dark surroundings.

All texts are escaped, and characters that XML does not allow are replaced.  Lengths are in pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

CHARACTER = 7.3
"""The width of a character of text; half-size for nothing narrower, double for wide ones."""
SMALL = 6.5
"""The same for small text."""

STYLE = """
  svg { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
  text { font-size: 12px; fill: #1f2328; white-space: pre; }
  .small { font-size: 10.7px; }
  .dim { fill: #6e7781; }
  .bold { font-weight: bold; }
  .bad { fill: #cf222e; }
  .good { fill: #1a7f37; }
  .read { fill: #0969da; }
  .write { fill: #9a6700; }
  .paper { fill: #ffffff; }
  .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1; }
  .object { fill: #fff8c5; stroke: #9a6700; stroke-width: 1; }
  .blocked { fill: #ffebe9; stroke: #cf222e; stroke-width: 1.5; }
  .life { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 2 3; }
  .rule { stroke: #d0d7de; stroke-width: 1; }
  .hold { fill: #d4a72c; fill-opacity: 0.75; }
  .dot { fill: #1f2328; }
  .dot.bad { fill: #cf222e; }
  .message { stroke: #0969da; stroke-width: 1.4; fill: none; }
  .unblocks { stroke: #8250df; stroke-width: 1.2; stroke-dasharray: 5 3; fill: none; }
  .wakes { stroke: #bf3989; stroke-width: 1.3; fill: none; }
  .starts { stroke: #1a7f37; stroke-width: 1.2; stroke-dasharray: 1 2; fill: none; }
  .waits { stroke: #cf222e; stroke-width: 1.5; fill: none; }
  .holds { stroke: #9a6700; stroke-width: 1.3; stroke-dasharray: 5 3; fill: none; }
  .message-head { fill: #0969da; } .unblocks-head { fill: #8250df; }
  .wakes-head { fill: #bf3989; } .starts-head { fill: #1a7f37; }
  .waits-head { fill: #cf222e; } .holds-head { fill: #9a6700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .dim { fill: #8d96a0; }
    .bad { fill: #ff7b72; } .good { fill: #56d364; }
    .read { fill: #79c0ff; } .write { fill: #e3b341; }
    .paper { fill: #0d1117; }
    .box { fill: #161b22; stroke: #8d96a0; }
    .object { fill: #272115; stroke: #bb8009; }
    .blocked { fill: #2d1214; stroke: #ff7b72; }
    .life { stroke: #6e7681; } .rule { stroke: #30363d; }
    .hold { fill: #bb8009; }
    .dot { fill: #e6edf3; } .dot.bad { fill: #ff7b72; }
    .message { stroke: #79c0ff; } .unblocks { stroke: #d2a8ff; } .starts { stroke: #56d364; }
    .waits { stroke: #ff7b72; } .holds { stroke: #e3b341; }
    .message-head { fill: #79c0ff; } .unblocks-head { fill: #d2a8ff; }
    .wakes { stroke: #f778ba; } .wakes-head { fill: #f778ba; }
    .starts-head { fill: #56d364; } .waits-head { fill: #ff7b72; } .holds-head { fill: #e3b341; }
  }
"""
HEADS = ("message", "unblocks", "wakes", "starts", "waits", "holds")


@dataclass
class Drawing:
    """A page that grows with what is drawn on it."""

    title: str
    mark: str
    """A word in the beginning of the file that tells where it comes from."""
    width: float = 0
    height: float = 0
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, style: str = "", *, anchor: str = "start"
    ) -> None:
        """Write a text whose baseline begins at a point; `anchor` may be `middle` or `end`."""
        shown = escape(text)
        classes = f' class="{style}"' if style else ""
        place = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{classes}{place}>{shown}</text>')
        size = text_width(text, "small" in style)
        self._reach(x + size / {"start": 1, "middle": 2, "end": 1e9}[anchor], y + 4)

    def label(self, x: float, y: float, text: str, style: str) -> None:
        """Write a text on a line: around a point, with paper behind it."""
        width = text_width(text, "small" in style)
        self.box(x - width / 2 - 2, y - 7, width + 4, 14, "paper")
        self.text(x, y + 4, text, style, anchor="middle")

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3"'
            f' class="{style}"/>'
        )
        self._reach(x + width, y + height)

    def dot(self, x: float, y: float, style: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" class="{style}"/>')

    def line(self, x: float, y: float, to_x: float, to_y: float, style: str) -> None:
        self.parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{style}"/>'
        )
        self._reach(max(x, to_x), max(y, to_y))

    def arrow(self, x: float, y: float, to_x: float, to_y: float, style: str) -> None:
        """Draw a line with a head; `style` is one of `HEADS`."""
        self.parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{style}"'
            f' marker-end="url(#{style})"/>'
        )

    def route(
        self, x: float, y: float, channel: float, to_x: float, to_y: float, style: str
    ) -> None:
        """Draw an arrow that goes across, then down at `channel`, then across."""
        path = f"M{x:.1f},{y:.1f} H{channel:.1f} V{to_y:.1f} H{to_x:.1f}"
        self.parts.append(f'<path d="{path}" class="{style}" marker-end="url(#{style})"/>')

    def _reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def finish(self, margin: float = 16) -> str:
        """Return the whole file."""
        width, height = self.width + margin, self.height + margin
        heads = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7"'
            f' markerHeight="7" orient="auto-start-reverse"><path d="M0,0.8 L8,4 L0,7.2 z"'
            f' class="{name}-head"/></marker>'
            for name in HEADS
        )
        return "\n".join(
            (
                '<?xml version="1.0" encoding="UTF-8"?>',
                f"<!-- {self.mark} -->",
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}"'
                f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{STYLE}</style>",
                f"<defs>{heads}</defs>",
                f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
                *self.parts,
                "</svg>",
                "",
            )
        )


def text_width(text: str, small: bool = False) -> float:
    return cell_len(text) * (SMALL if small else CHARACTER)


def fit(text: str, characters: int) -> str:
    """Cut a text to a width in characters."""
    if cell_len(text) <= characters:
        return text
    return set_cell_size(text, max(characters - 1, 0)).rstrip() + "…"


def escape(text: str) -> str:
    """Write a text as XML; what cannot be shown becomes a question mark."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
