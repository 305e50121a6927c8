"""A server in Apple's place, independent of the sandbox: registrations, merchant sessions and merchant tokens.

Uses only Python's standard library and the package cryptography. The routes, fields, limits and errors are those of Apple's
reference. Prints the port of the gateway. Client certificates are required and verified in TLS.

usage: apple_gateway.py --certificate FILE --private-key FILE --client-ca FILE --authority DIRECTORY --control SOCKET
       [--wrap-token-events]

DIRECTORY has the certificates and keys of the authority that signs encrypted metadata and payment tokens. The control
socket has these paths of the sandbox's: GET /sessions, GET and POST /merchant-tokens, POST /merchant-tokens/events,
GET /merchant-tokens/events/ID. It also has POST /payment-tokens, which mints a payment token.
"""
import argparse
import base64
import hashlib
import http.client
import http.server
import json
import os
import re
import socketserver
import ssl
import threading
import time
import urllib.parse
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import pkcs7

MERCHANT_HASH = x509.ObjectIdentifier("1.2.840.113635.100.6.32")
USER_ID = x509.NameOID.USER_ID
TOKEN_PATH = re.compile(r"/payment[sS]ervices/v1/merchantId/([^/]{1,64})/merchantToken/(?:event/([^/]+)|(\w+))")

merchants, sessions, tokens, events = {}, [], {}, {}
lock = threading.RLock()


class Refusal(Exception):
    """An error response. The registration and session APIs have other fields than the merchant token API."""

    def __init__(self, status, message, of_tokens=False):
        super().__init__(message)
        self.status = status
        self.document = ({"errorMessage": message, "statusCode": status, "subStatusCode": 1} if of_tokens else
                         {"statusMessage": message, "statusCode": str(status)})


def sha256_hex(text):
    return hashlib.sha256(text.encode()).hexdigest().upper()


def base64_text(data):
    return base64.b64encode(data).decode()


# --- merchant sessions

def session(body, client):
    limits = {"merchantIdentifier": 1024, "displayName": 64, "initiative": 64, "initiativeContext": 1024}
    for field, longest in limits.items():
        if not isinstance(body.get(field), str) or not 1 <= len(body[field].encode()) <= longest:
            raise Refusal(400, "Payment Services Exception invalid or Malformed Json Received")
    if not set(body) <= set(limits) | {"domainName"} or body["initiative"] not in ("web", "messaging", "in_app"):
        raise Refusal(400, "Payment Services Exception invalid or Malformed Json Received")
    identifier = body["merchantIdentifier"]
    hashed = sha256_hex(identifier)
    domain = {"web": body["initiativeContext"], "messaging": body.get("domainName")}.get(body["initiative"])
    registered = merchants.get(identifier)
    is_own = hashed == client["hash"] and not client["integrator"]
    if not is_own and (registered is None or registered["by"] != client["hash"]):
        raise Refusal(417, f"Payment Services Exception merchantId={client['hash']} unauthorized to process transactions "
                           f"on behalf of merchantId={hashed}")
    if registered and domain not in registered["domainNames"]:
        raise Refusal(400, f"Payment Services Exception merchantId={hashed} not registered for domain={domain}")
    now = int(time.time() * 1000)
    document = {
        "epochTimestamp": now, "expiresAt": now + 3_600_000,
        "merchantSessionIdentifier": f"SSH{uuid.uuid4().hex.upper()}_{hashed}", "nonce": os.urandom(4).hex(),
        "merchantIdentifier": hashed, "domainName": domain, "displayName": body["displayName"],
        "signature": os.urandom(512).hex(), "operationalAnalyticsIdentifier": f"{body['displayName']}:{hashed}",
        "retries": 0, "pspId": client["hash"],
    }
    # A client that parses and rewrites the object would lose this white space and these escapes.
    answer = json.dumps(document, indent=1, ensure_ascii=True).replace("/", "\\/") + "\n"
    with lock:
        sessions.append({**body, "clientMerchantHash": client["hash"].lower(), "session": answer})
    return 200, answer.encode()


