"""Decrypts and encrypts card data of in-app provisioning (EV_ECC_v2) with Python's cryptography.

Reads one JSON object per line from the standard input: a leaf's private key, a plaintext, and an attempt of the library
for the same key. Writes one JSON object per line: the plaintext of the library's attempt, or null if it cannot be
decrypted, and an attempt of its own. All values are in hexadecimal.
"""
import json
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash

CURVE = ec.SECP256R1()
IV = bytes(12)


def point(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def cipher(secret, ephemeral_point):
    info = b"\x0did-aes256-GCM" + b"Apple" + ephemeral_point
    return AESGCM(ConcatKDFHash(algorithm=hashes.SHA256(), length=32, otherinfo=info).derive(secret))


def decrypt(leaf, attempt):
    encoded = bytes.fromhex(attempt["ephemeralPublicKey"])
    secret = leaf.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, encoded))
    try:
        return cipher(secret, encoded).decrypt(IV, bytes.fromhex(attempt["encryptedPassData"]), None).hex()
    except InvalidTag:
        return None


def encrypt(leaf, plaintext):
    ephemeral = ec.generate_private_key(CURVE)
    encoded = point(ephemeral.public_key())
    secret = ephemeral.exchange(ec.ECDH(), leaf.public_key())
    return {
        "encryptedPassData": cipher(secret, encoded).encrypt(IV, plaintext, None).hex(),
        "ephemeralPublicKey": encoded.hex(),
    }


for line in sys.stdin:
    case = json.loads(line)
    private_key = ec.derive_private_key(int(case["leafPrivateKey"], 16), CURVE)
    reply = encrypt(private_key, bytes.fromhex(case["plaintext"]))
    reply["plaintext"] = decrypt(private_key, case)
    print(json.dumps(reply))
