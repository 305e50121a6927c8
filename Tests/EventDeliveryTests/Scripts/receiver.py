"""A webhook receiver over TLS: responds as the file `mode` says, and records every request in `got.jsonl`.

Usage: receiver.py DIRECTORY PORT. DIRECTORY holds tls.pem (certificate and key) and secret; `port` is written there.
Modes: ok, fail, hang, reset, redirect, flood, slow; `fail MERCHANT` fails that merchant's events alone.
"""
import hashlib
import hmac
import http.server
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

directory, port = sys.argv[1], int(sys.argv[2])
lock = threading.Lock()


def read(name):
    with open(os.path.join(directory, name)) as file:
        return file.read()


def signatures_hold(header, body):
    """Whether the header has a valid HMAC for each secret of the file, and no other."""
    parts = [part.split("=", 1) for part in header.split(",")]
    time_sent = [value for name, value in parts if name == "t"][0]
    found = [value for name, value in parts if name == "v1"]
    wanted = [
        hmac.new(secret.encode(), time_sent.encode() + b"." + body, hashlib.sha256).hexdigest()
        for secret in read("secret").splitlines()
    ]
    return len(found) == len(wanted) and all(hmac.compare_digest(a, b) for a, b in zip(found, wanted))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        event = json.loads(body)
        mode = read("mode").strip()
        if mode.startswith("fail "):
            mode = "fail" if event.get("merchantIdentifier") == mode[5:] else "ok"
        note = {
            "mode": mode,
            "path": self.path,
            "host": self.headers["Host"],
            "valid": signatures_hold(self.headers["Merchantkeyd-Signature"], body),
            "signature": self.headers["Merchantkeyd-Signature"],
            "type": self.headers["Content-Type"],
            "event": event,
        }
        with lock, open(os.path.join(directory, "got.jsonl"), "a") as file:
            file.write(json.dumps(note) + "\n")
        if mode == "hang":
            time.sleep(3)
            self.close_connection = True
        elif mode == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            os.close(self.connection.detach())
        elif mode == "flood":
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass
        else:
            if mode == "slow":
                time.sleep(1.5)
            self.send_response({"fail": 500, "redirect": 302}.get(mode, 204))
            if mode == "redirect":
                self.send_header("Location", "https://localhost:%d/elsewhere" % self.server.server_port)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(directory, "tls.pem"))
server = Server(("127.0.0.1", port), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(os.path.join(directory, "port.new"), "w") as file:
    file.write(str(server.server_port))
os.rename(os.path.join(directory, "port.new"), os.path.join(directory, "port"))
server.serve_forever()
