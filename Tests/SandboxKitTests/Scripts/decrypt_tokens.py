"""Decrypts payment tokens with Python's `cryptography`, independently of the sandbox.

usage: decrypt_tokens.py PRIVATE-KEY.pem MERCHANT-IDENTIFIER < tokens.jsonl
Prints one JSON object for each token: {"plaintext": text, "leadingZero": whether the shared secret of an EC_v1 token begins with
a zero byte, "keyBits": length of the symmetric key}.
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def symmetric_key(private_key, merchant, payment_data):
    header = payment_data["header"]
    if payment_data["version"] == "EC_v1":
        ephemeral = serialization.load_der_public_key(base64.b64decode(header["ephemeralPublicKey"], validate=True))
        secret = private_key.exchange(ec.ECDH(), ephemeral)
        party_v = hashlib.sha256(merchant.encode()).digest()
        info = b"\x0did-aes256-GCM" + b"Apple" + party_v
        return hashlib.sha256(b"\x00\x00\x00\x01" + secret + info).digest(), secret[0] == 0
    wrapped = base64.b64decode(header["wrappedKey"], validate=True)
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    return private_key.decrypt(wrapped, oaep), False


def decrypt(key, data):
    decryptor = Cipher(algorithms.AES(key), modes.GCM(bytes(16), data[-16:])).decryptor()
    return decryptor.update(data[:-16]) + decryptor.finalize()


def main():
    with open(sys.argv[1], "rb") as file:
        private_key = serialization.load_pem_private_key(file.read(), password=None)
    public_key = private_key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    public_key_hash = base64.b64encode(hashlib.sha256(public_key).digest()).decode()
    for line in sys.stdin:
        payment_data = json.loads(line)["paymentData"]
        assert payment_data["header"]["publicKeyHash"] == public_key_hash, "publicKeyHash is not this key's"
        key, leading_zero = symmetric_key(private_key, sys.argv[2], payment_data)
        plaintext = decrypt(key, base64.b64decode(payment_data["data"], validate=True)).decode()
        print(json.dumps({"plaintext": plaintext, "leadingZero": leading_zero, "keyBits": len(key) * 8}))


main()
