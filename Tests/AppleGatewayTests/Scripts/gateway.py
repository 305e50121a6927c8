"""Apple's Web Merchant Registration API, and merchant sessions, on Python's http.server and ssl: a second, independent server for the client.

Prints its port. Client certificates are required and verified in TLS, unlike in the sandbox.
"""
import argparse
import hashlib
import http.server
import json
import ssl
import threading
import urllib.parse

arguments = argparse.ArgumentParser()
arguments.add_argument("--certificate", required=True)
arguments.add_argument("--private-key", required=True)
arguments.add_argument("--client-ca", required=True)
arguments.add_argument("--newest-tls", default="1.3", choices=["1.2", "1.3"])
arguments.add_argument("--integer-codes", action="store_true")
options = arguments.parse_args()

merchants = {}
lock = threading.Lock()


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, document=None):
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Keystone-CorrelationId", "python-1")
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        if options.integer_codes:
            self.answer(status, {"errorMessage": message, "statusCode": status, "subStatusCode": 7})
        else:
            self.answer(status, {"statusMessage": message, "statusCode": str(status)})

    def do_GET(self):
        prefix = "/paymentservices/merchant/"
        if not self.path.startswith(prefix):
            return self.refuse(404, "no such path")
        merchant = merchants.get(urllib.parse.unquote(self.path[len(prefix):]))
        if merchant is None:
            return self.refuse(400, "Payment Services Exception invalid or Malformed Json Received")
        self.answer(200, {
            "partnerInternalMerchantIdentifier": merchant["partnerInternalMerchantIdentifier"],
            "partnerMerchantName": merchant["partnerMerchantName"],
            "domainNames": merchant["domainNames"],
            "encryptTo": hashlib.sha256(merchant["encryptTo"].encode()).hexdigest().upper(),
            "partnerMerchantValidationURI": "/.well-known/apple-developer-merchantid-domain-association",
            "delegatedCommerce": {"enabled": True, "more": [1, None, {}]},
        })

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        if self.headers["Content-Type"] != "application/json":
            return self.refuse(400, "wrong Content-Type")
        if self.path == "/paymentservices/paymentSession":
            if set(body) != {"merchantIdentifier", "displayName", "initiative", "initiativeContext"}:
                return self.refuse(400, "unknown field")
            # Apple's sessions are opaque, so the client must not read or change this one.
            return self.answer(200, {"merchantIdentifier": body["merchantIdentifier"], "nonce": "\u00e9\n", "more": [1.50]})
        identifier, domains = body["partnerInternalMerchantIdentifier"], body["domainNames"]
        with lock:
            known = merchants.get(identifier)
            if self.path == "/paymentservices/registerMerchant":
                allowed = {"domainNames", "encryptTo", "merchantUrl", "partnerInternalMerchantIdentifier",
                           "partnerMerchantName"}
                if not set(body) <= allowed or not all(isinstance(d, str) for d in domains):
                    return self.refuse(400, "unknown field")
                merged = (known["domainNames"] if known else []) + domains
                body["domainNames"] = list(dict.fromkeys(merged))
                merchants[identifier] = body
                return self.answer(200)
            if self.path == "/paymentservices/unregisterMerchant":
                if set(body) != {"domainNames", "partnerInternalMerchantIdentifier", "reason"} or known is None:
                    return self.refuse(400, "not registered")
                known["domainNames"] = [d for d in known["domainNames"] if d not in domains]
                if not known["domainNames"]:
                    del merchants[identifier]
                return self.answer(200)
        self.refuse(404, "no such path")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.minimum_version = ssl.TLSVersion.TLSv1_2
context.maximum_version = ssl.TLSVersion.TLSv1_2 if options.newest_tls == "1.2" else ssl.TLSVersion.TLSv1_3
context.load_cert_chain(options.certificate, options.private_key)
context.load_verify_locations(options.client_ca)
context.verify_mode = ssl.CERT_REQUIRED
server = Server(("127.0.0.1", 0), Gateway)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
