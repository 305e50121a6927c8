"""The operators' pages."""
from domains import DOMAIN
from visit import Visit


class Operators(Visit):
    def visit(self):
        login = self.ctl("console")["url"]
        self.browser.open(login)
        self.page("login")
        self.browser.submit("main form button")
        self.page("fleet")
        key = self.ctl("key", "list", self.options.merchant)["items"][0]["publicKeyHash"]
        self.browser.follow("nav a[href='/fleet/search']")
        self.page("search")
        for kind, query in {"identifier": self.options.merchant, "name": "Größe", "domain": DOMAIN, "key": key[:8],
                            "part": self.options.merchant[-6:].upper(), "none": "zzz-none"}.items():
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
        self.page("invitation-created")
        self.browser.driver.refresh()
        self.page("invitation-shown")
        self.browser.follow("main a[href='/fleet/invitations']")
        self.browser.follow("a[href$='/revoke']")
        self.page("invitation-revoke")
        self.browser.submit("main form button")
        self.page("invitation-revoked")
        self.browser.submit("form[action='/sign-out'] button")
        self.browser.open(login)
        self.page("login-used", status=404)
        self.browser.open(f"{self.portal}/fleet")
        self.page("operator-session-ended", status=401)
        self.report.consoleCommand = self.browser.texts("pre") == ["merchantkeyctl console"]
