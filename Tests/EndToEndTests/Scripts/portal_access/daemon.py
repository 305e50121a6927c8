"""The daemon and the sandbox's gateway, as the checks run them, and the rows of the daemon's database."""
import collections
import html
import json
import os
import signal
import sqlite3
import ssl
import subprocess

from client import Client
from names import CHECKED_DOMAINS, INTEGRATOR, OWN_DOMAIN
from results import Failed, wait_for


class Site:
    """The daemon with its portal, the sandbox's gateway, and a web site that serves the domains' verification file."""

    def __init__(self, programs, directory, repository):
        self.programs, self.directory, self.repository = programs, directory, repository
        self.daemon = self.gateway = self.shop = None
        self.limits = {"requests-per-minute-by-token": 1_000_000, "requests-per-minute-by-address": 1_000_000}
        # The kernel chooses the port of the first start. Later starts use it again, so that links stay valid.
        self.port = 0
        os.makedirs(self.path("apple"), exist_ok=True)
        # The name of the portal's certificate and key files, without their extensions.
        self.tls = "portal"
        self.create_certificate()
        self.texts = json.load(open(f"{repository}/Sources/PortalServer/Pages/Resources/texts.json"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def shows(self, response, *name):
        """Whether a page contains the text that has this name in texts.json."""
        text = self.texts
        for part in name:
            text = text[part]
        return text in html.unescape(response.text)

    def create_certificate(self):
        """Creates the portal's certificate. Clients without a certificate of their own trust it from now on."""
        certificate, key = self.path(f"{self.tls}.pem"), self.path(f"{self.tls}.key")
        self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=portal", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        os.chmod(key, 0o600)
        self.context = ssl.create_default_context(cafile=certificate)

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

    def start_shop(self):
        """Starts the web site of the domains that the forms register. The portal registers a domain only if its check
        passes."""
        with open(self.path("association"), "w") as file:
            file.write("association")
        names = [option for name in CHECKED_DOMAINS for option in ["--name", name]]
        self.apple("issue-server", "--certificate", self.path("shop.pem"), "--private-key", self.path("shop.key"), *names)
        self.shop = subprocess.Popen(
            ["python3", f"{self.repository}/Tests/MerchantTestSupport/Scripts/site.py", self.path("shop.pem"),
             self.path("shop.key"), self.path("association")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.shop_port = self.shop.stdout.readline().strip()
        if not self.shop_port:
            raise Failed("the web site of the domains did not start")

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
        """Writes the settings file. With None, the setting `callers` keeps its default."""
        settings = {
            "environment": "sandbox",
            "log": {"level": "warning"},
            "trust": {"token-roots": [self.path("apple/root.pem")],
                      "certificate-issuers": [self.path("apple/processing-issuer.pem"), self.path("apple/root.pem")]},
            "apple": {"gateway": {"url": self.gateway_url, "trust-roots": [self.path("apple/root.pem")],
                                  "identity": {"certificate": self.path("identity.pem"),
                                               "private-key": self.path("identity.key")}}},
            "domain-check": {"allow-internal-addresses": True, "trust-roots": [self.path("apple/root.pem")],
                             "resolve": [f"{OWN_DOMAIN}=127.0.0.1:9"]
                             + [f"{name}=127.0.0.1:{self.shop_port}" for name in CHECKED_DOMAINS]},
            "portal": {"listen": f"127.0.0.1:{self.port}",
                       "tls": {"certificate": self.path(f"{self.tls}.pem"), "private-key": self.path(f"{self.tls}.key"),
                               "client-ca": self.path("ca.pem")},
                       "trusted-proxies": ["127.0.0.1"],
                       "limits": self.limits},
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
        """Reads the portal's URL and port. Returns whether the portal listens."""
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
        for process in [self.daemon, self.gateway, self.shop]:
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
# The row counters of the tables above, and the daemon's confirmed time.
UNCOMPARED_ROWS = {("sqlite_sequence", "audit"), ("sqlite_sequence", "idempotency_keys"),
                   ("daemon_values", "confirmedTime")}


def changed_tables(before, after):
    changes = []
    for table in sorted(set(before) | set(after)):
        old, new = collections.Counter(before.get(table, [])), collections.Counter(after.get(table, []))
        if old != new:
            changes.append(f"{table}: removed {list((old - new))[:3]}, added {list((new - old))[:3]}")
    return changes
