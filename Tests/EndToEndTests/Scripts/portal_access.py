"""Checks who gets in at the portal: every route with every kind of caller, over TLS, against the real daemon.

usage: portal_access.py CHECK PROGRAMS DIRECTORY REPOSITORY [REQUESTS]
CHECK is one of routes, operators, others, random, forms, once and login. PROGRAMS contains merchantkeyd, merchantkeyctl
and applepay-sandbox. DIRECTORY is empty; the script starts the daemon in it and stops the daemon at its end. REPOSITORY
contains the sources and the OpenAPI document, from which the script reads which routes there are. REQUESTS is the number
of requests of the check 'random'.
Prints one JSON object: how many cases were checked, and each case that failed. Exits with 1 if a case failed.
"""
import base64
import collections
import glob
import hashlib
import hmac
import html
import http.client
import json
import os
import random
import re
import secrets
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

COOKIE = "__Host-merchantkeyd"
OWN, OTHER, MISSING = "merchant.com.example.own", "merchant.com.example.other", "merchant.com.example.missing"
INTEGRATOR = "platformintegrator.com.example"
PARTNER, MISSING_PARTNER = "own-shop", "gone-shop"
# Texts that only responses to callers of the own merchant may contain.
OWN_NAME, OWN_DOMAIN, OWN_NOTE = "Zephyr Quill Outfitters", "quill.zephyr.example", "Vermilion Okapi"
FORM, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"


class Failed(Exception):
    """The test cannot continue, for example because the daemon does not start."""


class Results:
    def __init__(self):
        self.cases, self.failures, self.notes = 0, [], {}
        self.lock = threading.Lock()

    def expect(self, holds, case, found=""):
        with self.lock:
            self.cases += 1
            if not holds:
                self.failures.append(f"{case}: {found}" if found != "" else case)
        return holds


