"""A webhook that records each delivery. It is a program: python3 webhook.py ADDRESS CERTIFICATE KEY SECRET FILE

Writes one line of JSON for each request into FILE. To make the daemons repeat events, some requests get a late
response, no response, or the status 503.
"""
import hashlib, hmac, http.server, json, os, random, socketserver, ssl, sys, threading, time

from network import kill

PORT = 8443


def is_genuine(header, body, secret):
    """Checks the signature of a request, as docs/events.md describes it."""
    fields = [field.split("=", 1) for field in header.split(",")]
    t = next(value for name, value in fields if name == "t")
    expected = hmac.new(secret, t.encode() + b"." + body, hashlib.sha256).hexdigest()
    genuine = any(hmac.compare_digest(expected, value) for name, value in fields if name == "v1")
    return genuine and abs(time.time() - int(t)) < 300


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        delivery = {"kind": "delivery", "node": self.client_address[0], "subject": json.loads(body)["id"],
                    "begin": time.monotonic(), "body": body.decode(), "outcome": "done",
                    "genuine": is_genuine(self.headers["Merchantkeyd-Signature"], body, self.server.secret)}
        chance = random.random()
        if chance < 0.1:
            time.sleep(random.uniform(0, 0.5))
        # An acknowledgement cannot arrive at the daemon before this time.
        delivery["end"] = time.monotonic()
        if chance < 0.015:
            delivery["outcome"] = "unknown"
            self.close_connection = True
        else:
            delivery["outcome"] = "refused" if chance < 0.03 else "done"
            self.send_response(503 if chance < 0.03 else 200)
            self.send_header("Content-Length", "0")
            try:
                self.end_headers()
            except OSError:
                delivery["outcome"] = "unknown"
        self.server.record(delivery)

    def log_message(self, *arguments):
        pass


class Receiver(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, certificate, key, secret, file):
        super().__init__((address, PORT), Handler)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        with open(secret, "rb") as text:
            self.secret = text.read().strip()
        self.file, self.lock = open(file, "a"), threading.Lock()

    def get_request(self):
        connection, address = super().get_request()
        # The handshake begins with the first read in the thread of the connection. So a frozen daemon does not block
        # the deliveries of the others.
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def record(self, delivery):
        with self.lock:
            print(json.dumps(delivery), file=self.file, flush=True)

    def handle_error(self, request, address):
        # A daemon that was killed or cut off leaves connections that fail.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, address)


class Webhook:
    """The running program, on a machine of its own, and what it has recorded."""

    def __init__(self, machine, work, certificates, names):
        """- Parameter names: the names of the daemons by their addresses."""
        self.file, self.log, self.names = os.path.join(work, "deliveries"), os.path.join(work, "webhook.log"), names
        self.secret = os.path.join(work, "webhook.secret")
        self.root = os.path.join(certificates, "ca.pem")
        self.url = f"https://{machine.address}:{PORT}/"
        with open(self.secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as secret:
            secret.write(os.urandom(16).hex())
        self.process = machine.start(self.log, sys.executable, "-B", __file__, machine.address,
                                     f"{certificates}/server.pem", f"{certificates}/server.key", self.secret, self.file)
        self.offset, self.deliveries = 0, []

    def read(self):
        """All deliveries until now."""
        if self.process.poll() is not None:
            raise RuntimeError(f"the webhook has ended, see {self.log}")
        if os.path.exists(self.file):
            with open(self.file, "rb") as lines:
                lines.seek(self.offset)
                for line in lines:
                    # The last line may be incomplete.
                    if not line.endswith(b"\n"):
                        break
                    self.offset += len(line)
                    delivery = json.loads(line)
                    self.deliveries.append({**delivery, "node": self.names[delivery["node"]]})
        return list(self.deliveries)

    def close(self):
        kill(self.process)


if __name__ == "__main__":
    Receiver(*sys.argv[1:]).serve_forever()
