"""Whether the labels of a chart overlap each other, a bar or a line.

Without a browser, the width of a label is an estimate: more than that of most fonts.
"""

# The widths of a chart in pixels: on a screen of 320 pixels, and the smallest ones of screens that show every label.
NARROW, WIDE = 246, {"timeline": 560, "weeks": 686}
# The rules for narrow screens hide these classes.
HIDDEN = {"chart-minor", "chart-state"}
CHARACTER, ASCENT, DESCENT = 7.2, 12, 4


class Chart:
    def __init__(self):
        self.kind = None
        # Each shape: its tag, its attributes, and its texts with their classes.
        self.shapes, self.open = [], []

    def begin(self, tag, values):
        if tag == "svg":
            self.kind = values.get("class")
        if tag in ("text", "rect", "line"):
            self.shapes.append((tag, values, []))
        self.open.append((tag, set((values.get("class") or "").split())))

    def end(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def text(self, data):
        tags = [tag for tag, _ in self.open]
        if "text" in tags:
            classes = set().union(*(classes for _, classes in self.open))
            self.shapes[-1][2].append((classes, data))

    def overlaps(self):
        if self.kind not in WIDE:
            return []
        return [f"at a width of {width} px, {found}" for width, hidden in [(NARROW, HIDDEN), (WIDE[self.kind], set())]
                for found in self.overlaps_at(width, hidden)]

    def overlaps_at(self, width, hidden):
        boxes = [(tag, box, name) for tag, values, texts in self.shapes
                 for box, name in [self.box(tag, values, texts, width, hidden)] if box]
        for index, (tag, (left, top, right, bottom), name) in enumerate(boxes):
            if tag != "text":
                continue
            for other_index, (other, box, other_name) in enumerate(boxes):
                if other == "text" and other_index <= index:
                    continue
                if left < box[2] and box[0] < right and top < box[3] and box[1] < bottom:
                    yield f"{name} overlaps {other_name}"

    def box(self, tag, values, texts, width, hidden):
        """The left, top, right and bottom edges, and a name; None if the shape is hidden."""
        def position(name):
            value = values.get(name) or "0"
            return float(value[:-1]) * width / 100 if value.endswith("%") else float(value)

        if tag == "rect":
            x, y = position("x"), position("y")
            return (x, y, x + position("width"), y + position("height")), f"a bar at y = {y}"
        if tag == "line":
            x, y = position("x1"), position("y1")
            return (x - 1, y, max(position("x2"), x + 1), max(position("y2"), y + 1)), f"a line at x = {x:.0f}"
        name = "".join(data for classes, data in texts if not classes & hidden).strip()
        if not name:
            return None, name
        length = len(name) * CHARACTER
        shift = {"middle": 0.5, "end": 1}.get(values.get("text-anchor"), 0)
        x, y = position("x") - shift * length, position("y")
        return (x, y - ASCENT, x + length, y + DESCENT), repr(name)