def wait_for(what, condition, seconds=20):
    """Returns the first true value of the condition."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


def random_address():
    """Addresses of 10.0.0.0/8, so that the limit of failed attempts by one address does not hide the responses."""
    return "10.%d.%d.%d" % tuple(secrets.token_bytes(3))


# The daemon

class Site:
    """A daemon with a portal, two merchants, and all kinds of callers."""

    def __init__(self, programs, directory, repository):
        self.programs, self.directory, self.repository = programs, directory, repository
        self.daemon = self.gateway = None
        # The kernel chooses the port of the first start. Later starts use it again, so that links stay valid.
        self.port = 0
        os.makedirs(self.path("apple"), exist_ok=True)
        self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=portal", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.path("portal.key"),
                 "-out", self.path("portal.pem"))
        os.chmod(self.path("portal.key"), 0o600)
        self.context = ssl.create_default_context(cafile=self.path("portal.pem"))
        self.texts = json.load(open(f"{repository}/Sources/PortalServer/Pages/Resources/texts.json"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def shows(self, response, *name):
        """Whether a page contains the text that has this name in texts.json."""
        text = self.texts
        for part in name:
            text = text[part]
        return text in html.unescape(response.text)

    def run(self, *command):
        done = subprocess.run(command, capture_output=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: {done.stderr.decode()}")
        return done.stdout

    def ctl(self, *arguments):
        output = self.run(f"{self.programs}/merchantkeyctl", "--socket", self.path("state/admin.sock"), "--output", "json",
                          *arguments)
        return json.loads(output) if output.strip() else {}

    def apple(self, *arguments):
        return self.run(f"{self.programs}/applepay-sandbox", *arguments, "--directory", self.path("apple"))

    def start_gateway(self):
        """Starts the sandbox's gateway, and creates the identity with which the daemon connects to it."""
        self.apple("init")
        self.run("openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout",
                 self.path("identity.key"), "-out", self.path("identity.csr"))
        os.chmod(self.path("identity.key"), 0o600)
        self.apple("issue", "--csr", self.path("identity.csr"), "--merchant", INTEGRATOR, "--purpose", "identity", "--out",
                   self.path("identity.cer"))
        self.run("openssl", "x509", "-inform", "der", "-in", self.path("identity.cer"), "-out", self.path("identity.pem"))
        self.gateway = subprocess.Popen(
            [f"{self.programs}/applepay-sandbox", "serve", "--directory", self.path("apple")], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.gateway_url = self.gateway.stdout.readline().strip()
        if not self.gateway_url.startswith("https://"):
            raise Failed(f"the sandbox's gateway did not start: {self.gateway_url}")

    def start_client_ca(self):
        """Creates a CA and two client certificates: 'known' gets access, 'unknown' does not."""
        self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=clients", "-keyout", self.path("ca.key"), "-out", self.path("ca.pem"))
        for name in ["known", "unknown"]:
            self.run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                     f"/CN={name}", "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.csr"))
            self.run("openssl", "x509", "-req", "-in", self.path(f"{name}.csr"), "-CA", self.path("ca.pem"), "-CAkey",
                     self.path("ca.key"), "-CAcreateserial", "-days", "2", "-out", self.path(f"{name}.pem"))

    def configuration(self, callers):
        settings = {
            "environment": "sandbox",
            "log": {"level": "warning"},
            "trust": {"token-roots": [self.path("apple/root.pem")],
                      "certificate-issuers": [self.path("apple/processing-issuer.pem"), self.path("apple/root.pem")]},
            "apple": {"gateway": {"url": self.gateway_url, "trust-roots": [self.path("apple/root.pem")],
                                  "identity": {"certificate": self.path("identity.pem"),
                                               "private-key": self.path("identity.key")}}},
            "domain-check": {"resolve": [f"{OWN_DOMAIN}=127.0.0.1:9"]},
            "portal": {"listen": f"127.0.0.1:{self.port}",
                       "tls": {"certificate": self.path("portal.pem"), "private-key": self.path("portal.key"),
                               "client-ca": self.path("ca.pem")},
                       "trusted-proxies": ["127.0.0.1"],
                       "limits": {"requests-per-minute-by-token": 1_000_000,
                                  "requests-per-minute-by-address": 1_000_000}},
        }
        if callers is not None:
            settings["callers"] = callers
        # JSON is YAML.
        with open(self.path("merchantkeyd.yaml"), "w") as file:
            json.dump(settings, file)

    def start(self, callers=None):
        """Starts the daemon, and waits until the portal listens."""
        self.configuration(callers)
        log = self.path("daemon.log")
        with open(log, "ab") as output:
            start = output.tell()
            self.daemon = subprocess.Popen(
                [f"{self.programs}/merchantkeyd", "--config", self.path("merchantkeyd.yaml"), "--state-directory",
                 self.path("state")], stderr=output, stdout=output)

        def listens():
            if self.daemon.poll() is not None:
                raise Failed(f"the daemon ended: {open(log).read()[start:]}")
            if self.port == 0:
                return self.read_url()
            try:
                return Client(self).send("GET", "/v1/health").status == 200
            except (OSError, Failed):
                return False

        wait_for("the start of the portal", listens, 60)

    def read_url(self):
        done = subprocess.run([f"{self.programs}/merchantkeyctl", "--socket", self.path("state/admin.sock"), "--output",
                               "json", "status"], capture_output=True)
        try:
            self.url = json.loads(done.stdout).get("portalURL")
        except ValueError:
            return False
        self.port = int(self.url.rsplit(":", 1)[1]) if self.url else 0
        return self.port != 0

    def stop(self):
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGTERM)
            status = self.daemon.wait(60)
            self.daemon = None
            if status != 0:
                raise Failed(f"the daemon ended with {status}: {open(self.path('daemon.log')).read()[-2000:]}")

    def close(self):
        for process in [self.daemon, self.gateway]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def rows(self):
        """All rows of the database, except what a refused request or the passage of time may change."""
        database = sqlite3.connect(f"file:{self.path('state/merchantkeyd.sqlite')}?mode=ro", uri=True, timeout=10)
        try:
            database.execute("BEGIN")
            tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {table: self.table_rows(database, table) for table in tables if table not in UNCOMPARED_TABLES}
        finally:
            database.close()

    @staticmethod
    def table_rows(database, table):
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')
                   if (table, row[1]) not in UNCOMPARED_COLUMNS]
        names = ", ".join(f'"{column}"' for column in columns)
        return sorted((repr(row) for row in database.execute(f'SELECT {names} FROM "{table}"')
                       if (table, row[0]) not in UNCOMPARED_ROWS))

    def count(self, query):
        database = sqlite3.connect(f"file:{self.path('state/merchantkeyd.sqlite')}?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(query).fetchone()[0]
        finally:
            database.close()


UNCOMPARED_TABLES = {"audit", "idempotency_keys"}
# Times of the last use, and the daemon's own schedule of checks.
UNCOMPARED_COLUMNS = {("accesses", "last_used_at"), ("portal_sessions", "last_seen_at"), ("key_watches", "due_at")}
# Rows of the audit and of the daemon's clock.
UNCOMPARED_ROWS = {("sqlite_sequence", "audit"), ("sqlite_sequence", "idempotency_keys"),
                   ("daemon_facts", "confirmedTime")}


def changed_tables(before, after):
    changes = []
    for table in sorted(set(before) | set(after)):
        old, new = collections.Counter(before.get(table, [])), collections.Counter(after.get(table, []))
        if old != new:
            changes.append(f"{table}: removed {list((old - new))[:3]}, added {list((new - old))[:3]}")
    return changes


# Requests

class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.text = body.decode("utf-8", "replace")

    @property
    def code(self):
        """The code of a problem document; None for other responses."""
        try:
            return json.loads(self.text).get("code") if self.status >= 400 else None
        except (ValueError, AttributeError):
            return None

    @property
    def outcome(self):
        return (self.status, self.code)

    @property
    def cookie(self):
        """The secret of the session that the response begins."""
        match = re.match(rf"{COOKIE}=(\w+);", self.headers.get("Set-Cookie", ""))
        return match and match[1]

    @property
    def form_token(self):
        match = re.search(r'name="csrf" value="([0-9a-f]+)"', self.text)
        return match and match[1]

    @property
    def form_key(self):
        match = re.search(r'name="idempotencyKey" value="([^"]+)"', self.text)
        return match and match[1]

    def document(self):
        return json.loads(self.text)


class Client:
    """Keep-alive connections to the portal, one for each client certificate. Each thread needs a client of its own."""

    def __init__(self, site):
        self.site, self.connections = site, {}

    def connection(self, certificate):
        if certificate not in self.connections:
            context = self.site.context
            if certificate is not None:
                context = ssl.create_default_context(cafile=self.site.path("portal.pem"))
                context.load_cert_chain(self.site.path(f"{certificate}.pem"), self.site.path(f"{certificate}.key"))
            self.connections[certificate] = http.client.HTTPSConnection(
                "127.0.0.1", self.site.port, context=context, timeout=60)
        return self.connections[certificate]

    def send(self, method, path, headers=None, body=None, certificate=None):
        headers = {"X-Forwarded-For": random_address(), **(headers or {})}
        for attempt in [1, 2]:
            connection = self.connection(certificate)
            is_new = connection.sock is None
            try:
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                return Response(response.status, response.headers, response.read())
            except (ConnectionError, http.client.RemoteDisconnected, http.client.BadStatusLine, ssl.SSLError) as error:
                # The server may close an idle connection at any time.
                connection.close()
                if is_new or attempt == 2:
                    raise Failed(f"{method} {path}: {error!r}")
        return None

    def form(self, path, fields, caller=None, token="of the session", origin="portal", further=None):
        """Sends a form as a browser does. With None for the token or the origin, the form has none."""
        headers = dict(caller.headers) if caller else {}
        if origin is not None:
            headers["Origin"] = self.site.url if origin == "portal" else origin
        headers.update(further or {})
        if token == "of the session":
            token = caller.form_token if caller else None
        fields = {**({"csrf": token} if token is not None else {}), **fields}
        body, headers["Content-Type"] = encoded(fields)
        return self.send("POST", path, headers, body, caller.certificate if caller else None)


def encoded(fields):
    """The body and the content type of a form. A field whose value is bytes is a file."""
    if not any(isinstance(value, bytes) for value in fields.values()):
        return urllib.parse.urlencode(fields).encode(), FORM
    boundary, body = "----portal" + secrets.token_hex(8), b""
    for name, value in fields.items():
        file = '; filename="apple_pay.cer"\r\nContent-Type: application/pkix-cert' if isinstance(value, bytes) else ""
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
        body += (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Caller:
    def __init__(self, name, token=None, cookie=None, certificate=None, form_token=None):
        self.name, self.cookie, self.certificate, self.form_token = name, cookie, certificate, form_token
        self.headers = {}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if cookie:
            self.headers["Cookie"] = f"{COOKIE}={cookie}"
        self.has_token = token is not None


def path_of(url):
    return urllib.parse.urlsplit(url).path


def open_link(client, name, url):
    """Begins a session with the link of an invitation or a login, and reads the token of its forms."""
    path = path_of(url)
    shown = client.send("GET", path)
    begun = client.form(path, {}, token=shown.form_token)
    if begun.status != 303 or begun.cookie is None:
        raise Failed(f"the link of {name} begins no session: {begun.status}")
    caller = Caller(name, cookie=begun.cookie)
    page = client.send("GET", begun.headers["Location"], caller.headers)
    caller.form_token = page.form_token
    if page.status != 200 or caller.form_token is None:
        raise Failed(f"the first page of {name} is {page.status} or has no form")
    return caller


# The world of the tests

class World:
    """The records of the merchants, and the identifiers that the routes need."""

    def __init__(self, site):
        self.site = site
        site.start_gateway()
        site.start_client_ca()
        site.start()
        self.client = Client(site)
        with open(site.path("association"), "w") as file:
            file.write("association")
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
        # Its path contains a digest of the file.
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


# The table of REST operations

MACHINES = {"token with onboard", "token with onboard for all merchants", "rotated-in token",
            "client certificate with access"}
OPERATORS = {"operator session with read and onboard"}
READERS = MACHINES | {"invitation session"} | OPERATORS
FOREIGN = {"token for another merchant", "invitation session of another merchant"}
REFUSED_TOKENS = {"expired token", "revoked token", "rotated-out token", "older rotated-out token", "forged token"}
NO_CALLER = {"no credentials", "client certificate without access", "revoked invitation's session",
             "session that signed out"}
WITHOUT_ONBOARD = {"token with permit read", "operator session with read", "operator session without its permits",
                   "operator session with read for one merchant"}
SESSIONS = {"invitation session", "invitation session of another merchant", "operator session with read and onboard",
            "operator session with read", "operator session without its permits",
            "operator session with read for one merchant"}
EVERYONE = (READERS | FOREIGN | NO_CALLER | WITHOUT_ONBOARD)

REST = collections.namedtuple("REST", "path admits success foreign body type", defaults=(None, JSON_TYPE))


def rest_table(world):
    """By method and path: who gets in, the outcomes for those callers, and the outcome for callers who have the permit
    only for another merchant."""
    own, key, roll = f"/v1/merchants/{OWN}", world.spelled(world.own_key), world.roll
    no_merchant, no_key = (404, "merchantNotFound"), (404, "keyNotFound")
    ok, created = {(200, None)}, {(201, None)}
    # Callers with the permit for whichever merchant, because these routes concern no merchant.
    any_machine, any_reader = MACHINES | {"token for another merchant"}, READERS | FOREIGN
    return {
        "GET /v1/merchants/{merchantIdentifier}": REST(own, READERS, ok, no_merchant),
        "GET /v1/merchants/{merchantIdentifier}/onboarding": REST(f"{own}/onboarding", READERS, ok, no_merchant),
        "GET /v1/merchants/{merchantIdentifier}/keys": REST(f"{own}/keys", READERS, ok, no_merchant),
        # At most 4 key pairs of a merchant wait for a certificate.
        "POST /v1/merchants/{merchantIdentifier}/keys": REST(
            f"{own}/keys", MACHINES, created | {(409, "tooManyPendingKeys")}, no_merchant, "{}"),
        "POST /v1/merchants/{merchantIdentifier}/certificates": REST(
            f"{own}/certificates", MACHINES, ok, no_merchant, world.certificate, "application/pkix-cert"),
        "POST /v1/certificates": REST(
            "/v1/certificates", MACHINES, ok, (422, "certificateForAnotherMerchant"), world.certificate,
            "application/pkix-cert"),
        "GET /v1/keys/{publicKeyHash}": REST(f"/v1/keys/{key}", READERS, ok, no_key),
        "GET /v1/keys/{publicKeyHash}/csr": REST(f"/v1/keys/{key}/csr", READERS, ok, no_key),
        "POST /v1/merchants/{merchantIdentifier}/rolls": REST(f"{own}/rolls", MACHINES, ok, no_merchant, "{}"),
        "GET /v1/rolls": REST(f"/v1/rolls?merchant={OWN}", READERS, ok, no_merchant),
        "GET /v1/rolls/{rollId}": REST(f"/v1/rolls/{roll}", READERS, ok, (404, "rollNotFound")),
        "GET /v1/registrations": REST(f"/v1/registrations?merchant={OWN}", READERS, ok, no_merchant),
        "POST /v1/registrations": REST(
            "/v1/registrations", MACHINES, created, no_merchant,
            json.dumps({"partnerInternalMerchantIdentifier": PARTNER, "domainNames": ["table." + OWN_DOMAIN],
                        "merchantIdentifier": OWN})),
        "GET /v1/registrations/{partnerInternalMerchantIdentifier}": REST(
            f"/v1/registrations/{PARTNER}", READERS, ok, (404, "registrationNotFound")),
        "DELETE /v1/registrations/{partnerInternalMerchantIdentifier}": REST(
            f"/v1/registrations/{PARTNER}?dryRun=true", MACHINES, ok, (404, "registrationNotFound"),
            json.dumps({"reason": "table"})),
        "GET /v1/domain-file": REST("/v1/domain-file", any_reader, ok, None),
        "POST /v1/domain-checks": REST(
            "/v1/domain-checks", any_machine, ok, None, json.dumps({"domainName": OWN_DOMAIN})),
        "POST /v1/invitations": REST(
            "/v1/invitations", MACHINES, created, no_merchant,
            json.dumps({"merchantIdentifier": OWN, "note": OWN_NOTE})),
        "GET /.well-known/apple-developer-merchantid-domain-association": REST(
            "/.well-known/apple-developer-merchantid-domain-association", EVERYONE, ok, None),
        "GET /v1/health": REST("/v1/health", EVERYONE, ok, None),
        "GET /v1/openapi.yaml": REST("/v1/openapi.yaml", EVERYONE, ok, None),
    }


def rest_refusal(caller, method, route):
    """The outcome for a caller who does not get in."""
    if caller.name in NO_CALLER | REFUSED_TOKENS:
        return (401, "unauthorized")
    # Another site could make a browser send the cookie, so a session only reads.
    if caller.name in WITHOUT_ONBOARD or (caller.name in SESSIONS and method not in ["GET", "HEAD"]):
        return (403, "forbidden")
    return route.foreign


def operations_in_document(repository):
    """The operations of the portal in the OpenAPI document, with the permit of each."""
    found, path, method = {}, None, None
    for line in open(f"{repository}/schema/openapi.yaml"):
        if match := re.match(r"  (/\S+):\s*$", line):
            path = match[1]
        elif match := re.match(r"    (get|put|post|delete|patch|head|options|trace):\s*$", line):
            method = match[1].upper()
        elif match := re.match(r"      x-sockets: \{.*\bportal: (\w+).*\}", line):
            found[f"{method} {path}"] = match[1]
    return found


# The table of pages

Page = collections.namedtuple("Page", "path audience success fields foreign", defaults=(None, None))


def page_table(world):
    """By method and path: the audience, the statuses for callers who get in, the fields of the form, and the statuses for
    a person at another merchant if the form or the path names a record of the own merchant."""
    key, revocation = world.spelled(world.own_key), f"/fleet/invitations/{world.open_invitation}/revoke"
    domain = f"partner={PARTNER}&domain=page.{OWN_DOMAIN}"
    return {
        "GET /": Page("/", "everyone", {200}),
        "GET /assets/{file}": Page(world.asset, "everyone", {200}),
        "GET /invitations/{secret}": Page("invitation", "everyone", {200}),
        "POST /invitations/{secret}": Page("invitation", "everyone", {303}, {}),
        "GET /login/{secret}": Page("login", "everyone", {200}),
        "POST /login/{secret}": Page("login", "everyone", {303}, {}),
        "GET /merchant/keys": Page("/merchant/keys", "merchant", {200}),
        "POST /merchant/keys": Page("/merchant/keys", "merchant", {303}, {}),
        "GET /merchant/keys/{publicKeyHash}/csr": Page(f"/merchant/keys/{key}/csr", "merchant", {200}, foreign={404}),
        "POST /merchant/certificates": Page(
            "/merchant/certificates", "merchant", {303}, {"certificate": world.certificate}, {200, 409, 422}),
        "GET /merchant/roll": Page("/merchant/roll", "merchant", {200}),
        "POST /merchant/roll": Page("/merchant/roll", "merchant", {303}, {}),
        "GET /merchant/domains": Page("/merchant/domains", "merchant", {200}),
        "POST /merchant/domains": Page(
            "/merchant/domains", "merchant", {303}, {"domain": f"page.{OWN_DOMAIN}", "name": "Page"}),
        "GET /merchant/domains/file": Page("/merchant/domains/file", "merchant", {200}),
        "POST /merchant/domains/check": Page("/merchant/domains/check", "merchant", {200}, {"domain": OWN_DOMAIN}),
        "GET /merchant/domains/unregister": Page(
            f"/merchant/domains/unregister?{domain}", "merchant", {200}, foreign={404}),
        "POST /merchant/domains/unregister": Page(
            "/merchant/domains/unregister", "merchant", {303},
            {"partner": PARTNER, "domain": f"page.{OWN_DOMAIN}"}, {200, 404, 409, 422}),
        "GET /fleet": Page("/fleet", "operators", {200}),
        "GET /fleet/search": Page("/fleet/search?q=merchant", "operators", {200}),
        "GET /fleet/merchants/{merchantIdentifier}": Page(f"/fleet/merchants/{OWN}", "operators", {200}),
        "GET /fleet/invitations": Page("/fleet/invitations", "operators", {200}),
        "POST /fleet/invitations": Page(
            "/fleet/invitations", "onboarding operators", {201}, {"merchant": OWN, "days": "7", "note": "table"}),
        "GET /fleet/invitations/new": Page("/fleet/invitations/new", "operators", {200}),
        "GET /fleet/invitations/{invitationId}/revoke": Page(
            revocation, "operators", {200}),
        "POST /fleet/invitations/{invitationId}/revoke": Page(
            revocation, "onboarding operators", {303}, {}),
        # The last row, because it ends the session.
        "POST /sign-out": Page("/sign-out", "sessions", {200}, {}),
    }


AUDIENCES = {
    "everyone": EVERYONE | REFUSED_TOKENS,
    "sessions": SESSIONS,
    "merchant": {"invitation session", "invitation session of another merchant"},
    "operators": {"operator session with read", "operator session with read and onboard"},
    "onboarding operators": {"operator session with read and onboard"},
}


def page_statuses(caller, page, key):
    if caller.name in AUDIENCES[page.audience]:
        if caller.name == "invitation session of another merchant" and page.foreign:
            return page.foreign
        # Operators begin at another page.
        return {303} if key == "GET /" and caller.name.startswith("operator") else page.success
    # Without a session there is no valid token for the form.
    return {403} if caller.name in SESSIONS or key == "POST /sign-out" else {401}


def pages_in_sources(repository):
    found = set()
    for path in glob.glob(f"{repository}/Sources/PortalServer/PageServer/PageHandlers+*.swift"):
        for method, route in re.findall(r'\.(get|post)\(\s*"([^"]+)"', open(path).read()):
            found.add(f"{method.upper()} {route}")
    return found


def check_tables(world, results):
    """A new route fails this check until the tables list it."""
    documented = operations_in_document(world.site.repository)
    table = rest_table(world)
    results.expect(len(documented) > 10 and set(documented) == set(table), "the table lists every REST operation",
                   sorted(set(documented) ^ set(table)))
    for name, permit in documented.items():
        needs_no_permit = name in table and "no credentials" in table[name].admits
        results.expect((permit == "none") == needs_no_permit, f"the table and the document agree about {name}", permit)
    pages = pages_in_sources(world.site.repository)
    results.expect(len(pages) > 15 and pages == set(page_table(world)), "the table lists every page",
                   sorted(pages ^ set(page_table(world))))


def is_own(text):
    """Whether a response contains something that only callers of the own merchant may see."""
    return any(marker in text for marker in [OWN_NAME, OWN_DOMAIN, OWN_NOTE, "BEGIN CERTIFICATE"])


def check_rest(world, results, callers):
    client = world.client
    for name, route in rest_table(world).items():
        method, missing = name.split(" ", 1)[0], route.body is None
        successes = set()
        for caller in callers:
            headers = dict(caller.headers)
            if not missing:
                headers["Content-Type"] = route.type
            response = client.send(method, route.path, headers, route.body, caller.certificate)
            expected = route.success if caller.name in route.admits else {rest_refusal(caller, method, route)}
            case = f"{name} by {caller.name}"
            if results.expect(response.outcome in expected, case,
                              f"{response.outcome}, expected one of {expected}: {response.text[:200]}"):
                successes |= {response.status} if caller.name in route.admits else set()
            if caller.name not in route.admits:
                results.expect(not is_own(response.text), f"{case} shows nothing", response.text[:300])
                if response.status == 401:
                    results.expect(response.headers.get("WWW-Authenticate", "").startswith("Bearer"),
                                   f"{case} has WWW-Authenticate")
                    detail = response.document()["detail"]
                    world.unauthorized.add(detail)
            if method == "GET":
                head = client.send("HEAD", route.path, caller.headers, None, caller.certificate)
                results.expect(head.status == response.status and head.body == b"", f"HEAD as {case}", head.status)
        if any(caller.name in route.admits for caller in callers):
            results.expect(bool(successes & {200, 201}), f"{name} succeeds for somebody who may use it", successes)


def check_pages(world, results, callers, new_link):
    """new_link("invitation") and new_link("login") return links that nobody has used."""
    client, table = world.client, page_table(world)
    for caller in callers:
        for name, page in table.items():
            method, path, case = name.split(" ", 1)[0], page.path, f"{name} by {caller.name}"
            if method == "POST" and "{secret}" in name and caller.name in SESSIONS:
                # It would end the caller's session: see check_forms.
                continue
            if path in ["invitation", "login"]:
                path = path_of(new_link(path))
            if method == "GET":
                response = client.send("GET", path, caller.headers, None, caller.certificate)
            else:
                token = caller.form_token
                if "{secret}" in name:
                    token = client.send("GET", path, caller.headers, None, caller.certificate).form_token
                fields = {"idempotencyKey": secrets.token_hex(16), **page.fields}
                response = client.form(path, fields, caller, token=token or "0" * 64)
            expected = page_statuses(caller, page, name)
            results.expect(response.status in expected, case, f"{response.status}, expected one of {expected}")
            # The head of each page names the merchant of the session.
            may_see = caller.name == "invitation session" or caller.name in AUDIENCES[page.audience] and not (
                caller.name == "invitation session of another merchant")
            if not may_see and page.path not in ["invitation", "login"]:
                # A page repeats what was entered.
                shown = response.text.replace(OWN_DOMAIN, "") if page.fields else response.text
                results.expect(not is_own(shown), f"{case} shows nothing of the merchant", shown[:300])
        if caller.name in SESSIONS:
            after = client.send("GET", "/merchant/keys", caller.headers)
            results.expect(after.status == 401, f"after signing out, the session of {caller.name} has ended",
                           after.status)


# Checks

def check_routes(world, results):
    check_tables(world, results)
    callers = world.machines()
    callers.update(world.people())
    operator = world.operator("operator session with read and onboard")
    callers[operator.name] = operator
    check_rest(world, results, callers.values())
    results.expect(len(world.unauthorized) == 1, "all refused credentials get the same detail", world.unauthorized)
    check_pages(world, results, callers.values(), world.new_link)
    used = {name for page in page_table(world).values() for name in AUDIENCES[page.audience]}
    missing = (used | EVERYONE | REFUSED_TOKENS) - set(callers) - WITHOUT_ONBOARD
    results.expect(not missing, "every caller in the tables was checked", missing)


def check_operators(world, results):
    """A session has the permits that its operator has now, also after a restart with other permits."""
    uid = os.getuid()
    phases = {
        "operator session with read": [{"uid": uid, "permits": ["read"]}],
        "operator session with read for one merchant": [{"uid": uid, "permits": ["read"], "merchants": [OWN]}],
        "operator session without its permits": [{"uid": uid, "permits": ["administer"]}],
    }
    for name, permits in phases.items():
        caller = world.operator(name)
        links = {"invitation": [world.invitation()["url"] for _ in range(2)],
                 "login": [world.site.ctl("console")["url"] for _ in range(2)]}
        before = world.site.count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        world.restart(permits)
        check_rest(world, results, [caller])
        check_pages(world, results, [caller], lambda kind: links[kind].pop())
        after = world.site.count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        results.expect(before == after, f"the {name} neither creates nor revokes an invitation", f"{before}, {after}")
        world.restart(None)


def check_others(world, results):
    """Records of another merchant are answered exactly as records that do not exist."""
    client = world.client
    token = Caller("token", world.access("other", "--permit", "onboard", "--merchant", OTHER)["token"])
    session = world.session("session", OTHER)
    owner = Caller("owner", world.access("owner", "--permit", "onboard", "--merchant", OWN)["token"])
    # A certificate for a key pair that is in no database, of an existing merchant and of a missing one.
    world.site.run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                   "/CN=x", "-keyout", world.site.path("alien.key"), "-out", world.site.path("alien.csr"))
    world.site.apple("issue", "--csr", world.site.path("alien.csr"), "--merchant", MISSING, "--out",
                     world.site.path("alien.cer"))
    alien = open(world.site.path("alien.cer"), "rb").read()
    own, missing = f"/v1/merchants/{OWN}", f"/v1/merchants/{MISSING}"
    key, no_key = world.spelled(world.own_key), world.spelled(world.missing_key)
    roll, no_roll = world.roll, world.missing_roll
    by_key = [(world.own_key, world.missing_key), (key, no_key)]
    by_merchant, by_roll = [(OWN, MISSING)], [(str(roll), str(no_roll))]
    by_partner = [(PARTNER, MISSING_PARTNER)]

    def register(merchant, partner="new-shop"):
        return json.dumps({"partnerInternalMerchantIdentifier": partner, "partnerMerchantName": "x",
                           "domainNames": ["x.example"], "merchantIdentifier": merchant})

    def invite(merchant):
        return json.dumps({"merchantIdentifier": merchant})

    reason = json.dumps({"reason": "x"})
    # Method, paths, bodies and the identifiers: of the existing record and of the missing one.
    cases = [
        ("GET", own, missing, None, None, by_merchant),
        ("GET", f"{own}/onboarding", f"{missing}/onboarding", None, None, by_merchant),
        ("GET", f"{own}/keys", f"{missing}/keys", None, None, by_merchant),
        ("POST", f"{own}/keys", f"{missing}/keys", "{}", "{}", by_merchant),
        ("POST", f"{own}/keys", f"{missing}/keys", "{", "{", by_merchant),
        ("POST", f"{own}/rolls", f"{missing}/rolls", "{}", "{}", by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", world.certificate, world.certificate, by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", "no certificate", "no certificate", by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", "", "", by_merchant),
        # The certificate of the own merchant's key pair, and one of a merchant and a key pair that do not exist.
        ("POST", "/v1/certificates", "/v1/certificates", world.certificate, alien, []),
        ("POST", f"/v1/merchants/{OTHER}/certificates", f"/v1/merchants/{OTHER}/certificates", world.certificate, alien, []),
        ("GET", f"/v1/keys/{key}", f"/v1/keys/{no_key}", None, None, by_key),
        ("GET", f"/v1/keys/{key}/csr", f"/v1/keys/{no_key}/csr", None, None, by_key),
        ("GET", f"/v1/rolls?merchant={OWN}", f"/v1/rolls?merchant={MISSING}", None, None, by_merchant),
        ("GET", f"/v1/rolls?merchant={OWN}&cursor=1", f"/v1/rolls?merchant={MISSING}&cursor=1", None, None, by_merchant),
        ("GET", f"/v1/rolls/{roll}", f"/v1/rolls/{no_roll}", None, None, by_roll),
        ("GET", f"/v1/registrations?merchant={OWN}", f"/v1/registrations?merchant={MISSING}", None, None, by_merchant),
        ("POST", "/v1/registrations", "/v1/registrations", register(OWN), register(MISSING), by_merchant),
        ("POST", "/v1/registrations", "/v1/registrations", register(OWN, PARTNER), register(MISSING, PARTNER), by_merchant),
        ("GET", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", None, None, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", reason, reason, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}?dryRun=true", f"/v1/registrations/{MISSING_PARTNER}?dryRun=true", reason,
         reason, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", "{}", "{}", by_partner),
        ("POST", "/v1/invitations", "/v1/invitations", invite(OWN), invite(MISSING), by_merchant),
    ]
    before = world.site.rows()
    names = {case[0] + " " + re.sub(r"\?.*", "", case[1]) for case in cases}
    for operation, route in rest_table(world).items():
        if route.foreign is not None:
            path = operation.split(" ")[0] + " " + re.sub(r"\?.*", "", route.path)
            results.expect(path in names, f"{operation} is compared with a missing record", path)
    for caller in [token, session]:
        for method, existing, absent, body, absent_body, identifiers in cases:
            if caller is session and method != "GET":
                continue
            for actual_method in [method] + (["HEAD"] if method == "GET" else []):
                answers = []
                for path, content, index in [(existing, body, 0), (absent, absent_body, 1)]:
                    type = JSON_TYPE if isinstance(content, str) and content.startswith("{") else "application/pkix-cert"
                    headers = {**caller.headers, **({"Content-Type": type} if content is not None else {})}
                    answer = client.send(actual_method, path, headers, content)
                    answers.append(comparable(answer, [pair[index] for pair in identifiers]))
                case = f"{actual_method} {existing} with a {caller.name} is answered as {absent}"
                results.expect(answers[0] == answers[1] and answers[0][0] >= 400, case, answers)
    # Pages.
    for path, absent in [(f"/merchant/keys/{key}/csr", f"/merchant/keys/{no_key}/csr"),
                         (f"/merchant/domains/unregister?partner={PARTNER}&domain=x.example",
                          f"/merchant/domains/unregister?partner={MISSING_PARTNER}&domain=x.example")]:
        answers = [comparable(client.send("GET", each, session.headers), []) for each in [path, absent]]
        results.expect(answers[0] == answers[1] and answers[0][0] == 404, f"GET {path} is answered as {absent}",
                       answers)
    for fields in [({"partner": PARTNER, "domain": OWN_DOMAIN}, {"partner": MISSING_PARTNER, "domain": OWN_DOMAIN})]:
        answers = [comparable(client.form("/merchant/domains/unregister", each, session), []) for each in fields]
        results.expect(answers[0] == answers[1] and answers[0][0] >= 400, "the form to remove a domain", answers)
    answers = [comparable(client.form("/merchant/certificates", {"certificate": file}, session), [])
               for file in [world.certificate, alien]]
    results.expect(answers[0] == answers[1] and answers[0][0] >= 400, "the upload of another merchant's certificate",
                   [answer[0] for answer in answers])
    # An Idempotency-Key of another caller has no effect.
    shared = {"Idempotency-Key": "shared", "Content-Type": JSON_TYPE}
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], "none of these requests changes a record", changes)
    made = client.send("POST", f"{own}/keys", {**owner.headers, **shared}, "{}")
    repeated = client.send("POST", f"{own}/keys", {**owner.headers, **shared}, "{}")
    results.expect(made.status == 201 and repeated.body == made.body, "the owner's repeat gets the same key pair")
    stolen = client.send("POST", f"{own}/keys", {**token.headers, **shared}, "{}")
    results.expect(stolen.outcome == (404, "merchantNotFound"), "another caller's Idempotency-Key", stolen.outcome)


