"""Mints payment tokens with Python's package cryptography, which shares no code with the daemon.

usage: mint_tokens.py CERTIFICATE COUNT LEADING_ZEROS
Prints a JSON object for each token on its own line: {"paymentData": …, "plaintext": …}. For EC_v1, the shared secret of
the first LEADING_ZEROS tokens begins with a zero byte. The signatures are not valid, so these tokens can only be
decrypted without verification.
"""
import base64
import hashlib
import json
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

certificate = x509.load_der_x509_certificate(open(sys.argv[1], "rb").read())
count, leading_zeros = int(sys.argv[2]), int(sys.argv[3])
public_key = certificate.public_key()
spki = public_key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
extension = certificate.extensions.get_extension_for_oid(x509.ObjectIdentifier("1.2.840.113635.100.6.32"))
party_v = bytes.fromhex(extension.value.value[2:].decode())


def base64_text(data):
    return base64.b64encode(data).decode()


def encrypted(key, plaintext):
    encryptor = Cipher(algorithms.AES(key), modes.GCM(bytes(16))).encryptor()
    return encryptor.update(plaintext) + encryptor.finalize() + encryptor.tag


for number in range(count):
    plaintext = json.dumps({
        "applicationPrimaryAccountNumber": "4111111111111111", "applicationExpirationDate": "291231",
        "currencyCode": "840", "transactionAmount": number, "deviceManufacturerIdentifier": "040010030273",
        "paymentDataType": "3DSecure", "paymentData": {"onlinePaymentCryptogram": base64_text(os.urandom(20))},
    }).encode()
    header = {"publicKeyHash": base64_text(hashlib.sha256(spki).digest()), "transactionId": os.urandom(32).hex()}
    if isinstance(public_key, ec.EllipticCurvePublicKey):
        while True:
            ephemeral = ec.generate_private_key(ec.SECP256R1())
            secret = ephemeral.exchange(ec.ECDH(), public_key)
            if number >= leading_zeros or secret[0] == 0:
                break
        key = hashlib.sha256(b"\x00\x00\x00\x01" + secret + b"\x0did-aes256-GCM" + b"Apple" + party_v).digest()
        version = "EC_v1"
        header["ephemeralPublicKey"] = base64_text(ephemeral.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
    else:
        key = os.urandom(16)
        version = "RSA_v1"
        header["wrappedKey"] = base64_text(public_key.encrypt(
            key, padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)))
    print(json.dumps({
        "paymentData": {"version": version, "data": base64_text(encrypted(key, plaintext)),
                        "signature": base64_text(b"none"), "header": header},
        "plaintext": base64_text(plaintext),
    }))
