"""Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.

usage: decrypt.py SOCKET TOKEN.json MERCHANT AMOUNT
"""
import http.client
import json
import socket
import sys
import time
import uuid


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=15)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Decryptor:
    """One connection, which stays open between requests. Each thread needs its own."""

    def __init__(self, path):
        self.connection = UnixConnection(path)

    def post(self, target, body, idempotency_key):
        """Sends a request, and repeats it for up to 30 seconds as docs/errors.md says."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        give_up, pause = time.monotonic() + 30, 0.1
        while True:
            try:
                # After a response with `Connection: close`, http.client opens a new connection.
                self.connection.request("POST", target, body, headers)
                response = self.connection.getresponse()
                answer = json.loads(response.read())
                if response.getheader("Retry-After"):
                    wait = int(response.getheader("Retry-After"))
                elif answer.get("code") in ("internalError", "requestTimeout"):
                    wait = pause
                else:
                    return response.status, answer
                if time.monotonic() + wait > give_up:
                    return response.status, answer
            except (OSError, http.client.HTTPException):
                # No complete response arrived. The identical request with the same key gets the same result.
                self.connection.close()
                wait = pause
                if time.monotonic() + wait > give_up:
                    raise
            time.sleep(wait)
            pause = min(2 * pause, 2)


if len(sys.argv) != 5:
    print("usage: decrypt.py SOCKET TOKEN.json MERCHANT AMOUNT", file=sys.stderr)
    sys.exit(2)
socket_path, token_file, merchant, amount = sys.argv[1:]
# Each attempt to take a payment has its own random idempotency key. Store the key and the body with the attempt.
key = str(uuid.uuid4())
body = json.dumps({
    "paymentData": json.load(open(token_file)),
    "expected": {
        "merchantIdentifier": merchant,
        "transactionAmount": int(amount),  # in cents
        "currencyCode": "840",  # US dollars, ISO 4217
    },
})
try:
    status, answer = Decryptor(socket_path).post("/v1/payment-tokens/decrypt", body, key)
except (OSError, http.client.HTTPException) as error:
    sys.exit(f"no response from {socket_path}: {error}")

if status != 200:
    sys.exit(f"{status} {answer['code']}: {answer['detail']}")
# The response holds the account number: pass it to the acquirer, and never log it.
print("amount:", answer["paymentData"]["transactionAmount"])
