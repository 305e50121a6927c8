"""Chromium, as the checks use it: by mouse or by keyboard alone, with JavaScript on or off.

check() is called on every page. It notes errors in the console, findings of axe, horizontal overflow, overlapping labels
of charts and requests to other servers, and stores a screenshot.
"""
import base64
import json
import os
import pathlib
import shutil
import time

import axe_core_python
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
# The longest wait, in seconds.
LIMIT = 30
# Labels of charts that overlap each other, a bar or a line.
OVERLAPS = """
    const found = [];
    for (const chart of document.querySelectorAll(".chart svg")) {
        const boxes = selector => [...chart.querySelectorAll(selector)].map(e => [e, e.getBoundingClientRect()]);
        const labels = boxes("text").filter(([, box]) => box.width > 0), frame = chart.getBoundingClientRect();
        labels.forEach(([label, a], index) => {
            if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push(label.textContent + " leaves the chart");
            for (const [other, b] of labels.slice(index + 1).concat(boxes("line, rect"))) {
                const isApart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
                if (!isApart) found.push(label.textContent + " overlaps " + (other.textContent || other.getAttribute("class")));
            }
        });
    }
    return found;
    """
# Headings that follow a number, and whose lines begin at different horizontal positions.
INDENTS = """
    return [...document.querySelectorAll(".numbered, .stages > li > h3")].filter(heading => {
        const range = document.createRange();
        range.selectNodeContents(heading.lastChild);
        const lefts = [...range.getClientRects()].map(box => box.left);
        return Math.max(...lefts) - Math.min(...lefts) > 8;
    }).map(heading => heading.textContent.trim());
    """


