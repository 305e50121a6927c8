"""A merchant's onboarding and the operators' pages of the portal, in a real browser.

usage: portal_browser.py --programs DIR --socket PATH --apple DIR --site CERTIFICATE --work DIR --texts FILE --screenshots DIR
                         [--width PIXELS] [--scripts on|off] [--input mouse|keyboard] [--dark] --merchant ID

The daemon, the sandbox's gateway and the web site shop.example run already. PATH is the admin socket, --apple the sandbox's
directory, --site the portal's TLS certificate, and --texts the file texts.json of the pages.
Ends with status 1 and a message if the browser cannot go on. Prints one JSON object with what it found; the keys of the
object are the attributes of Report.
"""
import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12

import portal_pages

DOMAIN = "shop.example"


@dataclasses.dataclass
class Report:
    pages: list = dataclasses.field(default_factory=list)
    # The onboarding step that was next, in the order in which the overview showed it.
    steps: list = dataclasses.field(default_factory=list)
    # The problem that the overview showed for each file that is not the right certificate.
    uploads: dict = dataclasses.field(default_factory=dict)
    # The name of each CSR on the page, and the name of the file.
    requestNames: list = dataclasses.field(default_factory=list)
    # The titles of notices and problems, by page.
    notices: dict = dataclasses.field(default_factory=dict)
    # Whether the page showed the first payment without being loaded again.
    liveUpdate: bool = False
    domains: list = dataclasses.field(default_factory=list)
    searches: dict = dataclasses.field(default_factory=dict)
    console: list = dataclasses.field(default_factory=list)
    accessibility: list = dataclasses.field(default_factory=list)
    # Pages wider than the window.
    overflow: list = dataclasses.field(default_factory=list)
    # Requests to other servers than the portal.
    foreignRequests: list = dataclasses.field(default_factory=list)
    # Elements that had the keyboard's focus without a visible outline.
    invisibleFocus: list = dataclasses.field(default_factory=list)
    # What the checks find on a page that violates them on purpose.
    control: dict = dataclasses.field(default_factory=dict)


