"""A merchant's visits: from the invitation to the reserve key, and the end of the sessions."""
from uploads import upload_wrong_files
from visit import Visit


class Onboarding(Visit):
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

    def first_key(self):
        self.generate_key_pair()
        request = self.download_request()
        certificate = self.sign(request, "first.cer")
        upload_wrong_files(self, request)
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

    def reserve(self):
        """After a roll, the daemon prepares the next key pair. The overview asks for its certificate."""
        self.browser.follow("nav a[href='/']")
        self.page("home-reserve")
        self.report.reserve.append(self.browser.text("#now-heading"))
        self.upload(self.sign(self.download_request(), "reserve.cer"))
        self.overview("home-reserve-stored", "complete")
        self.report.reserve.append(self.browser.text("#now-heading"))

    def sign_out(self, invitation):
        self.browser.open(invitation["url"])
        self.page("invitation-used", status=410)
        self.browser.open(self.portal + "/no-such-page")
        self.page("not-found", status=404)
        self.browser.follow("main a")
        self.browser.submit("form[action='/sign-out'] button")
        self.page("signed-out")

    def ended_session(self):
        """The admin ends a session while the overview is open in the browser."""
        invitation = self.ctl("invite", "create", self.options.merchant)
        self.browser.open(invitation["url"])
        self.browser.submit("main form button")
        self.ctl("invite", "revoke", invitation["invitationId"])
        if self.options.scripts == "on":
            # The script asks for the state, and gets the status 401.
            note = "#live-note:not([hidden]) p"
            self.browser.wait(lambda: self.browser.texts(note), lambda: "the note that the session has ended")
            self.report.liveEnd = self.browser.text(note) == self.texts["home"]["sessionEnded"]
            self.browser.forget_console()
        self.browser.follow("nav a[href='/merchant/domains']")
        self.page("session-ended", status=401)
