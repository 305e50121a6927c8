"""Mints encrypted token metadata with Python's `cryptography` and `openssl cms`, independently of the library.

usage: mint_token_metadata.py DIRECTORY COUNT SEED
Creates a certificate hierarchy like Apple's in the directory, and merchant keys. Output, first line: {"root": PEM,
"ec": PEM of the merchant's EC key, "rsa": PEM of its RSA key, "merchantIdentifier"}. Then one line for each message:
{"metadata": the JSON text, "expirationDate", "mpan", "mpanId" (null if it was left out)}.

Apple, "Apple Pay Merchant Token Management API", EncryptedTokenMetadata and TokenMetadata; "Restoring the symmetric key".
"""

import base64
import concurrent.futures
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

MERCHANT = "merchant.com.example.metadata"
LEAF_MARKER = "1.2.840.113635.100.6.29"
INTERMEDIATE_MARKER = "1.2.840.113635.100.6.2.14"
NULL = b"\x05\x00"


def certificate(name, key, issuer, issuer_key, hash_algorithm, is_ca, marker=None):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(is_ca, None), critical=True)
        .add_extension(
            x509.KeyUsage(not is_ca, False, False, False, False, is_ca, is_ca, False, False), critical=True)
    )
    if marker:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), NULL), critical=False)
    return builder.sign(issuer_key, hash_algorithm)


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def public_der(key):
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def write(name, data):
    with open(os.path.join(DIRECTORY, name), "wb") as file:
        file.write(data)


def create_hierarchy():
    root_key, intermediate_key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP256R1())
    root = certificate("Root", root_key, "Root", root_key, hashes.SHA384(), True)
    intermediate = certificate(
        "Intermediate", intermediate_key, "Root", root_key, hashes.SHA384(), True, INTERMEDIATE_MARKER)
    write("intermediate.pem", intermediate.public_bytes(serialization.Encoding.PEM))
    keys = {"ec": ec.generate_private_key(ec.SECP256R1()), "rsa": rsa.generate_private_key(65537, 2048)}
    for kind, key in keys.items():
        leaf = certificate(
            f"{kind}-broker-sign_UC4-PROD", key, "Intermediate", intermediate_key, hashes.SHA256(), False, LEAF_MARKER)
        write(f"{kind}.pem", leaf.public_bytes(serialization.Encoding.PEM))
        write(f"{kind}.key", private_pem(key))
    return root.public_bytes(serialization.Encoding.PEM).decode()


def sign(kind, content):
    return subprocess.run(
        ["openssl", "cms", "-sign", "-binary", "-md", "sha256", "-nosmimecap", "-outform", "DER", "-signer",
         f"{kind}.pem", "-inkey", f"{kind}.key", "-certfile", "intermediate.pem"],
        input=content, capture_output=True, check=True, cwd=DIRECTORY).stdout


def encrypt(kind, plaintext):
    """Returns the key material and the data."""
    if kind == "ec":
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        secret = ephemeral.exchange(ec.ECDH(), MERCHANT_KEYS["ec"].public_key())
        party = hashlib.sha256(MERCHANT.encode()).digest()
        key = hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCM" + b"Apple" + party).digest()
        material = public_der(ephemeral)
    else:
        key = os.urandom(16)
        oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
        material = MERCHANT_KEYS["rsa"].public_key().encrypt(key, oaep)
    encryptor = Cipher(algorithms.AES(key), modes.GCM(bytes(16))).encryptor()
    data = encryptor.update(plaintext) + encryptor.finalize() + encryptor.tag
    return material, data


def mint(number):
    generator = random.Random(f"{SEED} {number}")
    kind = generator.choice(["ec", "rsa"])
    values = {
        "expirationDate": f"{generator.randrange(100):02}{generator.randrange(1, 13):02}28",
        "mpan": "".join(generator.choices("0123456789", k=generator.randrange(8, 20))),
    }
    if generator.random() < 0.5:
        values["mpanId"] = "".join(generator.choices("ABCdef0123456789-_.", k=generator.randrange(1, 65)))
    names = list(values)
    generator.shuffle(names)
    plaintext = json.dumps({name: values[name] for name in names}, indent=generator.choice([None, 1])).encode()
    material, data = encrypt(kind, plaintext)
    fields = {
        "data": data,
        "wrappedKey" if kind == "rsa" else "ephemeralPublicKey": material,
        "publicKeyHash": hashlib.sha256(public_der(MERCHANT_KEYS[kind])).digest(),
        "signature": sign(kind, material + data),
    }
    metadata = json.dumps({name: base64.b64encode(value).decode() for name, value in fields.items()})
    return {"metadata": metadata, "mpanId": None} | values


DIRECTORY, COUNT, SEED = sys.argv[1], int(sys.argv[2]), sys.argv[3]
MERCHANT_KEYS = {"ec": ec.generate_private_key(ec.SECP256R1()), "rsa": rsa.generate_private_key(65537, 2048)}

if __name__ == "__main__":
    header = {"root": create_hierarchy(), "merchantIdentifier": MERCHANT}
    print(json.dumps(header | {kind: private_pem(key).decode() for kind, key in MERCHANT_KEYS.items()}))
    # Threads are enough, because openssl takes most of the time.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(mint, range(COUNT)):
            print(json.dumps(line))