class Onboarding:
    def __init__(self, options, browser, report):
        self.options, self.browser, self.report = options, browser, report
        self.work = pathlib.Path(options.work)
        texts = json.loads(pathlib.Path(options.texts).read_text())
        self.step_names = {text: name for name, text in texts["stepName"].items()}
        self.problem_kinds = {text["title"]: kind for kind, text in texts["uploadProblem"].items()}
        self.titles = {text["title"]: f"{group}.{name}" for group in ("notice", "problem", "error", "invitationRefused")
                       for name, text in texts[group].items() if "title" in text}
        self.titles |= {texts[name]["title"]: name for name in ("signIn", "signedOut", "sessionEnded", "loginRefused")}
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

    def sign_in(self):
        invitation = self.ctl("invite", "create", self.options.merchant, "--note", "Jo, web team")
        self.browser.open(self.portal + "/")
        self.page("sign-in")
        self.browser.open(invitation["url"])
        self.page("invitation")
        self.browser.submit("main form button")
        return invitation

    def generate_key_pair(self):
        self.overview("home-key-pair", "keyPair")
        self.browser.submit("form[action='/merchant/keys'] button")
        self.overview("home-certificate", "appleCertificate")

    def download_request(self):
        shown = self.browser.find("a[href$='/csr']").get_attribute("download")
        file = self.browser.download("a[href$='/csr']")
        self.report.requestNames.append([shown, file.name])
        return file

    def upload(self, file):
        self.browser.choose_file("#certificate", file)
        self.browser.submit("form[action='/merchant/certificates'] button")

    def upload_problem(self):
        """The kind of the problem that the overview shows; its title if no upload problem has this title."""
        title = self.browser.text(".alert .alert-title")
        return self.problem_kinds.get(title, title)

    def wrong_files(self, request):
        """Uploads files that people take for the certificate."""
        key = ec.generate_private_key(ec.SECP256R1())
        plain = serialization.NoEncryption()
        other_request = self.work / "other.csr"
        other = "merchant.com.example.other"
        builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
        other_request.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        foreign = self.sign(other_request, "other.cer", other)
        certificate = x509.load_der_x509_certificate(foreign.read_bytes())
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        issuer = (pathlib.Path(self.options.apple) / "processing-issuer.pem").read_bytes()
        files = {
            "page.cer": b"<!DOCTYPE html>\n<html><head><title>Sign In - Apple</title></head><body></body></html>\n",
            "store.p12": pkcs12.serialize_key_and_certificates(
                b"key", key, certificate, None, serialization.BestAvailableEncryption(b"secret")),
            "key.pem": key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
            "bundle.p7b": pkcs7.serialize_certificates([certificate], serialization.Encoding.DER),
            "request.csr": request.read_bytes(),
            "empty.cer": b"",
            "chain.pem": pem + issuer,
            "letter.pdf": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
            "cut.cer": foreign.read_bytes()[:-100],
            "other-merchant.cer": foreign.read_bytes(),
            "other-key.cer": self.sign(other_request, "other-key.cer").read_bytes(),
            "identity.cer": self.identity_certificate().read_bytes(),
            "expired.cer": self.sign(request, "expired.cer", None, "--not-before", "2023-01-01T00:00:00Z",
                                     "--not-after", "2025-01-01T00:00:00Z").read_bytes(),
        }
        for name, content in files.items():
            file = self.work / "uploads" / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)
            self.upload(file)
            self.page(f"upload-{name}", status=422)
            self.report.uploads[name] = self.upload_problem()
        large = self.work / "uploads" / "large.cer"
        large.write_bytes(bytes(70_000))
        if self.options.scripts == "on":
            # The script refuses the file before it is sent.
            self.browser.choose_file("#certificate", large)
            self.browser.press("form[action='/merchant/certificates'] button")
            self.browser.wait(lambda: self.browser.texts(".drop-wrong"), lambda: "the script's message for a large file")
            self.report.uploads["large.cer"] = "tooLarge" if "too large" in self.browser.text(".drop-wrong") else "other"
        else:
            self.upload(large)
            self.page("upload-large.cer", status=413)
            self.report.uploads["large.cer"] = self.upload_problem()
        self.browser.open(self.portal + "/")

    def identity_certificate(self):
        """A certificate of Apple's other kind, for a key that the merchant generated."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        request = self.work / "identity.csr"
        builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
        request.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return self.sign(request, "identity.cer", None, "--purpose", "identity")

    def first_key(self):
        self.generate_key_pair()
        request = self.download_request()
        certificate = self.sign(request, "first.cer")
        self.wrong_files(request)
        self.upload(certificate)
        self.overview("home-activation", "activation")
        document = self.browser.document()
        self.pay(certificate)
        if self.options.scripts == "on":
            self.browser.wait(lambda: self.step() != "activation", lambda: "an update of the page after the first payment")
            self.report.liveUpdate = self.browser.document() == document
        else:
            self.browser.reload_until(lambda: self.step() != "activation")
        self.overview("home-first-payment", "complete")
        self.browser.follow("nav a[href='/merchant/keys']")
        self.page("keys")
        self.browser.open(self.portal + "/")
        return certificate

    def roll(self, first):
        self.browser.follow("a[href='/merchant/roll']")
        self.page("roll")
        self.browser.submit("form[action='/merchant/roll'] button")
        self.overview("home-roll-certificate", "appleCertificate")
        certificate = self.sign(self.download_request(), "second.cer")
        self.upload(certificate)
        self.overview("home-roll-activation", "activation")
        self.pay(first)
        self.pay(certificate)
        self.browser.reload_until(lambda: self.step() == "done")
        self.overview("home-roll-payment", "done")
        self.ctl("roll", "finish", self.options.merchant, "--yes")
        self.browser.reload_until(lambda: self.step() == "complete")
        self.overview("home-roll-done", "complete")
        self.browser.follow("nav a[href='/merchant/keys']")
        self.page("keys-rolled")

    def domains(self):
        self.browser.follow("nav a[href='/merchant/domains']")
        self.page("domains")
        downloaded = self.browser.download("a[href='/merchant/domains/file']")
        self.report.domains.append(["file", downloaded.read_text()])
        self.check_domain("https://shop", "domain-invalid", 422)
        self.check_domain("missing.invalid", "domain-check-failed")
        self.check_domain(DOMAIN, "domain-check-passed")
        self.browser.fill("#shop", "Größe & Söhne")
        self.browser.submit("button[formaction='/merchant/domains']")
        self.page("domain-registered")
        self.note_domains("registered")
        self.browser.submit("td form[action='/merchant/domains/unregister'] button")
        self.page("domain-unregister")
        self.browser.submit("main form[method=post] button")
        self.page("domain-unregistered")
        self.note_domains("unregistered")
        self.browser.fill("#domain", DOMAIN)
        if self.browser.texts("#shop"):
            self.browser.fill("#shop", "Größe & Söhne")
        self.browser.submit("button[formaction='/merchant/domains']")
        self.page("domain-registered-again")
        self.note_domains("registered again")

    def check_domain(self, domain, name, status=200):
        self.browser.fill("#domain", domain)
        self.browser.submit("form[action='/merchant/domains/check'] button:not([formaction])")
        self.page(name, status)

    def note_domains(self, what):
        self.report.domains.append([what, *self.browser.texts(".rows tbody th")])

    def sign_out(self, invitation):
        self.browser.open(invitation["url"])
        self.page("invitation-used", status=410)
        self.browser.open(self.portal + "/no-such-page")
        self.page("not-found", status=404)
        self.browser.follow("main a")
        self.browser.submit("form[action='/sign-out'] button")
        self.page("signed-out")

    def ended_session(self):
        """The admin ends a session while its user chooses a file."""
        invitation = self.ctl("invite", "create", self.options.merchant)
        self.browser.open(invitation["url"])
        self.browser.submit("main form button")
        self.browser.follow("nav a[href='/merchant/keys']")
        self.ctl("invite", "revoke", invitation["invitationId"])
        self.browser.follow("nav a[href='/merchant/domains']")
        self.page("session-ended", status=401)

    def operators(self):
        login = self.ctl("console")["url"]
        self.browser.open(login)
        self.page("login")
        self.browser.submit("main form button")
        self.page("fleet")
        key = self.ctl("key", "list", self.options.merchant)["items"][0]["publicKeyHash"]
        self.browser.follow("nav a[href='/fleet/search']")
        self.page("search")
        for kind, query in {"identifier": self.options.merchant, "name": "Größe", "domain": DOMAIN, "key": key[:8],
                            "none": "zzz-none"}.items():
            self.browser.fill("#q", query)
            self.browser.submit("form[role=search] button")
            self.page(f"search-{kind}")
            self.report.searches[kind] = self.browser.texts(".rows tbody th")
        self.browser.open(f"{self.portal}/fleet/merchants/{self.options.merchant}")
        self.page("fleet-merchant")
        self.browser.follow("nav a[href='/fleet/invitations']")
        self.page("invitations")
        self.browser.follow("a[href='/fleet/invitations/new']")
        self.page("invitation-new")
        self.browser.fill("#merchant", "merchant.com.example.unknown")
        self.browser.submit("main form button")
        self.page("invitation-new-refused", status=422)
        self.browser.fill("#merchant", self.options.merchant)
        self.browser.fill("#note", "Sam, shop")
        self.browser.submit("main form button")
        self.page("invitation-created", status=201)
        self.browser.follow("main a[href='/fleet/invitations']")
        self.browser.follow("a[href$='/revoke']")
        self.page("invitation-revoke")
        self.browser.submit("main form button")
        self.page("invitation-revoked")
        self.browser.submit("form[action='/sign-out'] button")
        self.browser.open(login)
        self.page("login-used", status=404)


def main():
    parser = argparse.ArgumentParser()
    for name in ("programs", "socket", "apple", "site", "work", "texts", "screenshots", "merchant"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--scripts", choices=["on", "off"], default="on")
    parser.add_argument("--input", choices=["mouse", "keyboard"], default="mouse")
    parser.add_argument("--dark", action="store_true", help="check every page in the dark scheme too")
    options = parser.parse_args()
    report = Report()
    with portal_pages.Browser(options, report) as browser:
        onboarding = Onboarding(options, browser, report)
        browser.portal = onboarding.portal
        onboarding.ctl("merchant", "add", options.merchant, "--name", "Größe & Söhne")
        invitation = onboarding.sign_in()
        first = onboarding.first_key()
        onboarding.roll(first)
        onboarding.domains()
        onboarding.sign_out(invitation)
        onboarding.ended_session()
        onboarding.operators()
        report.control = browser.control()
    print(json.dumps(dataclasses.asdict(report)))


if __name__ == "__main__":
    main()
