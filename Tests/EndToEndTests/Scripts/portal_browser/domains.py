"""The domains of a merchant."""
from visit import Visit

DOMAIN = "shop.example"


class Domains(Visit):
    def register(self):
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