def comparable(response, identifiers):
    """A response without what differs in every response, and without the identifiers of the request."""
    text = response.text
    for pattern in [r'"requestId":"[^"]*"', r'[0-9a-f]{16}(?=</)', r'value="[^"]*"', r'"instance":"[^"]*"']:
        text = re.sub(pattern, "", text)
    text = re.sub(re.escape(response.headers.get("X-Request-Id", "-")), "", text)
    for identifier in sorted(identifiers, key=len, reverse=True):
        text = text.replace(identifier, "IDENTIFIER")
    headers = sorted((name.lower(), value) for name, value in response.headers.items()
                     if name.lower() not in ["date", "x-request-id", "content-length"])
    return (response.status, headers, text)


# Random requests

PUBLIC = re.compile(r"/(|assets/.*|invitations/.*|login/.*|sign-out|v1/health|v1/openapi\.yaml|\.well-known/[a-z-]+)")
# What concerns no merchant, for callers who have the permit for another one.
NO_MERCHANT = re.compile(r"/v1/domain-(file|checks)")
OWN_PAGES = re.compile(r"/merchant/(keys|roll|domains|domains/file)")


class RandomRequests:
    def __init__(self, world, callers, table, pages, documented, seed):
        self.world, self.callers, self.random = world, callers, random.Random(seed)
        self.routes = [tuple(name.split(" ", 1)) + (route.path, route.body) for name, route in table.items()]
        self.pages = [(name.split(" ", 1)[0], page.path, page.fields) for name, page in pages.items()
                      if page.path not in ["invitation", "login"]]
        # Routes of the other listeners: the portal has none of them.
        self.elsewhere = [name for name in documented if name not in table]

    def target(self):
        """A method, a path and a body for a record of the own merchant."""
        choice = self.random.random()
        if choice < 0.45:
            method, _, path, body = self.random.choice(self.routes)
        elif choice < 0.75:
            method, path, fields = self.random.choice(self.pages)
            body = fields
        else:
            method, path = self.random.choice(self.elsewhere).split(" ", 1)
            path = path.replace("{merchantIdentifier}", OWN).replace("{publicKeyHash}", self.world.spelled(self.world.own_key))
            path = path.replace("{rollId}", str(self.world.roll)).replace("{invitationId}", self.world.open_invitation)
            path = re.sub(r"\{\w+\}", "one", path)
            body = "{}" if method != "GET" else None
        if self.random.random() < 0.2:
            method = self.random.choice(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        if self.random.random() < 0.2:
            path = self.mutated(path)
        return method, path, body

    def mutated(self, path):
        """Spellings that a router or a check of a prefix could confuse."""
        place = self.random.randrange(1, len(path) + 1)
        return self.random.choice([
            path + "/", "/" + path, path.upper(), path.replace("/", "//", 1), path + "?x=1", path + "%00", path + ";x=1",
            path.replace(OWN, OTHER + "%2f.." + "%2f" + OWN), path.replace("/v1/", "/v1/../v1/"), path.replace("/", "/./", 1),
            path[:place] + "%" + path[place:], path[:place] + "%%%02x" % self.random.randrange(256) + path[place:],
            path[:place], "/fleet/.." + path, "/assets/.." + path, path.replace("e", "%65")])

    def body(self, fields, caller):
        """The body, its type, and further headers."""
        if isinstance(fields, dict):
            # Never the valid token of the session: another merchant's session may change its own records.
            content, type = encoded({"csrf": "0" * 64, **fields})
            return content, type, {"Origin": self.random.choice([self.world.site.url, "https://attacker.example", "null"])}
        if fields is None or self.random.random() < 0.1:
            size = self.random.choice([0, 0, 1, 100, 5000])
            return self.random.randbytes(size), self.random.choice([JSON_TYPE, FORM, "text/plain", ""]), {}
        return fields, JSON_TYPE, {"Idempotency-Key": secrets.token_hex(8)} if self.random.random() < 0.5 else {}

    def run(self, count, results, statistics):
        client = Client(self.world.site)
        for _ in range(count):
            caller = self.random.choice(self.callers)
            method, path, fields = self.target()
            headers, content = dict(caller.headers), None
            if method not in ["GET", "HEAD", "OPTIONS"]:
                content, headers["Content-Type"], further = self.body(fields, caller)
                headers.update(further)
            if self.random.random() < 0.1:
                headers["X-Forwarded-For"] = f"127.0.0.1, {random_address()}"
            response = client.send(method, path, headers, content, caller.certificate)
            self.check(caller, method, path, response, results, statistics)

    def check(self, caller, method, path, response, results, statistics):
        case = f"{method} {path} by {caller.name}"
        plain = urllib.parse.unquote(path).split("?")[0]
        is_other = caller.name in FOREIGN
        is_permitted = PUBLIC.fullmatch(plain) or (is_other and NO_MERCHANT.fullmatch(plain)) or (
            caller.name == "invitation session of another merchant" and OWN_PAGES.fullmatch(plain) and method in ["GET", "HEAD"])
        statistics[response.status] += 1
        refused = response.status in [301, 308, 400, 401, 403, 404, 405, 409, 411, 413, 414, 415, 422, 431]
        results.expect(refused or (bool(is_permitted) and response.status in [200, 304, 303]), case,
                       f"{response.status} {response.text[:300]}")
        # A page or a problem repeats what the request contains, but no other text of the merchant.
        results.expect(OWN_NAME not in response.text and OWN_NOTE not in response.text and
                       "BEGIN CERTIFICATE" not in response.text, f"{case} shows nothing", response.text[:300])


def check_random(world, results, count):
    callers = {**world.machines(), **world.people()}
    outside = [caller for name, caller in callers.items() if name not in READERS]
    table, pages = rest_table(world), page_table(world)
    documented = set()
    path = None
    for line in open(f"{world.site.repository}/schema/openapi.yaml"):
        if match := re.match(r"  (/\S+):\s*$", line):
            path = match[1]
        elif match := re.match(r"    (get|put|post|delete|patch):\s*$", line):
            documented.add(f"{match[1].upper()} {path}")
    documented = sorted(documented)
    seed, workers = secrets.randbits(32), 6
    before, start = world.site.rows(), time.monotonic()
    statistics = [collections.Counter() for _ in range(workers)]
    errors = []

    def work(index):
        try:
            RandomRequests(world, outside, table, pages, documented, seed + index).run(
                count // workers + (index < count % workers), results, statistics[index])
        except Exception as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.expect(not errors, "every request gets a response", errors[:3])
    total = sum(statistics, collections.Counter())
    results.expect(sum(total.values()) == count, f"{count} requests were sent", sum(total.values()))
    results.notes.update(seed=seed, seconds=round(time.monotonic() - start, 1), statuses=dict(sorted(total.items())))
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], f"no request leaves a trace but the audit's (seed {seed})", changes)
    # The daemon writes the summary of refused requests within seconds.
    wait_for("the audit of refused requests", lambda: world.site.count(
        "SELECT count(*) FROM audit WHERE action = 'requestsRefused' AND caller LIKE 'access:%'") > 0, 30)
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], f"the audit of the requests changes nothing else (seed {seed})", changes)


