"""A visit to the portal: the programs behind it, and the pages that the browser shows."""
import json
import pathlib
import subprocess
import sys


class Visit:
    def __init__(self, options, browser, report):
        self.options, self.browser, self.report = options, browser, report
        self.work = pathlib.Path(options.work)
        self.texts = texts = json.loads(pathlib.Path(options.texts).read_text())
        self.step_names = {text: name for name, text in texts["stepName"].items()}
        self.problem_kinds = {text["title"]: kind for kind, text in texts["uploadProblem"].items()}
        self.titles = {text["title"]: f"{group}.{name}" for group in ("notice", "problem", "error", "invitationRefused")
                       for name, text in texts[group].items() if "title" in text}
        self.titles |= {texts[name]["title"]: name for name in ("signIn", "signedOut", "sessionEnded", "loginRefused")}
        created = texts["invitationCreated"]
        self.titles |= {created["title"]: "invitationCreated", created["shownTitle"]: "invitationCreated.shown"}
        self.portal = self.ctl("status")["portalURL"]

    # The programs

    def run(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
        return done.stdout

    def ctl(self, *arguments):
        return json.loads(self.run(f"{self.options.programs}/merchantkeyctl", "--socket", self.options.socket,
                                   "--output", "json", *arguments))

    def sandbox(self, *arguments):
        return self.run(f"{self.options.programs}/applepay-sandbox", *arguments, "--directory", self.options.apple)

    def sign(self, request, name, merchant=None, *arguments):
        """Lets the sandbox issue a certificate for a CSR, as Apple does."""
        certificate = self.work / name
        self.sandbox("issue", "--csr", str(request), "--merchant", merchant or self.options.merchant,
                     "--out", str(certificate), *arguments)
        return certificate

    def pay(self, certificate):
        """Decrypts a payment token for the certificate's key."""
        token = self.work / "token.json"
        self.sandbox("mint-token", "--certificate", str(certificate), "--out", str(token))
        self.ctl("token", "decrypt", str(token), "--merchant", self.options.merchant)

    # The pages

    def page(self, name, status=200):
        """Checks the page that the browser shows, which must have this status, and notes its title or notice."""
        title = self.browser.check(name, expected_status=status)
        self.report.pages.append(name)
        self.report.notices[name] = self.titles.get(title, title)

    def step(self):
        """The onboarding step that the overview shows as next; `complete` if all are done."""
        names = self.browser.texts(".step-next .step-name")
        return self.step_names[names[0]] if names else "complete"

    def overview(self, name, step):
        """Checks the overview, which must show this step as next."""
        self.browser.wait(lambda: self.step() == step, lambda: f"step {step} on the page {name}; it shows {self.step()}")
        self.page(name)
        self.report.steps.append(step)
