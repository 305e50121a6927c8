"""Clients that decrypt, claim, revoke and add merchants on all daemons, and record what they were answered."""
import json, os, random, threading, time

from daemons import outcome
from network import run

KEYS = 3
TOKENS = 20


class Key:
    def __init__(self, hash, tokens):
        self.hash, self.tokens = hash, tokens
        self.path = hash.replace("+", "-").replace("/", "_").rstrip("=")


class Round:
    """A merchant with new keys and tokens. The clients use them while something fails."""

    def __init__(self, number, daemons, apple, work):
        self.number, self.daemons, self.work = number, daemons, work
        self.merchant = f"merchant.com.example.round{number}"
        self.history, self.lock, self.stopped = [], threading.Lock(), threading.Event()
        self.apple = apple
        self.merchants = 0

    def prepare(self):
        daemon = random.choice(self.daemons)
        daemon.control("merchant", "add", self.merchant, "--target", "0")
        self.keys = [self.make_key(daemon, index) for index in range(KEYS)]

    def make_key(self, daemon, index):
        path = os.path.join(self.work, f"round{self.number}-{index}")
        made = daemon.control("key", "generate", self.merchant, "--csr", f"{path}.csr")
        sandbox = f"{daemon.programs}/applepay-sandbox"
        # Certificates differ by the second in which their validity begins.
        time.sleep(1.05 - time.time() % 1)
        run(sandbox, "issue", "--csr", f"{path}.csr", "--merchant", self.merchant, "--out", f"{path}.cer", "--directory",
            self.apple)
        daemon.control("certificate", "upload", f"{path}.cer")
        run(sandbox, "mint-token", "--certificate", f"{path}.cer", "--out", f"{path}.tokens", "--count", TOKENS,
            "--directory", self.apple)
        with open(f"{path}.tokens") as lines:
            tokens = [json.loads(line)["paymentData"] for line in lines]
        for suffix in ("csr", "cer", "tokens"):
            os.remove(f"{path}.{suffix}")
        return Key(made["publicKeyHash"], [(f"{self.number}-{index}-{n}", token) for n, token in enumerate(tokens)])

    def start(self):
        jobs = [(job, daemon) for daemon in self.daemons for job in (self.use, self.claim, self.add)]
        self.threads = [threading.Thread(target=job, args=(daemon,)) for job, daemon in jobs]
        self.threads.append(threading.Thread(target=self.revoke))
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def record(self, kind, daemon, subject, ask, key=None):
        begin = time.monotonic()
        status, answer = ask()
        operation = {"kind": kind, "node": daemon.name, "subject": subject, "begin": begin, "end": time.monotonic(),
                     "outcome": outcome(status), "status": status, "code": answer.get("code")}
        if key:
            operation["key"] = key.hash
        with self.lock:
            self.history.append(operation)
        if operation["outcome"] == "unknown":
            self.stopped.wait(0.02)
        return operation

    def decrypt(self, daemon, token, claims):
        return daemon.ask("decryptor", "POST", "/v1/payment-tokens/decrypt", {
            "paymentData": token, "claim": claims, "expected": {"merchantIdentifier": self.merchant},
        })

    def use(self, daemon):
        while not self.stopped.is_set():
            key = random.choice(self.keys)
            number, token = random.choice(key.tokens)
            self.record("use", daemon, number, lambda: self.decrypt(daemon, token, False), key)

    def claim(self, daemon):
        remaining = [(key, number, token) for key in self.keys for number, token in key.tokens]
        random.shuffle(remaining)
        while remaining and not self.stopped.is_set():
            key, number, token = remaining.pop()
            self.record("claim", daemon, number, lambda: self.decrypt(daemon, token, True), key)
            self.stopped.wait(0.1)

    def add(self, daemon):
        while not self.stopped.is_set():
            with self.lock:
                self.merchants += 1
                name = f"{self.merchant}.m{self.merchants}"
            self.record("add", daemon, name, lambda: daemon.ask(
                "admin", "POST", "/v1/merchants", {"merchantIdentifier": name, "targetActiveKeyPairs": 0}))
            self.stopped.wait(0.05)

    def revoke(self):
        for key in self.keys[:-1]:
            self.stopped.wait(random.uniform(0, 6))
            if self.stopped.is_set():
                return
            daemon = random.choice(self.daemons)
            self.record("revoke", daemon, key.hash, lambda: daemon.ask(
                "admin", "POST", f"/v1/keys/{key.path}/revoke", {"reason": "compromised"}))

    def final(self):
        """What a daemon says when the faults have ended."""
        from history import Final
        daemon = random.choice(self.daemons)
        subjects = lambda kind: {o["subject"] for o in self.history if o["kind"] == kind and o["outcome"] == "done"}
        merchants = {name for name in subjects("add") if daemon.ask("admin", "GET", f"/v1/merchants/{name}")[0] == 200}
        states = {key.hash: daemon.ask("admin", "GET", f"/v1/keys/{key.path}")[1].get("state") for key in self.keys}
        tokens = {number: token for key in self.keys for number, token in key.tokens}
        # A revoked key hides whether the token is claimed: such tokens count as claimed.
        hidden = {number for key in self.keys if states[key.hash] == "revoked" for number, _ in key.tokens}
        claimed = {number for number in subjects("claim") - hidden
                   if self.decrypt(random.choice(self.daemons), tokens[number], True)[1].get("code") == "tokenAlreadyClaimed"}
        claimed |= hidden
        return Final(merchants, {hash for hash, state in states.items() if state == "revoked"}, claimed, set())

    def longest_outage(self, nodes):
        """The longest time between two responses with a known outcome on one node, in seconds."""
        longest = 0
        for node in nodes:
            answered = sorted(o["end"] for o in self.history
                              if o["node"] == node and o["kind"] == "use" and o["outcome"] != "unknown")
            longest = max([longest, *(b - a for a, b in zip(answered, answered[1:]))])
        return longest
