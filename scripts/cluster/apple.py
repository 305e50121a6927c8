"""The sandbox, which stands in for Apple: it issues certificates and mints payment tokens."""
import json, os, tempfile, threading, time

from network import run


class Apple:
    def __init__(self, programs, work):
        self.program, self.directory = f"{programs}/applepay-sandbox", os.path.join(work, "apple")
        self.lock, self.last = threading.Lock(), time.time() - 86_400
        run(self.program, "init", "--directory", self.directory)

    def certificate(self, csr, merchant):
        """A certificate that begins a second after the one before, so that each one is newer."""
        with self.lock:
            self.last += 1
            begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.last))
        with tempfile.TemporaryDirectory() as files:
            with open(f"{files}/csr", "w") as file:
                file.write(csr)
            run(self.program, "issue", "--csr", f"{files}/csr", "--merchant", merchant, "--out", f"{files}/cer",
                "--not-before", begin, "--directory", self.directory)
            with open(f"{files}/cer", "rb") as file:
                return file.read()

    def tokens(self, certificate, count):
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate)
            file.flush()
            lines = run(self.program, "mint-token", "--certificate", file.name, "--count", count, "--directory",
                        self.directory)
        return [json.loads(line)["paymentData"] for line in lines.splitlines()]