# Forms

def check_forms(world, results):
    check_form_origin(world, results)
    check_repeated_forms(world, results)
    check_two_tabs(world, results)
    check_ended_session(world, results)
    check_another_link(world, results)


def check_another_link(world, results):
    """A signed-in person can use another link, which ends the session before."""
    former = world.session("session before another link")
    link = path_of(world.invitation()["url"])
    shown = world.client.send("GET", link)
    begun = world.client.form(link, {}, former, token=shown.form_token)
    results.expect(begun.status == 303, "a signed-in person can use another link", begun.status)
    results.expect(world.client.send("GET", "/merchant/keys", former.headers).status == 401,
                   "the session before another link has ended", None)


def check_form_origin(world, results):
    """Every form is refused without its token or from another site, and changes nothing."""
    client, url = world.client, world.site.url
    merchant, operator = world.session("merchant"), world.operator("operator")
    outsider = world.session("outsider", OTHER)
    wrong = ("0" if merchant.form_token[0] != "0" else "1") + merchant.form_token[1:]
    link, login = world.invitation(), world.site.ctl("console")
    before = world.site.rows()
    refused = [
        ("without a token", {"token": None}), ("with an empty token", {"token": ""}), ("with a wrong token", {"token": wrong}),
        ("with the token of another session", {"token": outsider.form_token}),
        ("with half of the token", {"token": merchant.form_token[:32]}),
        ("from another site", {"origin": "https://attacker.example"}), ("without an origin", {"origin": None}),
        ("from the portal's host without TLS", {"origin": url.replace("https", "http")}),
        ("from a longer host", {"origin": url + ".attacker.example"}),
        ("with the origin null", {"origin": "null"}),
        ("with the origin null, from a site of the same domain",
         {"origin": "null", "further": {"Sec-Fetch-Site": "same-site"}}),
        ("with the origin null, from another site", {"origin": "null", "further": {"Sec-Fetch-Site": "cross-site"}}),
        ("with the origin null, from the address line", {"origin": "null", "further": {"Sec-Fetch-Site": "none"}}),
    ]
    for name, page in page_table(world).items():
        if not name.startswith("POST"):
            continue
        caller = operator if "operators" in page.audience else merchant
        path, token = page.path, caller.form_token
        if path in ["invitation", "login"]:
            caller, path = None, path_of((link if path == "invitation" else login)["url"])
            token = client.send("GET", path).form_token
        for what, options in refused:
            response = client.form(path, page.fields, caller, **{"token": token, **options})
            results.expect(response.status == 403 and world.site.shows(response, "error", "formExpired", "title"),
                           f"{name} {what}",
                           f"{response.status} {response.text[:200]}")
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], "no refused form changes a record", changes)
    # The same form from the portal, also with the origin that browsers send with Referrer-Policy: no-referrer.
    for origin, further in [("portal", None), ("null", {"Sec-Fetch-Site": "same-origin"})]:
        done = client.form("/merchant/roll", {}, merchant, origin=origin, further=further)
        results.expect(done.status == 303, f"a form of the portal with the origin {origin}", done.status)


