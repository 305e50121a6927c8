"""Encrypts and decrypts usage information packages with RFC 9180 built from primitives, independently of swift-crypto.

Python's `cryptography` has HPKE in base mode only, and only in versions from 47 on, so that auth mode is built here. At
the start, the script decrypts a message of `cryptography` in base mode with the same functions, if it can.

usage: usage_information.py < operations.jsonl
Input, one line for each operation. All values that are not Apple's fields are in hexadecimal:
{"operation": "seal", "tokenPublicKey", "merchantPrivateKey", "identifier": text, "content"}
{"operation": "open", "tokenPrivateKey", "merchantPublicKey", "identifier": text, "information": Apple's fields}
Output: Apple's fields for "seal"; {"content"} for "open", null if the package is rejected.
"""

import base64
import hashlib
import hmac
import json
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

try:
    from cryptography.hazmat.primitives import hpke
except ImportError:
    hpke = None

BASE, AUTH = 0x00, 0x02
KEM, KDF, AEAD = 0x0011, 0x0002, 0x0002  # DHKEM(P-384, HKDF-SHA384), HKDF-SHA384, AES-256-GCM
KEM_SUITE = b"KEM" + KEM.to_bytes(2, "big")
HPKE_SUITE = b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (KEM, KDF, AEAD))
HASH_LENGTH, KEY_LENGTH, NONCE_LENGTH = 48, 32, 12
CIPHERSUITE = "HPKE_AUTH_P384_SHA384_AES_GCM_256"


# RFC 9180 section 4


def extract(salt, material):
    return hmac.digest(salt or bytes(HASH_LENGTH), material, "sha384")


def expand(key, info, length):
    output, block, counter = b"", b"", 1
    while len(output) < length:
        block = hmac.digest(key, block + info + bytes([counter]), "sha384")
        output, counter = output + block, counter + 1
    return output[:length]


def labeled_extract(suite, salt, label, material):
    return extract(salt, b"HPKE-v1" + suite + label + material)


def labeled_expand(suite, key, label, info, length):
    return expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


# RFC 9180 section 4.1, DHKEM


def serialize(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def deserialize(data):
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP384R1(), data)


def dh(private_key, public_key):
    return private_key.exchange(ec.ECDH(), public_key)


def shared_secret(secret, context):
    key = labeled_extract(KEM_SUITE, b"", b"eae_prk", secret)
    return labeled_expand(KEM_SUITE, key, b"shared_secret", context, HASH_LENGTH)


def auth_encapsulate(recipient, sender):
    ephemeral = ec.generate_private_key(ec.SECP384R1())
    encapsulated = serialize(ephemeral.public_key())
    secret = dh(ephemeral, recipient) + dh(sender, recipient)
    context = encapsulated + serialize(recipient) + serialize(sender.public_key())
    return shared_secret(secret, context), encapsulated


def auth_decapsulate(encapsulated, recipient, sender):
    secret = dh(recipient, deserialize(encapsulated)) + dh(recipient, sender)
    return shared_secret(secret, encapsulated + serialize(recipient.public_key()) + serialize(sender))


def decapsulate(encapsulated, recipient):
    secret = dh(recipient, deserialize(encapsulated))
    return shared_secret(secret, encapsulated + serialize(recipient.public_key()))


# RFC 9180 section 5.1, without a pre-shared key


def key_schedule(mode, secret, info):
    psk_id_hash = labeled_extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    info_hash = labeled_extract(HPKE_SUITE, b"", b"info_hash", info)
    context = bytes([mode]) + psk_id_hash + info_hash
    key = labeled_extract(HPKE_SUITE, secret, b"secret", b"")
    return (
        labeled_expand(HPKE_SUITE, key, b"key", context, KEY_LENGTH),
        labeled_expand(HPKE_SUITE, key, b"base_nonce", context, NONCE_LENGTH),
    )


# Apple's use of it


def info_of(identifier):
    return b"ApplePayMerchantTokenUsageInformation_1.0" + hashlib.sha256(identifier.encode()).digest()


def encode(data):
    return base64.b64encode(data).decode()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def private_key(hexadecimal):
    return ec.derive_private_key(int(hexadecimal, 16), ec.SECP384R1())


def seal(operation):
    recipient = deserialize(bytes.fromhex(operation["tokenPublicKey"]))
    sender = private_key(operation["merchantPrivateKey"])
    info = info_of(operation["identifier"])
    secret, encapsulated = auth_encapsulate(recipient, sender)
    key, nonce = key_schedule(AUTH, secret, info)
    return {
        "ciphersuite": CIPHERSUITE,
        "data": encode(AESGCM(key).encrypt(nonce, bytes.fromhex(operation["content"]), b"")),
        "ephemeralPublicKey": encode(encapsulated),
        "infoHash": digest(info),
        "merchantPublicKeyHash": digest(serialize(sender.public_key())),
        "merchantTokenPublicKeyHash": digest(serialize(recipient)),
    }


def open_package(operation):
    recipient = private_key(operation["tokenPrivateKey"])
    sender = deserialize(bytes.fromhex(operation["merchantPublicKey"]))
    information, info = operation["information"], info_of(operation["identifier"])
    expected = {
        "ciphersuite": CIPHERSUITE,
        "infoHash": digest(info),
        "merchantPublicKeyHash": digest(serialize(sender)),
        "merchantTokenPublicKeyHash": digest(serialize(recipient.public_key())),
    }
    if any(information[name] != value for name, value in expected.items()):
        return {"content": None}
    encapsulated = base64.b64decode(information["ephemeralPublicKey"], validate=True)
    key, nonce = key_schedule(AUTH, auth_decapsulate(encapsulated, recipient, sender), info)
    try:
        content = AESGCM(key).decrypt(nonce, base64.b64decode(information["data"], validate=True), b"")
    except InvalidTag:
        return {"content": None}
    return {"content": content.hex()}


def check_base_mode():
    """Decrypts a message of `cryptography` in base mode."""
    recipient = ec.generate_private_key(ec.SECP384R1())
    suite = hpke.Suite(hpke.KEM.P384, hpke.KDF.HKDF_SHA384, hpke.AEAD.AES_256_GCM)
    message = suite.encrypt(b"content", recipient.public_key(), info=b"info")
    encapsulated, ciphertext = message[:97], message[97:]
    key, nonce = key_schedule(BASE, decapsulate(encapsulated, recipient), b"info")
    if AESGCM(key).decrypt(nonce, ciphertext, b"") != b"content":
        raise SystemExit("base mode differs from that of cryptography")


if __name__ == "__main__":
    if hpke:
        check_base_mode()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(seal(request) if request["operation"] == "seal" else open_package(request)))