# --- registrations

def register(body, client):
    with lock:
        known = merchants.setdefault(body["partnerInternalMerchantIdentifier"], {**body, "domainNames": []})
        known["by"] = client["hash"]
        known["domainNames"] = list(dict.fromkeys(known["domainNames"] + body["domainNames"]))
    return 200, b""


def details(identifier):
    merchant = merchants.get(identifier)
    if merchant is None:
        raise Refusal(400, "Payment Services Exception invalid or Malformed Json Received")
    return 200, json.dumps({
        "partnerInternalMerchantIdentifier": identifier, "partnerMerchantName": merchant["partnerMerchantName"],
        "domainNames": merchant["domainNames"], "encryptTo": sha256_hex(merchant["encryptTo"]),
        "partnerMerchantValidationURI": "/.well-known/apple-developer-merchantid-domain-association",
    }).encode()


# --- merchant tokens

def merchant_token_call(method, merchant, event, operation, headers, body, client):
    for name in ("Content-Type", "x-request-id"):
        if not headers[name]:
            raise Refusal(400, f"the header {name} is missing", True)
    allowed = client["integrator"] or sha256_hex(merchant) == client["hash"]
    if event is not None:
        known = events.get(event)
        if known is None or not allowed or known["merchantIdentifier"] != merchant:
            raise Refusal(400, "unknown event", True)
        with lock:
            known["fetches"] += 1
        return 200, known["response"].encode()
    if method != "POST":
        raise Refusal(400, "wrong method", True)
    token = tokens.get(body["merchantTokenIdentifier"])
    known = token is not None and token["merchantIdentifier"] == merchant
    if operation in ("unlink", "updateMerchantMetadata"):
        if not known or not allowed:
            raise Refusal(400, "unknown token", True)
        if operation == "unlink":
            token["state"] = "unlinked"
        else:
            url = body["merchantMetadata"]["tokenNotificationURL"]
            if len(url) > 256:
                raise Refusal(400, "the URL is too long", True)
            token["tokenNotificationURL"] = url
        return 204, b""
    if not allowed:
        raise Refusal(403, "not allowed", True)
    if not known:
        raise Refusal(404, "unknown token", True)
    if operation == "notify":
        token["usageNotifications"] += 1
        return 200, b""
    if operation == "publicKey":
        if not token.get("tokenNotificationURL"):
            raise Refusal(409, "set tokenNotificationURL first", True)
        return 200, json.dumps({"merchantTokenPublicKey": token["publicKey"], "statusCode": 200,
                                "supportedCiphersuite": "HPKE_AUTH_P384_SHA384_AES_GCM_256"}).encode()
    raise Refusal(404, "unknown operation", True)


# --- encryption and signatures of Apple's servers

def authority_file(name):
    with open(f"{options.authority}/{name}", "rb") as file:
        return file.read()


def signature(content):
    """A detached CMS signature by the token signer, with its intermediate certificate."""
    key = serialization.load_pem_private_key(authority_file("token-signer-ec.key.pem"), None)
    certificate = x509.load_pem_x509_certificate(authority_file("token-signer-ec.pem"))
    issuer = x509.load_pem_x509_certificate(authority_file("token-issuer.pem"))
    builder = (pkcs7.PKCS7SignatureBuilder().set_data(content).add_signer(certificate, key, hashes.SHA256())
               .add_certificate(issuer))
    flags = [pkcs7.PKCS7Options.DetachedSignature, pkcs7.PKCS7Options.Binary, pkcs7.PKCS7Options.NoCapabilities]
    return builder.sign(serialization.Encoding.DER, flags)


def encrypted(plaintext, certificate_file):
    """EC_v1: returns publicKeyHash, ephemeral public key and ciphertext with its tag."""
    with open(certificate_file, "rb") as file:
        certificate = x509.load_der_x509_certificate(file.read())
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    public_key = certificate.public_key()
    merchant = bytes.fromhex(certificate.extensions.get_extension_for_oid(MERCHANT_HASH).value.value[2:].decode())
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    secret = ephemeral.exchange(ec.ECDH(), public_key)
    key = hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCM" + b"Apple" + merchant).digest()
    encryptor = Cipher(algorithms.AES(key), modes.GCM(bytes(16))).encryptor()
    data = encryptor.update(plaintext.encode()) + encryptor.finalize() + encryptor.tag
    return hashlib.sha256(public_key.public_bytes(*form)).digest(), ephemeral.public_key().public_bytes(*form), data