def check_repeated_forms(world, results):
    """A form that is sent twice, one after the other or at the same time, has an effect once."""
    client, operator = world.client, world.operator("operator")
    merchant = world.session("repeats", OTHER)
    counts = {
        "invitations": "SELECT count(*) FROM invitations",
        "key pairs": "SELECT count(*) FROM key_pairs", "rolls": "SELECT count(*) FROM rolls",
        "registrations": "SELECT count(*) FROM registrations",
        "calls to Apple": "SELECT count(*) FROM registration_calls",
    }

    def count():
        return {name: world.site.count(query) for name, query in counts.items()}

    invite = {"merchant": OWN, "days": "7", "note": "twice"}
    key = client.send("GET", "/fleet/invitations/new", operator.headers).form_key
    begin = count()
    statuses = [client.form("/fleet/invitations", {**invite, "idempotencyKey": key}, operator) for _ in range(2)]
    results.expect(statuses[0].status == 201 and "/invitations/mki_" in statuses[0].text,
                   "the form creates an invitation",
                   statuses[0].status)
    results.expect("/invitations/mki_" not in statuses[1].text, "the same form shows no second link",
                   statuses[1].status)
    results.expect(count()["invitations"] == begin["invitations"] + 1, "the same form creates one invitation", count())
    changed = client.form("/fleet/invitations", {**invite, "note": "other", "idempotencyKey": key}, operator)
    results.expect(count()["invitations"] == begin["invitations"] + 1 and "/invitations/mki_" not in changed.text,
                   "the same key with another content creates nothing", changed.status)
    key = secrets.token_hex(16)
    answers = parallel(20, world, lambda each, _: each.form("/fleet/invitations", {**invite, "idempotencyKey": key}, operator))
    shown = [answer for answer in answers if "/invitations/mki_" in answer.text]
    results.expect(len(shown) == 1 and count()["invitations"] == begin["invitations"] + 2,
                   "of 20 equal forms at the same time one creates an invitation", [answer.status for answer in answers])

    begin, key = count(), secrets.token_hex(16)
    answers = parallel(8, world, lambda each, _: each.form("/merchant/roll", {"idempotencyKey": key}, merchant))
    results.expect({answer.status for answer in answers} == {303} and count()["rolls"] == begin["rolls"] + 1
                   and count()["key pairs"] == begin["key pairs"] + 1, "the same form starts one roll",
                   f"{[answer.status for answer in answers]} {begin} {count()}")
    begin, fields = count(), {"domain": "twice.example", "name": "Twice", "idempotencyKey": secrets.token_hex(16)}
    answers = [client.form("/merchant/domains", fields, merchant) for _ in range(2)]
    results.expect([answer.status for answer in answers] == [303, 303], "the same form registers a domain twice",
                   [answer.status for answer in answers])
    results.expect(count()["registrations"] == begin["registrations"] + 1
                   and count()["calls to Apple"] == begin["calls to Apple"] + 1, "the second form sends nothing to Apple",
                   f"{begin} {count()}")


