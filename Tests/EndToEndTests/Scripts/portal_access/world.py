"""The records of the merchants, and every kind of caller."""
import base64
import hashlib
import re

from client import Caller, Client, open_link
from names import INTEGRATOR, OTHER, OWN, OWN_DOMAIN, OWN_NAME, OWN_NOTE, PARTNER
from results import Failed, wait_for


class World:
    """The records of the merchants, and the identifiers that the routes need."""

    def __init__(self, site):
        self.site = site
        site.start_gateway()
        site.start_shop()
        site.start_client_ca()
        site.start()
        self.client = Client(site)
        site.ctl("domain", "file", "--set", site.path("association"))
        site.ctl("merchant", "add", INTEGRATOR)
        site.ctl("merchant", "add", OWN, "--name", OWN_NAME)
        site.ctl("merchant", "add", OTHER, "--name", "Other")
        for merchant, name in [(OWN, "own"), (OTHER, "other")]:
            key = site.ctl("key", "generate", merchant, "--csr", site.path(f"{name}.csr"))["publicKeyHash"]
            site.apple("issue", "--csr", site.path(f"{name}.csr"), "--merchant", merchant, "--out", site.path(f"{name}.cer"))
            site.ctl("certificate", "upload", site.path(f"{name}.cer"))
            site.ctl("key", "promote", key)
            setattr(self, f"{name}_key", key)
        site.ctl("registration", "register", PARTNER, "--name", OWN_NAME, "--domain", OWN_DOMAIN, "--merchant", OWN)
        self.roll = site.ctl("roll", "start", OWN)["rollId"]
        self.certificate = open(site.path("own.cer"), "rb").read()
        self.own_csr = open(site.path("own.csr")).read()
        # A key pair and a roll that do not exist.
        self.missing_key = base64.b64encode(hashlib.sha256(b"no such key").digest()).decode()
        self.missing_roll = 987_654_321
        self.open_invitation = self.invitation()["invitationId"]
        # The path of an asset, which contains a digest of the file.
        self.asset = re.search(r'href="(/assets/[^"]+)"', self.client.send("GET", "/").text)[1]
        # The details of the refusals of invalid credentials.
        self.unauthorized = set()

    @staticmethod
    def spelled(key):
        return key.replace("+", "-").replace("/", "_").rstrip("=")

    def invitation(self, merchant=OWN):
        return self.site.ctl("invite", "create", merchant, "--note", OWN_NOTE if merchant == OWN else "other")

    def session(self, name, merchant=OWN):
        return open_link(self.client, name, self.invitation(merchant)["url"])

    def operator(self, name):
        return open_link(self.client, name, self.site.ctl("console")["url"])

    def new_link(self, kind):
        """The URL of a new invitation or login."""
        return (self.invitation() if kind == "invitation" else self.site.ctl("console"))["url"]

    def restart(self, callers):
        self.site.stop()
        self.site.start(callers)
        self.client = Client(self.site)

    def access(self, name, *options):
        return self.site.ctl("access", "create", name, *options)

    def machines(self):
        """The machine callers, by the name in the table."""
        site = self.site
        tokens = {
            "token for another merchant": self.access("other", "--permit", "onboard", "--merchant", OTHER)["token"],
            "expired token": self.access("expired", "--permit", "onboard", "--merchant", OWN, "--expires", "1s")["token"],
            "revoked token": self.access("revoked", "--permit", "onboard", "--merchant", OWN)["token"],
            "rotated-out token": self.access("rotated", "--permit", "onboard", "--merchant", OWN)["token"],
            "token with permit read": self.access("reads", "--permit", "read", "--merchant", OWN)["token"],
            "token with merchantSession":
                self.access("checkout", "--permit", "merchantSession", "--merchant", OWN)["token"],
            "token with onboard": self.access("one", "--permit", "onboard", "--merchant", OWN)["token"],
            "token with onboard for all merchants":
                self.access("all", "--permit", "onboard", "--all-merchants")["token"],
        }
        works = Caller("", tokens["rotated-out token"])
        path = f"/v1/merchants/{OWN}"
        for name in ["rotated-out token", "revoked token"]:
            if self.client.send("GET", path, Caller(name, tokens[name]).headers).status != 200:
                raise Failed(f"the {name} was never valid")
        site.ctl("access", "revoke", "revoked")
        # The newest token of an access works, and so does the one before during the overlap.
        second = site.ctl("access", "rotate", "rotated", "--overlap", "1h")["token"]
        if self.client.send("GET", path, works.headers).status != 200:
            raise Failed("the older token does not work during the overlap")
        tokens["rotated-in token"] = site.ctl("access", "rotate", "rotated", "--overlap", "0s")["token"]
        tokens["older rotated-out token"] = second
        expired = Caller("", tokens["expired token"])
        wait_for("the end of the expired token", lambda: self.client.send("GET", path, expired.headers).status == 401)
        self.access("certified", "--permit", "onboard", "--merchant", OWN, "--client-certificate", site.path("known.pem"))
        forged = list(tokens["token with onboard"])
        forged[20] = "a" if forged[20] != "a" else "b"
        callers = [Caller(name, token) for name, token in tokens.items()]
        callers += [Caller("no credentials"), Caller("forged token", "".join(forged)),
                    Caller("client certificate with access", certificate="known"),
                    Caller("client certificate without access", certificate="unknown")]
        return {caller.name: caller for caller in callers}

    def people(self):
        """The callers in a session."""
        callers = [self.session("invitation session"), self.session("invitation session of another merchant", OTHER)]
        invitation = self.invitation()
        revoked = open_link(self.client, "revoked invitation's session", invitation["url"])
        self.site.ctl("invite", "revoke", invitation["invitationId"])
        ended = self.session("session that signed out")
        if self.client.form("/sign-out", {}, ended).status != 200:
            raise Failed("signing out failed")
        callers += [revoked, ended]
        return {caller.name: caller for caller in callers}
