"""Random requests by callers outside their scope."""
import collections
import random
import re
import secrets
import threading
import time
import urllib.parse

from client import Client, encoded, random_address
from daemon import changed_tables
from names import FORM, JSON_TYPE, OTHER, OWN, OWN_NAME, OWN_NOTE
from page_table import page_table
from results import wait_for
from rest_table import CHECKOUT_SERVERS, FOREIGN, READERS, rest_table

PUBLIC = re.compile(r"/(|assets/.*|invitations/.*|login/.*|sign-out|v1/health|v1/openapi\.yaml|\.well-known/[a-z-]+|tokenapi/.*)")
# Requests that concern no merchant, for callers who have the permit for another merchant.
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
        """The path in a spelling that could confuse a router or the check of a prefix."""
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
            caller.name == "invitation session of another merchant" and OWN_PAGES.fullmatch(plain) and method in ["GET", "HEAD"]
            ) or (caller.name in CHECKOUT_SERVERS and plain == "/v1/merchant-sessions")
        statistics[response.status] += 1
        refused = response.status in [301, 308, 400, 401, 403, 404, 405, 409, 411, 413, 414, 415, 422, 431]
        results.expect(refused or (bool(is_permitted) and response.status in [200, 304, 303]), case,
                       f"{response.status} {response.text[:300]}")
        # A page or a problem repeats what the request contains, but no other text of the merchant.
        # The contract has examples of certificates.
        has_certificate = "BEGIN CERTIFICATE" in response.text and plain != "/v1/openapi.yaml"
        results.expect(OWN_NAME not in response.text and OWN_NOTE not in response.text and not has_certificate,
                       f"{case} shows nothing", response.text[:300])


def check_random(world, results, count):
    callers = {**world.machines(), **world.people()}
    outside = [caller for name, caller in callers.items() if name not in READERS]
    table, pages = rest_table(world), page_table(world)
    documented = set()
    path = None
    for line in open(f"{world.site.repository}/schema/openapi.yaml"):
        if match := re.match(r"  (/\S+):\s*$", line):
            path = match[1]
        elif line == "webhooks:\n":
            # The rest of the document describes no operation of the daemon.
            break
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