def parallel(number, world, send):
    """Sends a request from each of several connections at the same time."""
    barrier, answers, errors = threading.Barrier(number), [], []

    def work(index):
        try:
            client = Client(world.site)
            # The handshake comes before the race.
            client.send("GET", "/v1/health")
            barrier.wait(30)
            answers.append(send(client, index))
        except Exception as error:
            errors.append(repr(error))
            barrier.abort()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise Failed(f"parallel requests failed: {errors[:3]}")
    return answers


def check_two_tabs(world, results):
    client, tabs = world.client, world.session("tabs")
    first, second = [client.send("GET", "/merchant/roll", tabs.headers) for _ in range(2)]
    results.expect(first.form_token == second.form_token == tabs.form_token, "two tabs have the same token")
    results.expect(first.form_key and second.form_key and first.form_key != second.form_key,
                   "two tabs have their own keys")
    rolls = world.site.count("SELECT count(*) FROM rolls WHERE ended_at IS NULL")
    for tab in [first, second]:
        done = client.form("/merchant/roll", {"idempotencyKey": tab.form_key}, tabs, token=tab.form_token)
        results.expect(done.status == 303, "both tabs can send their form", done.status)
    results.expect(world.site.count("SELECT count(*) FROM rolls WHERE ended_at IS NULL") == rolls,
                   "two tabs start no second roll")
    # Another invitation in one tab replaces the cookie of both; the form of the other tab is refused.
    newer = world.session("newer", OTHER)
    before = world.site.rows()
    done = client.form("/merchant/keys", {"idempotencyKey": first.form_key}, newer, token=first.form_token)
    results.expect(done.status == 403 and world.site.shows(done, "error", "formExpired", "title"),
                   "a form of the session before", done.status)
    results.expect(changed_tables(before, world.site.rows()) == [], "a form of the session before changes nothing")
    # Both cookies: the server cannot know which is meant.
    both = client.send("GET", "/merchant/keys", {"Cookie": f"{COOKIE}={tabs.cookie}; {COOKIE}={newer.cookie}"})
    results.expect(both.status == 401, "two cookies are no session", both.status)
    # Signing out in one tab ends the other.
    done = client.form("/sign-out", {}, tabs)
    results.expect(done.status == 200 and "Max-Age=0" in done.headers.get("Set-Cookie", ""),
                   "signing out ends the cookie")
    done = client.form("/merchant/roll", {"idempotencyKey": second.form_key}, tabs, token=second.form_token)
    results.expect(done.status == 401 and world.site.shows(done, "sessionEnded", "form"),
                   "the other tab shows that the session ended",
                   done.status)
    results.expect(client.form("/sign-out", {}, tabs).status == 403, "signing out again changes nothing")


