#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: every drawing in docs has an opaque background of its own, so that its words can be read on a light page
and on a dark one, and fetches nothing.

The background is the first thing that is drawn, a rectangle or path over the whole viewBox. Colours that follow
`prefers-color-scheme` must change the background, too.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

import tree

SVG = "{http://www.w3.org/2000/svg}"
NOT_DRAWN = {SVG + name for name in ("title", "desc", "style", "defs", "metadata")}
SHAPES = {SVG + "rect", SVG + "path"}
COLOUR = re.compile(r"fill:\s*(#[0-9a-fA-F]{3,6}|white)\b")
SLACK = 0.99  # of the width and of the height: a frame may lie half a pixel inside


def first_drawn(element):
    """The first shape in the order of drawing, or None."""
    for child in element:
        if child.tag == SVG + "g":
            found = first_drawn(child)
            if found is not None:
                return found
        elif isinstance(child.tag, str) and child.tag not in NOT_DRAWN:
            return child
    return None


def size_of(shape):
    """Width and height of a rectangle, or of the box around the points of a path."""
    if shape.tag == SVG + "rect":
        return float(shape.get("width", 0)), float(shape.get("height", 0))
    numbers = [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", shape.get("d", ""))]
    across, down = numbers[0::2], numbers[1::2]
    return (max(across) - min(across), max(down) - min(down)) if down else (0, 0)


def fill_of(shape, style):
    """The colour of a shape: its own, or that of its class in the style sheet."""
    own = COLOUR.search(f"fill: {shape.get('fill')}; {shape.get('style', '')}")
    if own:
        return own.group(1)
    rule = re.search(rf"\.{re.escape(shape.get('class', '-'))}\s*{{([^}}]*)}}", style)
    named = rule and COLOUR.search(rule.group(1))
    return named.group(1) if named else None


def judge(text):
    """The rules that one drawing breaks."""
    root = ElementTree.fromstring(text)
    style = "\n".join(element.text or "" for element in root.iter(SVG + "style"))
    width, height = [float(word) for word in root.get("viewBox", "0 0 0 0").split()][2:]
    shape = first_drawn(root)
    if shape is None or shape.tag not in SHAPES or width == 0:
        yield "the first thing drawn is no background"
        return
    across, down = size_of(shape)
    colour = fill_of(shape, style)
    if across < SLACK * width or down < SLACK * height:
        yield "the background does not reach over the whole viewBox"
    if colour is None or re.search(r"opacity", f"{shape.get('style', '')}{shape.attrib.keys()}"):
        yield "the background is not opaque"
    elif "prefers-color-scheme" in style and colour not in style[style.index("prefers-color-scheme"):]:
        yield "colours follow the theme, but not the background"
    if re.search(r"(?:href|src)=\"(?!#)|url\((?!#)|@import", text):
        yield "something is fetched from elsewhere"


def check(root):
    found = tree.files(root / "docs", ".svg")
    return [(tree.relative(path, root), rule) for path in found for rule in judge(path.read_text(encoding="utf-8"))]


def drawing(inside):
    return {"docs/a.svg": f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">{inside}</svg>'}


WHOLE = '<rect width="100" height="50" fill="#ffffff"/>'
CASES = [
    ("a background", drawing(WHOLE + "<text>a</text>"), None),
    ("one by class", drawing('<style>.card { fill: #fff; }</style><rect class="card" width="99.5" height="49.5"/>'), None),
    ("a path of one colour", drawing('<g><path d="M 0 50 L 100 50 L 100 0 L 0 0 z" style="fill: #fefefe"/></g>'), None),
    ("words alone", drawing("<text>a</text>"), "is no background"),
    ("words below it", drawing("<text>a</text>" + WHOLE), "is no background"),
    ("a small one", drawing('<rect width="50" height="50" fill="#ffffff"/>'), "does not reach"),
    ("no colour", drawing('<rect width="100" height="50" fill="none"/>'), "is not opaque"),
    ("half a colour", drawing('<rect width="100" height="50" fill="#ffffff" opacity="0.5"/>'), "is not opaque"),
    ("light behind dark", drawing("<style>@media (prefers-color-scheme: dark) { text { fill: #eee } }</style>" + WHOLE),
     "but not the background"),
    ("a font of somebody", drawing("<style>@import 'https://a.example/f.css';</style>" + WHOLE), "is fetched"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