def encrypted_metadata(order):
    metadata = {"expirationDate": order.get("expirationDate", "311231"), "mpan": order.get("mpan", "4111111111111111")}
    if "mpanId" in order:
        metadata["mpanId"] = order["mpanId"]
    key_hash, ephemeral, data = encrypted(json.dumps(metadata), order["certificate"])
    return {"data": base64_text(data), "ephemeralPublicKey": base64_text(ephemeral),
            "publicKeyHash": base64_text(key_hash), "signature": base64_text(signature(ephemeral + data))}


def payment_token(order):
    plaintext = json.dumps({
        "applicationPrimaryAccountNumber": "4111111111111111", "applicationExpirationDate": "311231",
        "currencyCode": "840", "transactionAmount": order.get("amount", 1000),
        "deviceManufacturerIdentifier": "040010030273", "paymentDataType": "3DSecure",
        "paymentData": {"onlinePaymentCryptogram": base64_text(os.urandom(20)), "eciIndicator": "7"},
        "merchantTokenIdentifier": order["merchantTokenIdentifier"],
        "merchantTokenMetadata": {"cardMetadata": {"cardCountry": "US", "fpanSuffix": "1111"}, "cardArt": []},
    })
    key_hash, ephemeral, data = encrypted(plaintext, order["certificate"])
    transaction = os.urandom(32)
    return {"paymentData": {
        "version": "EC_v1", "data": base64_text(data),
        "signature": base64_text(signature(ephemeral + data + transaction)),
        "header": {"ephemeralPublicKey": base64_text(ephemeral), "publicKeyHash": base64_text(key_hash),
                   "transactionId": transaction.hex()}},
        "paymentMethod": {"displayName": "Visa 1111", "network": "Visa", "type": "debit"},
        "transactionIdentifier": transaction.hex().upper()}


# --- notifications and the control socket

def notify(event):
    """Sends GET {tokenNotificationURL}/notification/merchantToken/{eventId} up to 4 times, until the status is 200."""
    url = urllib.parse.urlsplit(tokens[event["merchantTokenIdentifier"]]["tokenNotificationURL"])
    context = ssl.create_default_context(cafile=f"{options.authority}/root.pem")
    for _ in range(4):
        try:
            connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=10, context=context)
            connection.request("GET", f"{url.path.rstrip('/')}/notification/merchantToken/{event['eventId']}")
            result = str(connection.getresponse().status)
            connection.close()
        except OSError as error:
            result = str(error)
        with lock:
            event["notifications"].append(result)
        if result == "200":
            return


def store_token(order):
    with lock:
        token = tokens.setdefault(order["merchantTokenIdentifier"], {
            "merchantTokenIdentifier": order["merchantTokenIdentifier"],
            "merchantIdentifier": order["merchantIdentifier"], "state": "linked", "usageNotifications": 0,
            "publicKey": base64_text(ec.generate_private_key(ec.SECP384R1()).public_key().public_bytes(
                serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint))})
        if "tokenNotificationURL" in order:
            token["tokenNotificationURL"] = order["tokenNotificationURL"]