class Browser:
    def __init__(self, options, report):
        self.options, self.report = options, report
        self.work = pathlib.Path(options.work)
        self.downloads = self.work / "downloads"
        self.screenshots = pathlib.Path(options.screenshots)
        for directory in (self.downloads, self.screenshots):
            directory.mkdir(parents=True, exist_ok=True)
        self.portal = None
        self.presses = 0
        chrome = webdriver.ChromeOptions()
        chrome.binary_location = shutil.which("chromium")
        # Of the certificates that the system does not trust, accepts only the portal's.
        certificate = x509.load_pem_x509_certificate(pathlib.Path(options.site).read_bytes())
        digest = hashes.Hash(hashes.SHA256())
        digest.update(certificate.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
        for argument in ("--headless=new", "--disable-dev-shm-usage", "--force-prefers-reduced-motion",
                         f"--window-size={max(options.width, 600)},900", f"--user-data-dir={self.work}/profile",
                         f"--ignore-certificate-errors-spki-list={base64.b64encode(digest.finalize()).decode()}"):
            chrome.add_argument(argument)
        if os.geteuid() == 0:
            chrome.add_argument("--no-sandbox")
        chrome.add_experimental_option("prefs", {"download.default_directory": str(self.downloads)})
        chrome.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=chrome, service=Service(shutil.which("chromedriver")))
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": options.width, "height": 900, "deviceScaleFactor": 1, "mobile": options.width < 600})
        self.driver.execute_cdp_cmd("Page.setInterceptFileChooserDialog", {"enabled": options.input == "keyboard"})
        self.allow_scripts(options.scripts == "on")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def allow_scripts(self, allowed):
        """Does what the switch "Disable JavaScript" of the developer tools does."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not allowed})

    # Reading the page

    def wait(self, condition, expectation):
        """Waits until a condition holds. `expectation` says what the test waited for."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                if condition():
                    return
            except (StaleElementReferenceException, NoSuchElementException):
                pass
            if time.monotonic() > end:
                raise self.failure(f"not within {LIMIT} seconds: {expectation()}")
            time.sleep(0.02)

    def find(self, selector):
        """Waits for an element, which the page's script may still be loading, and returns the first."""
        self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector), lambda: f"no {selector}")
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def failure(self, problem):
        """An exception that says what the browser shows. A screenshot shows it too."""
        self.screenshot("failure", "light")
        return SystemExit(f"{problem}; {self.driver.current_url} shows {self.texts('.alert, .field-error, h1')}")

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText.trim())", selector)

    def text(self, selector):
        self.find(selector)
        return self.texts(selector)[0]

    def document(self):
        return self.driver.find_element(By.TAG_NAME, "html")

    # Acting on the page

    def open(self, url):
        self.driver.get(url)

    def press(self, selector):
        """Presses a button or follows a link."""
        if self.options.input == "mouse":
            self.find(selector).click()
            return
        element = self.focus(selector)
        self.presses += 1
        # Space presses buttons only; Enter presses buttons and follows links.
        key = Keys.SPACE if element.tag_name == "button" and self.presses % 2 else Keys.ENTER
        ActionChains(self.driver).send_keys(key).perform()

    def submit(self, selector):
        """Presses a button or follows a link, and waits for the next page."""
        document = self.document()
        self.press(selector)
        self.wait(lambda: self.document() != document and self.is_loaded(), lambda: f"a page after {selector}")

    follow = submit

    def is_loaded(self):
        return self.driver.execute_script("return document.readyState") == "complete"

    def focus(self, selector):
        """Moves the focus to an element with the Tab key."""
        target = self.find(selector)
        for _ in range(200):
            if self.driver.switch_to.active_element == target:
                outline = self.driver.execute_script(
                    "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, parseFloat(s.outlineWidth)]", target)
                if outline[0] == "none" or outline[1] < 2:
                    self.report.invisibleFocus.append(f"{self.driver.current_url} {selector}: {outline}")
                return target
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
        raise self.failure(f"the tabulator key does not reach {selector}")

    def fill(self, selector, text):
        if self.options.input == "mouse":
            field = self.find(selector)
            field.clear()
            field.send_keys(text)
        else:
            self.focus(selector)
            select_all = ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL)
            select_all.send_keys(text).perform()

    def choose_file(self, selector, file):
        if self.options.input == "mouse":
            self.find(selector).send_keys(str(file))
            return
        self.focus(selector)
        self.events()
        ActionChains(self.driver).send_keys(Keys.SPACE).perform()
        chooser = []

        def opened():
            chooser.extend(e["params"] for e in self.events() if e["method"] == "Page.fileChooserOpened")
            return chooser

        self.wait(opened, lambda: "a dialog that chooses a file, after the space key")
        self.driver.execute_cdp_cmd(
            "DOM.setFileInputFiles", {"files": [str(file)], "backendNodeId": chooser[0]["backendNodeId"]})

    def download(self, selector):
        """Follows a link that downloads a file, and returns the file when Chromium has written all of it.

        Chromium creates the file empty before it writes it, so an existing file may be incomplete.
        """
        earlier = set(self.downloads.iterdir())
        self.events()
        self.press(selector)
        states = []

        def completed():
            states.extend(e["params"]["state"] for e in self.events() if e["method"] == "Page.downloadProgress")
            return "completed" in states

        self.wait(completed, lambda: f"the download of {selector}; its states: {states}")
        [file] = set(self.downloads.iterdir()) - earlier
        return file

    def reload_until(self, condition):
        def reloaded():
            self.driver.refresh()
            return condition()

        self.wait(reloaded, lambda: "a change of the page after it was loaded again")

    # Checking the page

    def check(self, name, expected_status):
        """Notes the problems of the page. Returns the title of its notice, or without a notice its heading."""
        self.wait(self.is_loaded, lambda: f"the page {name}")
        status = self.driver.execute_script("return performance.getEntriesByType('navigation')[0].responseStatus")
        has_script = "js" in (self.document().get_attribute("class") or "").split()
        if has_script != (self.options.scripts == "on"):
            raise SystemExit(f"the script of the page {name} did {'' if has_script else 'not '}run")
        if status != expected_status:
            raise self.failure(f"the page {name} has the status {status}, not {expected_status}")
        self.note_console(name, expected_status)
        self.events()
        width = self.driver.execute_script("return document.documentElement.scrollWidth")
        if width > self.options.width:
            self.report.overflow.append(f"{name}: {width}")
        self.report.indents += [f"{name}: {heading}" for heading in self.driver.execute_script(INDENTS)]
        for scheme in ("light", "dark") if self.options.dark else ("light",):
            self.driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.report.overlaps += [f"{name}, {scheme}: {overlap}" for overlap in self.driver.execute_script(OVERLAPS)]
            for finding in self.accessibility():
                self.report.accessibility.append(f"{name}, {scheme}: {finding}")
            self.screenshot(name, scheme)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        notices = self.texts(".alert-title") or self.texts("h1")
        return notices[0]

    def note_console(self, name, expected_status):
        """Notes unexpected messages of the console, such as a violation of the Content-Security-Policy."""
        for entry in self.driver.get_log("browser"):
            # Chromium reports each page with an error status.
            is_expected = (expected_status >= 400 and entry["source"] == "network"
                           and f"status of {expected_status} " in entry["message"]
                           and entry["message"].startswith(self.driver.current_url))
            if not is_expected:
                self.report.console.append(f"{name}: {entry['level']} {entry['message']}")

    def forget_console(self):
        self.driver.get_log("browser")

    def events(self):
        """Events of the browser since the last call. Notes requests to other servers."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        for event in events:
            if event["method"] == "Network.requestWillBeSent" and self.portal:
                url = event["params"]["request"]["url"]
                # The page that Chromium opens first consists of chrome: and data: URLs.
                if url.startswith(("http", "ws")) and not url.startswith(self.portal + "/"):
                    self.report.foreignRequests.append(url)
        return events

    def accessibility(self):
        """Findings of axe that are serious or critical."""
        self.allow_scripts(True)
        self.driver.execute_script(f"if (!window.axe) {{ {AXE} }}")
        result = self.driver.execute_async_script("""
            const done = arguments[0];
            axe.run(document, { resultTypes: ["violations"] }).then(done, error => done({ error: String(error) }));
            """)
        self.allow_scripts(self.options.scripts == "on")
        if "violations" not in result:
            raise SystemExit(f"axe failed: {result}")
        return [" ".join([found["id"], *(node["html"][:200] for node in found["nodes"][:3])])
                for found in result["violations"] if found["impact"] in ("serious", "critical")]

    def screenshot(self, name, scheme):
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": max(size["width"], self.options.width), "height": size["height"], "scale": 1}
        image = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip})["data"]
        number = len(self.report.pages) + 1
        (self.screenshots / f"{number:02}-{name}-{scheme}.png").write_bytes(base64.b64decode(image))

    def control(self):
        """Violates two rules on purpose, to show that the checks would report them."""
        self.driver.execute_script("""
            document.body.setAttribute("style", "color: red");
            const image = document.createElement("img");
            image.src = "/favicon.ico";
            document.querySelector("main").append(image);
            """)
        reported = []

        def has_violation():
            reported.extend(e for e in self.driver.get_log("browser") if "Content Security Policy" in e["message"])
            return reported

        self.wait(has_violation, lambda: "the console's report of a violated Content-Security-Policy")
        return {"policyViolations": len(reported), "accessibility": [finding.split()[0] for finding in self.accessibility()]}
