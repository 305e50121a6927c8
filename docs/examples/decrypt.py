"""Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.

usage: decrypt.py SOCKET TOKEN.json MERCHANT AMOUNT
"""
import http.client
import json
import socket
import sys
import uuid


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def post(socket_path, target, document, idempotency_key):
    connection = UnixConnection(socket_path)
    try:
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        connection.request("POST", target, json.dumps(document), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


socket_path, token_file, merchant, amount = sys.argv[1:]
request = {
    "paymentData": json.load(open(token_file)),
    "expected": {"merchantIdentifier": merchant, "transactionAmount": int(amount)},
}
# Each attempt to take a payment has its own random idempotency key. Store this key with the attempt.
key = str(uuid.uuid4())
try:
    status, answer = post(socket_path, "/v1/payment-tokens/decrypt", request, key)
except (OSError, http.client.HTTPException):
    # If no response arrives, the identical request with the same idempotency key gets the same result.
    status, answer = post(socket_path, "/v1/payment-tokens/decrypt", request, key)

if status != 200:
    sys.exit(f"{status} {answer['code']}: {answer['detail']}")
# The response holds the account number: pass it to the acquirer, and never log it.
print("amount:", answer["paymentData"]["transactionAmount"])