def create_event(order):
    store_token(order)
    response = {key: order[key] for key in ("eventType", "merchantTokenIdentifier", "merchantTokenMetadata")
                if key in order}
    response["reason"] = order.get("reason", "UNLINKDEVICE")
    if "encryptedMetadata" in order:
        # Apple does not publish the name of this field.
        response["encryptedData"] = encrypted_metadata(order["encryptedMetadata"])
    if order.get("wrapped", options.wrap_token_events):
        response = {"statusCode": 200, "merchantTokenEvent": response}
    event = {"eventId": str(uuid.uuid4()), "merchantIdentifier": order["merchantIdentifier"], "fetches": 0,
             "merchantTokenIdentifier": order["merchantTokenIdentifier"], "notifications": [],
             "response": json.dumps(response)}
    with lock:
        events[event["eventId"]] = event
    if order.get("notify", True) and tokens[order["merchantTokenIdentifier"]].get("tokenNotificationURL"):
        threading.Thread(target=notify, args=(event,), daemon=True).start()
    return {"eventId": event["eventId"]}


def control(method, path, body):
    if (method, path) == ("GET", "/sessions"):
        return 200, {"items": sessions}
    if (method, path) == ("GET", "/merchant-tokens"):
        return 200, {"items": list(tokens.values())}
    if (method, path) == ("POST", "/merchant-tokens"):
        store_token(body)
        return 200, {}
    if (method, path) == ("POST", "/merchant-tokens/events"):
        return 201, create_event(body)
    if (method, path) == ("POST", "/payment-tokens"):
        return 200, payment_token(body)
    if method == "GET" and path.startswith("/merchant-tokens/events/"):
        event = events.get(path.rsplit("/", 1)[1])
        return (200, event) if event else (404, {})
    return 404, {}


# --- the servers

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def address_string(self):
        return "client"  # a client of a Unix socket has no address

    def answer(self, status, body):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def do_GET(self):
        body = self.body()
        try:
            status, answer = self.carry_out(self.command, self.path, body)
        except Refusal as refusal:
            status, answer = refusal.status, json.dumps(refusal.document).encode()
        except (KeyError, TypeError, ValueError) as error:
            status, answer = 400, json.dumps({"statusMessage": f"malformed: {error}", "statusCode": "400"}).encode()
        self.answer(status, answer)

    do_POST = do_GET


class Gateway(Handler):
    def client(self):
        certificate = x509.load_der_x509_certificate(self.connection.getpeercert(binary_form=True))
        value = certificate.extensions.get_extension_for_oid(MERCHANT_HASH).value.value
        names = certificate.subject.get_attributes_for_oid(USER_ID)
        return {"hash": value[2:].decode().upper(),
                "integrator": any(name.value.startswith("platformintegrator.") for name in names)}

    def carry_out(self, method, path, body):
        client = self.client()
        match = TOKEN_PATH.fullmatch(path)
        if match:
            merchant, event, operation = (part and urllib.parse.unquote(part) for part in match.groups())
            document = json.loads(body) if operation else None
            return merchant_token_call(method, merchant, event, operation, self.headers, document, client)
        prefix = "/paymentservices/merchant/"
        if method == "GET" and path.startswith(prefix):
            return details(urllib.parse.unquote(path[len(prefix):]))
        if method == "POST" and path == "/paymentservices/paymentSession":
            return session(json.loads(body), client)
        if method == "POST" and path == "/paymentservices/registerMerchant":
            return register(json.loads(body), client)
        raise Refusal(404, "no such path")


class Control(Handler):
    def carry_out(self, method, path, body):
        status, document = control(method, path, json.loads(body) if body else None)
        return status, json.dumps(document).encode()


class GatewayServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


class ControlServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


arguments = argparse.ArgumentParser()
for option in ("certificate", "private-key", "client-ca", "authority", "control"):
    arguments.add_argument(f"--{option}", required=True)
arguments.add_argument("--wrap-token-events", action="store_true")
options = arguments.parse_args()

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.minimum_version = ssl.TLSVersion.TLSv1_2
context.load_cert_chain(options.certificate, options.private_key)
context.load_verify_locations(options.client_ca)
context.verify_mode = ssl.CERT_REQUIRED
gateway = GatewayServer(("127.0.0.1", 0), Gateway)
# The handshake happens in the thread of the connection, so that a slow client does not block others.
gateway.socket = context.wrap_socket(gateway.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=ControlServer(options.control, Control).serve_forever, daemon=True).start()
print(gateway.server_address[1], flush=True)
gateway.serve_forever()
