"""Plays a merchant's server for notifications of merchant tokens, over TLS.

usage: notification_receiver.py CERTIFICATE PRIVATE_KEY LOG STATUS [STATUS ...]
Prints its port. Responds with the statuses in turn, the last one for ever, and writes each request's path to LOG.
"""
import http.server
import ssl
import sys

certificate, private_key, log, *statuses = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = int(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        with open(log, "a") as file:
            file.write(f"{self.path}\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, private_key)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
