"""Clients that decrypt, claim, revoke, roll and add merchants on all daemons, and record the responses."""
import random, threading, time

from daemons import outcome
from history import changes, done, revocations, states

# In each slot of this many seconds, the clients on all daemons claim the same token.
SLOT = 0.15
KEYS, TOKENS, CLAIMED_TOKENS = 3, 10, 80


class Key:
    def __init__(self, hash, merchant, tokens):
        self.hash, self.merchant, self.tokens = hash, merchant, tokens


def key_path(hash):
    return "/v1/keys/" + hash.replace("+", "-").replace("/", "_").rstrip("=")


def path(subject):
    """Where a daemon shows the state of a subject of the history."""
    if subject.startswith("roll/"):
        return f"/v1/rolls/{subject.removeprefix('roll/')}"
    return f"/v1/merchants/{subject}" if subject.startswith("merchant.") else key_path(subject)


class Round:
    """Two merchants with new keys and tokens: one whose keys are revoked, and one whose keys are rolled."""

    def __init__(self, number, cluster):
        self.number, self.daemons, self.apple = number, cluster.daemons, cluster.apple
        self.merchant, self.rolling = (f"merchant.com.example.round{number}.{part}" for part in ("revoke", "roll"))
        self.identifiers = {self.merchant, self.rolling}
        self.history, self.lock, self.stopped = [], threading.Lock(), threading.Event()
        self.merchants, self.threads, self.fault = 0, [], None

    def prepare(self):
        """Call this while nothing fails."""
        for merchant in [self.merchant, self.rolling]:
            self.add_merchant(merchant)
        # The first key stays, and its tokens are claimed. The other keys are revoked.
        self.lasting = self.make_key(self.merchant, CLAIMED_TOKENS)
        self.keys = [self.lasting, *(self.make_key(self.merchant, TOKENS) for _ in range(KEYS))]
        self.rolled = self.make_key(self.rolling, TOKENS)
        self.keys.append(self.rolled)
        self.change("promote", self.rolled.hash, f"{key_path(self.rolled.hash)}/promote")
        self.preferred = self.keys[1]

    def make_key(self, merchant, tokens):
        while True:
            status, made = random.choice(self.daemons).ask("admin", "POST", f"/v1/merchants/{merchant}/keys", {})
            if status == 201:
                return self.certify(made["publicKeyHash"], made["csr"], merchant, tokens)
            time.sleep(0.1)

    def certify(self, hash, csr, merchant, count):
        """Returns the key; None if it is not known whether the certificate was stored."""
        certificate = self.apple.certificate(csr, merchant)
        if not self.change("certify", hash, "/v1/certificates", certificate)[0]:
            return None
        tokens = self.apple.tokens(certificate, count)
        return Key(hash, merchant, [(f"{hash[:8]}-{number}", token) for number, token in enumerate(tokens)])

    def start(self, fault):
        self.fault, self.began = fault, time.monotonic()
        for daemon in self.daemons:
            for client in (self.use_lasting, self.use, self.use_more, self.claim, self.add):
                self.run(client, daemon)
        self.run(self.roll)
        self.revoker = self.run(self.revoke)

    def run(self, client, *arguments):
        thread = threading.Thread(target=client, args=arguments)
        self.threads.append(thread)
        thread.start()
        return thread

    def stop(self):
        """Stops the clients some time after the repair, when the last key was revoked."""
        self.stopped.wait(random.uniform(0.5, 1))
        self.revoker.join(5)
        self.stopped.set()
        # A client can start further threads until it has ended.
        for thread in self.threads:
            thread.join()
        self.ended = time.monotonic()

    # MARK: - Requests

    def record(self, kind, daemon, subject, ask, **details):
        begin = time.monotonic()
        status, answer = ask()
        operation = {"kind": kind, "node": daemon.name, "subject": subject, "begin": begin, "end": time.monotonic(),
                     "outcome": outcome(status), "status": status, "code": answer.get("code"), **details}
        if kind == "start" and operation["outcome"] == "done":
            operation |= {"subject": f'roll/{answer["rollId"]}', "key": answer["to"]}
        if kind == "read" and (operation["outcome"] == "done" or status == 404):
            operation |= {"outcome": "done", "state": "absent" if status == 404 else answer.get("state", "present")}
        with self.lock:
            self.history.append(operation)
        return operation, answer

    def change(self, kind, subject, path, body=None, daemons=None, **details):
        """Asks for a change, and repeats the request until a response reports the outcome, or the round ends.

        Returns whether the change was done, and the response.
        """
        while True:
            daemon = random.choice(daemons or self.daemons)
            operation, answer = self.record(kind, daemon, subject, lambda: daemon.ask(
                "admin", "POST", path, body or {}), **details)
            if operation["outcome"] != "unknown" or self.stopped.wait(0.05):
                return operation["outcome"] == "done", answer

    def read(self, daemon, subject):
        return self.record("read", daemon, subject, lambda: daemon.ask("admin", "GET", path(subject)))

    def decrypt(self, kind, daemon, key, number, token):
        return self.record(kind, daemon, number, lambda: daemon.ask("decryptor", "POST", "/v1/payment-tokens/decrypt", {
            "paymentData": token, "claim": kind == "claim", "expected": {"merchantIdentifier": key.merchant},
        }), key=key.hash)

    # MARK: - Clients

    def use_lasting(self, daemon):
        """A decryptor that sends tokens for one key, which is in the daemon's memory."""
        while not self.stopped.wait(0.02):
            self.decrypt("use", daemon, self.lasting, *random.choice(self.lasting.tokens))

    def use_once(self, daemon):
        # At least half of the requests use the key that is being revoked, or the newest key of the roll.
        key = self.preferred if random.random() < 0.5 else random.choice(self.keys)
        self.decrypt("use", daemon, key, *random.choice(key.tokens))

    def use(self, daemon):
        while not self.stopped.wait(0.02):
            self.use_once(daemon)

    def use_more(self, daemon):
        """Sends requests also while the daemon does not respond, so that some are sent after a revocation was
        acknowledged."""
        while not self.stopped.wait(0.25):
            self.run(self.use_once, daemon)

    def claim(self, daemon):
        tokens, slot = self.lasting.tokens, 0
        while not self.stopped.wait(max(0, self.began + slot * SLOT - time.monotonic())):
            # Earlier tokens are claimed again.
            for number, token in [*tokens[slot:slot + 1], random.choice(tokens[:slot + 1])]:
                self.decrypt("claim", daemon, self.lasting, number, token)
            slot = max(slot, int((time.monotonic() - self.began) / SLOT)) + 1

    def add_merchant(self, name, daemons=None):
        merchant = {"merchantIdentifier": name, "targetActiveKeyPairs": 0}
        return self.change("add", name, "/v1/merchants", merchant, daemons)

    def add(self, daemon):
        while not self.stopped.wait(0.15):
            with self.lock:
                self.merchants += 1
                name = f"merchant.com.example.round{self.number}.m{self.merchants}"
            self.add_merchant(name, [daemon])
            self.read(random.choice(self.fault.healthy), name)

    def revoke(self):
        """Revokes a key before the fault, one while it lasts, and one after the repair."""
        for key, event in zip(self.keys[1:KEYS + 1], [None, self.fault.begun, self.fault.repaired]):
            if event:
                event.wait()
            self.preferred = key
            if self.stopped.wait(random.uniform(0, 0.3)):
                return
            self.change("revoke", key.hash, f"{key_path(key.hash)}/revoke", {"reason": "compromised"}, self.choose())
            self.stopped.wait(0.5)

    def choose(self):
        """Mostly the daemons that do not fail. A frozen daemon would delay the change until the end of the fault."""
        return self.fault.healthy if random.random() < 0.8 else self.daemons

    def roll(self):
        while not self.stopped.wait(random.uniform(0, 0.2)):
            started, roll = self.change("start", self.rolling, f"/v1/merchants/{self.rolling}/rolls", {},
                                        self.choose())
            key = started and self.certify_rolled(roll["to"])
            self.stopped.wait(random.uniform(0, 0.2))
            if not key or not self.change("promote", key.hash, f"{key_path(key.hash)}/promote", {}, self.choose())[0]:
                return
            self.change("finish", f'roll/{roll["rollId"]}', f'/v1/rolls/{roll["rollId"]}/finish',
                        {"now": True, "reason": "rolled by the cluster test"}, self.choose(), key=self.rolled.hash)
            self.rolled = key

    def certify_rolled(self, hash):
        while not self.stopped.is_set():
            operation, answer = self.read(random.choice(self.fault.healthy), hash)
            if operation["outcome"] == "done" and "csr" in answer:
                key = self.certify(hash, answer["csr"], self.rolling, TOKENS)
                if key:
                    self.keys.append(key)
                    self.preferred = key
                return key
            self.stopped.wait(0.05)

    # MARK: - After the fault

    def read_back(self):
        """Reads every change on every daemon, and claims the claimed tokens again. Call this when all are healthy."""
        subjects = {subject for change in changes(self.history) for subject, _ in states(change)}
        hidden = {key for operation, key in revocations(self.history)}
        claimed = {claim["subject"] for claim in done(self.history, "claim") if claim["key"] not in hidden}
        tokens = [(number, token) for number, token in self.lasting.tokens if number in claimed]

        def ask(daemon):
            for subject in subjects:
                self.read(daemon, subject)
            for number, token in tokens:
                self.decrypt("claim", daemon, self.lasting, number, token)

        readers = [threading.Thread(target=ask, args=(daemon,)) for daemon in self.daemons]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
