"""A merchant's web site that serves the given file as its domain verification file. Prints its port."""
import http.server
import ssl
import sys

certificate, private_key, file = sys.argv[1:]
with open(file, "rb") as opened:
    body = opened.read()


class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        found = self.path == "/.well-known/apple-developer-merchantid-domain-association"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(body)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, private_key)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