def check_ended_session(world, results):
    """A session that ended while a person chose a file: the page says so, and nothing is stored."""
    client = world.client
    invitation = world.invitation()
    caller = open_link(client, "chooses", invitation["url"])
    world.site.ctl("invite", "revoke", invitation["invitationId"])
    signed_out = world.session("signed out")
    client.form("/sign-out", {}, signed_out)
    before = world.site.rows()
    for visitor in [caller, signed_out]:
        done = client.form("/merchant/certificates", {"certificate": world.certificate, "idempotencyKey": "x"}, visitor)
        results.expect(done.status == 401, "an upload after the end of the session", done.status)
        results.expect(world.site.shows(done, "sessionEnded", "upload") and world.site.shows(done, "sessionEnded", "action"),
                       "the page says that the file was not stored and what to do", done.text[:400])
        results.expect(not is_own(done.text), "the page shows nothing of the merchant")
    results.expect(changed_tables(before, world.site.rows()) == [], "the upload after the end stores nothing")


# Links

def check_once(world, results):
    """Of 20 people who use an invitation at the same time, exactly one gets a session."""
    client = world.client
    for round in range(5):
        invitation = world.invitation()
        path = path_of(invitation["url"])
        sessions = world.site.count("SELECT count(*) FROM portal_sessions")
        before = world.site.rows()
        for method in ["GET", "HEAD", "GET"]:
            shown = client.send(method, path)
            results.expect(shown.status == 200 and shown.cookie is None, f"{method} does not use the link",
                           shown.status)
        results.expect(changed_tables(before, world.site.rows()) == [], "opening a link changes nothing")
        answers = parallel(20, world, lambda each, _: each.form(path, {}, token=shown.form_token))
        statuses = sorted(answer.status for answer in answers)
        results.expect(statuses == [303] + [410] * 19, "one of 20 wins", statuses)
        cookies = {answer.cookie for answer in answers if answer.cookie}
        results.expect(len(cookies) == 1, "one session begins", len(cookies))
        results.expect(world.site.count("SELECT count(*) FROM portal_sessions") == sessions + 1,
                       "one session is stored")
        used = world.site.count(
            f"SELECT count(*) FROM audit WHERE action = 'invitationUsed' AND value_after LIKE '%{invitation['invitationId']}%'")
        results.expect(used == 1, "the audit has one use", used)
        refused = client.send("GET", path)
        results.expect(refused.status == 410 and world.site.shows(refused, "invitationRefused", "used", "title"),
                       "the used link's page", refused.status)
        session = Caller("winner", cookie=cookies.pop() if cookies else "x")
        results.expect(client.send("GET", "/merchant/keys", session.headers).status == 200, "the winner is signed in")
    revoked, expired = world.invitation(), world.site.ctl("invite", "create", OWN, "--expires", "1s")
    path = path_of(revoked["url"])
    token = client.send("GET", path).form_token
    world.site.ctl("invite", "revoke", revoked["invitationId"])
    refused = client.form(path, {}, token=token)
    results.expect(refused.status == 410 and world.site.shows(refused, "invitationRefused", "revoked", "title")
                   and not refused.cookie, "a revoked invitation", refused.status)
    path = path_of(expired["url"])
    wait_for("the end of an invitation", lambda: client.send("GET", path).status == 410)
    results.expect(world.site.shows(client.send("GET", path), "invitationRefused", "expired", "title"),
                   "an expired invitation says so")
    check_guessing(world, results)


