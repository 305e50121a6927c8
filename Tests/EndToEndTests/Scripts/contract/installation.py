"""A daemon in a temporary directory, with the sandbox's gateway in Apple's place."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

MERCHANT, INTEGRATOR = "merchant.com.example.contract", "platformintegrator.com.example"
PERMITS = [
    "resolve", "symmetricKey", "decrypt", "decryptUnverified", "judgeAtOtherTime", "exportPrivateKey", "provision", "monitor", "read",
    "administer", "merchantSession"]


class Installation:
    """A daemon and the sandbox's gateway, with an integrator and a merchant. Each has a key pair with a certificate."""

    def __init__(self, programs):
        self.programs = programs
        self.directory = tempfile.mkdtemp(prefix="merchantkeyd-contract.")
        self.processes = []

    def path(self, name):
        return f"{self.directory}/{name}"

    def start(self, name, *command):
        with open(self.path(f"{name}.log"), "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append(process)
        return process

    def wait(self, process, name, condition):
        end = time.monotonic() + 30
        while not condition():
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"error: {name} did not start: {open(self.path(f'{name}.log')).read()}")
            time.sleep(0.05)

    def run(self, program, *arguments):
        done = subprocess.run([f"{self.programs}/{program}", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"error: {program} {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def ctl(self, *arguments):
        return self.run("merchantkeyctl", "--socket", self.path("state/admin.sock"), *arguments)

    def begin(self):
        """Starts both programs and creates the records. Returns the merchant's publicKeyHash in Base64url."""
        apple = self.path("apple")
        os.mkdir(apple)
        self.run("applepay-sandbox", "init", "--directory", apple)
        self.run("applepay-sandbox", "issue-server", "--directory", apple, "--certificate", self.path("portal.pem"), "--private-key",
                 self.path("portal.key"), "--name", "localhost")
        gateway = self.start(
            "gateway", f"{self.programs}/applepay-sandbox", "serve", "--directory", apple, "--slow-seconds", "0.3",
            "--control", self.path("control.sock"), "--resolve", "shop.example.com=127.0.0.1:1")
        self.wait(gateway, "gateway", lambda: "\n" in open(self.path("gateway.log")).read())
        self.run("applepay-sandbox", "provisioning-certificates", "--directory", apple, "--request", self.path("wallet.json"))
        url = open(self.path("gateway.log")).readline().strip()
        with open(self.path("merchantkeyd.yaml"), "w") as file:
            file.write(
                f"environment: sandbox\napple:\n  gateway:\n    url: {url}\n    trust-roots: [{apple}/root.pem]\n"
                f"callers:\n  - {{uid: {os.getuid()}, permits: [{', '.join(PERMITS)}]}}\n"
                f"trust:\n  token-roots: [{apple}/root.pem]\n"
                f"provisioning:\n  trust-roots: [{apple}/root.pem]\n"
                "portal:\n  listen: 127.0.0.1:0\n"
                f"  tls: {{certificate: {self.path('portal.pem')}, private-key: {self.path('portal.key')}}}\n")
        os.mkdir(self.path("state"), 0o700)
        daemon = self.start(
            "daemon", f"{self.programs}/merchantkeyd", "--config", self.path("merchantkeyd.yaml"), "--state-directory", self.path("state"))
        self.wait(daemon, "daemon", lambda: "portalURL" in self.status())
        for merchant in (INTEGRATOR, MERCHANT):
            self.ctl("merchant", "add", merchant)
        self.certified_key(INTEGRATOR, "identity")
        key = self.certified_key(MERCHANT, "paymentProcessing")
        with open(self.path("association"), "w") as file:
            file.write("the integrator's file")
        self.ctl("domain", "file", "--set", self.path("association"))
        self.run("applepay-sandbox", "mint-token", "--directory", apple, "--certificate", self.path("paymentProcessing.cer"), "--out",
                 self.path("token.json"))
        os.mkdir(self.path("backups"))
        return key

    def card(self):
        """Writes a request to encrypt a card, with what Wallet passes to an app. Returns its path."""
        with open(self.path("wallet.json")) as file:
            request = json.load(file)
        request |= {
            "configuration": 1, "network": "Mastercard", "activationData": "T1RQLTEyMw==",
            "card": {
                "primaryAccountNumber": "5204240250000002", "expiration": "12/49", "name": "Alex Example", "productType": "MCD"}}
        with open(self.path("card.json"), "w") as file:
            json.dump(request, file)
        return self.path("card.json")

    def fill(self):
        """Creates a registration, an access, an invitation and a roll. Returns the parameters that name them."""
        self.ctl("registration", "register", "shop-4711", "--name", "Shop", "--domain", "shop.example.com", "--merchant", MERCHANT)
        self.ctl("access", "create", "shop-portal", "--permit", "onboard", "--merchant", MERCHANT)
        invitation = json.loads(self.ctl("--output", "json", "invite", "create", MERCHANT))
        roll = json.loads(self.ctl("--output", "json", "roll", "start", MERCHANT))
        return [
            "partnerInternalMerchantIdentifier=shop-4711", "accessName=shop-portal", f"invitationId={invitation['invitationId']}",
            f"rollId={roll['rollId']}"]

    def status(self):
        socket = self.path("state/admin.sock")
        done = subprocess.run(
            [f"{self.programs}/merchantkeyctl", "--socket", socket, "status", "--output", "json"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        return done.stdout

    def certified_key(self, merchant, purpose):
        csr, certificate = self.path(f"{purpose}.csr"), self.path(f"{purpose}.cer")
        key = json.loads(self.ctl("--output", "json", "key", "generate", merchant, "--csr", csr, "--purpose", purpose))
        options = ["--purpose", purpose] if purpose == "identity" else []
        self.run("applepay-sandbox", "issue", "--csr", csr, "--merchant", merchant, "--out", certificate, "--directory",
                 self.path("apple"), *options)
        self.ctl("certificate", "upload", certificate)
        return key["publicKeyHash"].translate(str.maketrans("+/", "-_", "="))

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.directory)
