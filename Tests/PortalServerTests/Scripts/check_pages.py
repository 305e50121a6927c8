"""Checks pages without a browser: that the HTML is well-formed, what accessibility and the Content-Security-Policy
require of every page, and that the labels of charts overlap nothing.

Reads a JSON object of pages by name from standard input. Prints each problem, and exits with status 1 if there is one.
"""
import collections
import html.parser
import json
import re
import sys

import charts

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
NAMED = {"a", "button", "h1", "h2", "h3", "label", "legend", "option", "summary", "th", "title"}
REFERENCES = ("aria-labelledby", "aria-describedby", "for")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.problems = []
        self.open = []
        self.ids = collections.Counter()
        self.references = []
        self.headings = []
        self.controls = []
        self.labels = set()
        self.forms = []
        self.focused = 0
        self.texts = []
        self.chart = None

    def problem(self, text):
        self.problems.append(f"line {self.getpos()[0]}: {text}")

    def handle_startendtag(self, tag, attributes):
        if not any(name == "svg" for name, _ in self.open):
            self.problem(f"<{tag}/> outside of SVG")
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        for name in {name for name in names if names.count(name) > 1}:
            self.problem(f"<{tag}> has two attributes {name}")
        values = dict(attributes)
        self.check_policy(tag, values)
        if "id" in values:
            self.ids[values["id"]] += 1
            if not re.fullmatch(r"[A-Za-z][\w-]*", values["id"] or ""):
                self.problem(f"the id {values['id']!r} is not valid")
        for name in REFERENCES:
            for target in (values.get(name) or "").split():
                self.references.append((self.getpos()[0], name, target))
        if "autofocus" in values:
            self.focused += 1
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))
        if tag == "img" and "alt" not in values:
            self.problem("<img> without alt")
        if tag == "html" and not values.get("lang"):
            self.problem("<html> without lang")
        if tag == "a" and not values.get("href"):
            self.problem("<a> without href")
        if tag == "a" and values.get("target") == "_blank" and "noopener" not in (values.get("rel") or ""):
            self.problem("a link opens a tab without noopener")
        if tag == "svg" and values.get("role") == "img" and not values.get("aria-labelledby"):
            self.problem("a picture without a text alternative")
        if tag == "label":
            self.labels.add(values.get("for"))
        self.check_form(tag, values)
        if tag == "svg":
            self.chart = charts.Chart()
        if self.chart:
            self.chart.begin(tag, values)
        if tag not in VOID:
            self.open.append((tag, []))

    def check_policy(self, tag, values):
        if tag == "style" or "style" in values:
            self.problem(f"<{tag}> has a style of its own")
        if tag == "script" and not values.get("src"):
            self.problem("a script in the page")
        for name in values:
            if name.startswith("on"):
                self.problem(f"<{tag}> has the event handler {name}")
        for name in ("href", "src", "action", "formaction"):
            if (values.get(name) or "").lower().startswith(("javascript:", "data:")):
                self.problem(f"<{tag}> has the address {values[name]!r}")
            if name in ("src", "action", "formaction") and "//" in (values.get(name) or ""):
                self.problem(f"<{tag}> names another server: {values[name]!r}")

    def check_form(self, tag, values):
        if tag == "form":
            self.forms.append({"line": self.getpos()[0], "method": values.get("method"), "fields": []})
        if tag not in ("input", "select", "textarea"):
            return
        if self.forms and any(name == "form" for name, _ in self.open):
            self.forms[-1]["fields"].append(values.get("name"))
        if values.get("type") not in ("hidden", "submit"):
            self.controls.append((self.getpos()[0], values.get("id")))

    def handle_endtag(self, tag):
        if tag in VOID:
            self.problem(f"</{tag}>")
            return
        if not self.open or self.open[-1][0] != tag:
            self.problem(f"</{tag}> closes {self.open[-1][0] if self.open else 'nothing'}")
            return
        if self.chart:
            self.chart.end(tag)
        if tag == "svg" and self.chart:
            for problem in self.chart.overlaps():
                self.problem(problem)
            self.chart = None
        name, texts = self.open.pop()
        text = "".join(texts).strip()
        if name in NAMED and not text:
            self.problem(f"<{name}> without a text")
        if self.open:
            self.open[-1][1].append(text)

    def handle_data(self, data):
        self.texts.append(data)
        if self.chart:
            self.chart.text(data)
        if self.open:
            self.open[-1][1].append(data)

    def finish(self):
        for name, _ in self.open:
            self.problem(f"<{name}> is not closed")
        for name, count in self.ids.items():
            if count > 1:
                self.problem(f"{count} elements have the id {name!r}")
        for line, name, target in self.references:
            if target not in self.ids:
                self.problem(f"{name} in line {line} names {target!r}, which does not exist")
        for line, name in self.controls:
            if name not in self.labels:
                self.problem(f"the control in line {line} has no label")
        if self.headings.count(1) != 1:
            self.problem(f"{self.headings.count(1)} headings of level 1")
        for before, after in zip([0] + self.headings, self.headings):
            if after > before + 1:
                self.problem(f"a heading of level {after} follows one of level {before}")
        if self.focused > 1:
            self.problem(f"{self.focused} elements take the focus")
        for form in self.forms:
            if form["method"] == "post" and form["fields"][:2] != ["csrf", "idempotencyKey"]:
                self.problem(f"the form in line {form['line']} does not begin with csrf and idempotencyKey")
        for target in ("main", "live"):
            if target not in self.ids:
                self.problem(f"there is no element {target!r}")


def main():
    failed = False
    for name, text in json.load(sys.stdin).items():
        page = Page()
        page.feed(text)
        page.close()
        page.finish()
        if not text.startswith("<!doctype html>"):
            page.problem("no doctype")
        for problem in page.problems:
            failed = True
            print(f"{name}: {problem}")
    sys.exit(1 if failed else 0)


main()