def check_guessing(world, results):
    """One address cannot try many links or tokens, also with the right token of the form."""
    client = world.client
    for number, (what, path) in enumerate([("invitation", "/invitations/mki_"), ("login", "/login/mkl_")]):
        for method in ["GET", "POST"]:
            address = f"192.0.2.{10 + 2 * number + (method == 'POST')}"
            statuses = collections.Counter()
            for _ in range(30):
                target = path + "".join(random.choice("0123456789abcdef") for _ in range(46))
                headers = {"X-Forwarded-For": address}
                if method == "GET":
                    response = client.send("GET", target, headers)
                else:
                    response = client.form(target, {}, token=form_token_of(target.rsplit("/", 1)[1]), further=headers)
                statuses[response.status] += 1
            results.expect(statuses[429] >= 5 and statuses[429] + statuses[404] == 30,
                           f"{method} with unknown secrets of kind {what} is limited for each address", dict(statuses))
    tokens = collections.Counter(
        client.send("GET", f"/v1/merchants/{OWN}", {"Authorization": f"Bearer mka_{number:046}",
                                                   "X-Forwarded-For": "192.0.2.30"}).status for number in range(30))
    results.expect(tokens[429] >= 5 and tokens[401] + tokens[429] == 30, "wrong tokens are limited for each address",
                   dict(tokens))


def form_token_of(secret):
    """The token of the forms of a link, as an attacker can compute it who knows the sources."""
    return hmac.new(secret.encode(), b"form token", hashlib.sha256).hexdigest()


def check_login(world, results):
    """An operator's login works once, and for 60 seconds only."""
    client = world.client
    begin = time.monotonic()
    unused = world.site.ctl("console")
    created = time.monotonic()
    unused_path = path_of(unused["url"])
    token = client.send("GET", unused_path).form_token
    path = path_of(world.site.ctl("console")["url"])
    for method in ["GET", "HEAD", "GET"]:
        shown = client.send(method, path)
        results.expect(shown.status == 200 and shown.cookie is None, f"{method} does not use the login", shown.status)
    answers = parallel(20, world, lambda each, _: each.form(path, {}, token=shown.form_token))
    statuses = sorted(answer.status for answer in answers)
    results.expect(statuses == [303] + [404] * 19, "one of 20 wins", statuses)
    cookies = [answer.cookie for answer in answers if answer.cookie]
    results.expect(len(cookies) == 1, "one session begins", len(cookies))
    results.expect(client.send("GET", path).status == 404, "the used login's page")
    results.expect(client.send("GET", "/fleet", {"Cookie": f"{COOKIE}={cookies[0]}"}).status == 200,
                   "the winner is signed in")
    # An invitation's secret is no login, and the other way round.
    crossed = path_of(world.invitation()["url"]).replace("/invitations/", "/login/")
    results.expect(client.send("GET", crossed).status == 404, "an invitation's secret is no login")
    results.expect(client.send("GET", unused_path.replace("/login/", "/invitations/")).status == 404,
                   "a login's secret is no invitation")
    wait_for("the end of the login", lambda: client.send("GET", unused_path).status == 404, 75)
    results.expect(59 <= time.monotonic() - begin and time.monotonic() - created <= 63, "the login ends after 60 s",
                   round(time.monotonic() - created, 1))
    late = client.form(unused_path, {}, token=token)
    results.expect(late.status == 404 and late.cookie is None, "a login after 60 s begins no session", late.status)


CHECKS = {"routes": check_routes, "operators": check_operators, "others": check_others, "random": check_random,
          "forms": check_forms, "once": check_once, "login": check_login}


def main():
    check, programs, directory, repository = sys.argv[1:5]
    # The daemon must not survive the end of the test.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = Results()
    site = Site(programs, os.path.abspath(directory), repository)
    try:
        world = World(site)
        CHECKS[check](world, results, *map(int, sys.argv[5:6]))
        site.stop()
    except Failed as error:
        results.expect(False, "the check could not continue", str(error))
    finally:
        site.close()
    print(json.dumps({"check": check, "cases": results.cases, "failures": results.failures[:50],
                      "failureCount": len(results.failures), **results.notes}, indent=1))
    sys.exit(1 if results.failures else 0)


if __name__ == "__main__":
    main()
