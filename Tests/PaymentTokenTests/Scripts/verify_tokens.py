"""Verifies and decrypts payment tokens and encrypted token metadata with Python's `cryptography` and `openssl cms`,
independently of the library.

usage: verify_tokens.py ROOT.pem EC-KEY.pem RSA-KEY.pem MERCHANT-IDENTIFIER < tokens.jsonl
Input, one line for each token: {"token": the JSON text as received, "receivedAt": seconds since 1970}. For token
metadata, the line contains "metadata" in place of "token".
Output, one line for each token: {"accepted": boolean, "cms": whether `openssl cms -verify` succeeds (null if the token
or its CMS message cannot be parsed), "plaintext": Base64 (null if rejected),
"reason": why the token is rejected (null if accepted)}.

Apple, "Payment token format reference" and "Apple Pay Merchant Token Management API"; RFC 5652; NIST SP 800-56A.
"""

import base64
import calendar
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

LEAF_MARKER = "1.2.840.113635.100.6.29"
INTERMEDIATE_MARKER = "1.2.840.113635.100.6.2.14"
SHA256 = bytes.fromhex("608648016503040201")
SIGNATURE_ALGORITHMS = {
    "EC_v1": [bytes.fromhex("2a8648ce3d040302")],
    "RSA_v1": [bytes.fromhex("2a864886f70d01010b"), bytes.fromhex("2a864886f70d010101")],
}
PKCS7_DATA = bytes.fromhex("2a864886f70d010701")
PKCS7_SIGNED = bytes.fromhex("2a864886f70d010702")
CONTENT_TYPE = bytes.fromhex("2a864886f70d010903")
MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
SIGNING_TIME = bytes.fromhex("2a864886f70d010905")
PROTECTION = bytes.fromhex("2a864886f70d010934")


class Rejected(Exception):
    pass


def require(condition, reason):
    if not condition:
        raise Rejected(reason)


# JSON, RFC 8259, without repeated names.


def unique_names(pairs):
    names = [name for name, _ in pairs]
    require(len(names) == len(set(names)), "a repeated name")
    return dict(pairs)


def parse(text):
    def constant(_):
        raise Rejected("NaN or Infinity")

    require(len(text.encode()) <= 65536, "too long")
    try:
        value = json.loads(text, object_pairs_hook=unique_names, parse_constant=constant)
    except ValueError as error:
        raise Rejected(f"not JSON: {error}") from None
    require(isinstance(value, dict), "not an object")
    return value


def member(fields, name, kind, optional=False):
    value = fields.get(name)
    if value is None and optional:
        return None
    require(isinstance(value, kind), name)
    return value


def decode_base64(fields, name, minimum, maximum):
    text = member(fields, name, str)
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Rejected(f"{name} is not Base64") from None
    require(base64.b64encode(data).decode() == text, f"{name} is not canonical Base64")
    require(minimum <= len(data) <= maximum, f"length of {name}")
    return data


def decode_hex(fields, name, optional=False):
    text = member(fields, name, str, optional)
    if text is None:
        return None
    require(re.fullmatch("[0-9a-fA-F]{64}", text), name)
    return bytes.fromhex(text)


class Token:
    def __init__(self, text):
        outer = parse(text)
        outer = member(outer, "token", dict, True) or outer
        data = member(outer, "paymentData", dict, True) or outer
        self.version = member(data, "version", str)
        require(self.version in SIGNATURE_ALGORITHMS, "version")
        header = member(data, "header", dict)
        expected, forbidden = "ephemeralPublicKey", "wrappedKey"
        if self.version == "RSA_v1":
            expected, forbidden = forbidden, expected
        require(header.get(forbidden) is None, "key material of the other version")
        self.key_material = decode_base64(header, expected, 1, 512)
        if self.version == "EC_v1":
            self.sender = self.point(self.key_material)
        else:
            require(len(self.key_material) == 256, "length of wrappedKey")
        self.transaction_id = decode_hex(header, "transactionId")
        if member(outer, "transactionIdentifier", str, True) is not None:
            require(decode_hex(outer, "transactionIdentifier") == self.transaction_id, "transactionIdentifier")
        self.public_key_hash = decode_base64(header, "publicKeyHash", 32, 32)
        self.application_data = decode_hex(header, "applicationData", optional=True)
        self.data = decode_base64(data, "data", 18, 32768)
        self.signature = decode_base64(data, "signature", 0, 16384)

    @staticmethod
    def point(der):
        try:
            key = serialization.load_der_public_key(der)
        except Exception:
            raise Rejected("ephemeralPublicKey") from None
        require(isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1", "curve")
        encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        require(encoded == der, "another encoding of the point")
        return key

    @property
    def signed(self):
        return self.key_material + self.data + self.transaction_id + (self.application_data or b"")


class Metadata:
    """Encrypted token metadata: the fields of a payment token without a header, transactionId and applicationData."""

    def __init__(self, text):
        fields = parse(text)
        present = [name for name in ("ephemeralPublicKey", "wrappedKey") if fields.get(name) is not None]
        require(len(present) == 1, "key material")
        self.version = "EC_v1" if present == ["ephemeralPublicKey"] else "RSA_v1"
        require(member(fields, "version", str, True) in (None, self.version), "version")
        self.key_material = decode_base64(fields, present[0], 1, 512)
        if self.version == "EC_v1":
            self.sender = Token.point(self.key_material)
        else:
            require(len(self.key_material) == 256, "length of wrappedKey")
        self.public_key_hash = decode_base64(fields, "publicKeyHash", 32, 32)
        self.data = decode_base64(fields, "data", 18, 32768)
        self.signature = decode_base64(fields, "signature", 0, 16384)

    @property
    def signed(self):
        return self.key_material + self.data


# BER, X.690: the part that is needed for the checks that `openssl cms` does not make.


class Node:
    def __init__(self, data, start, end, depth=0):
        require(depth < 32 and end - start >= 2, "BER")
        self.data, self.start, self.tag = data, start, data[start]
        require(self.tag & 0x1F != 0x1F, "a long tag")
        first, at = data[start + 1], start + 2
        self.children = []
        if first == 0x80:
            require(self.tag & 0x20, "an indefinite length of a primitive")
            self.inside = at
            while True:
                require(end - at >= 2, "BER")
                if data[at] == 0 and data[at + 1] == 0:
                    break
                child = Node(data, at, end, depth + 1)
                self.children.append(child)
                at = child.end
            self.content_end, self.end = at, at + 2
            return
        length = first
        if first > 0x80:
            count = first & 0x7F
            require(count <= 8 and end - at >= count, "BER")
            length, at = int.from_bytes(data[at : at + count], "big"), at + count
        require(end - at >= length, "BER")
        self.inside, self.content_end, self.end = at, at + length, at + length
        if self.tag & 0x20:
            while at < self.end:
                child = Node(data, at, self.end, depth + 1)
                self.children.append(child)
                at = child.end

    @property
    def content(self):
        return self.data[self.inside : self.content_end]

    def child(self, index, tag, reason):
        require(len(self.children) > index and self.children[index].tag == tag, reason)
        return self.children[index]


def algorithm(node, oids, reason):
    require(node.tag == 0x30 and node.children and node.children[0].tag == 6, reason)
    require(node.children[0].content in oids, reason)
    rest = node.children[1:]
    require(not rest or (len(rest) == 1 and rest[0].tag == 5 and not rest[0].content), reason + ": parameters")


def parse_time(node):
    text = node.content.decode("ascii", "replace")
    if node.tag == 0x17 and re.fullmatch(r"\d{12}Z", text):
        text = ("19" if text[:2] >= "50" else "20") + text
    require(node.tag in (0x17, 0x18) and re.fullmatch(r"\d{14}Z", text), "signingTime")
    try:
        parsed = time.strptime(text, "%Y%m%d%H%M%SZ")
    except ValueError:
        raise Rejected("signingTime is not a valid time") from None
    require(parsed.tm_sec < 60, "signingTime is not a valid time")
    return calendar.timegm(parsed)


class Message:
    """A CMS message. Raises Rejected if it does not have the structure of Apple's signatures."""

    def __init__(self, token):
        data = token.signature
        root = Node(data, 0, len(data))
        require(root.end == len(data), "bytes after the message")
        require(root.tag == 0x30 and root.child(0, 6, "type").content == PKCS7_SIGNED, "type")
        signed = root.child(1, 0xA0, "content").child(0, 0x30, "signed data")
        parts = signed.children
        require(parts[0].tag == 2 and parts[0].content == b"\x01", "version")
        digests = signed.child(1, 0x31, "digest algorithms")
        require(len(digests.children) == 1, "digest algorithms")
        algorithm(digests.children[0], [SHA256], "set of digest algorithms")
        content = signed.child(2, 0x30, "content")
        require(content.child(0, 6, "content type").content == PKCS7_DATA, "content type")
        require(len(content.children) == 1, "attached content")
        certificates = [part for part in parts[3:] if part.tag == 0xA0]
        require(len(certificates) <= 1 and parts[-1].tag == 0x31, "parts")
        self.certificates = [
            data[node.start : node.end] for node in (certificates[0].children if certificates else [])
        ]
        require(len(parts[-1].children) == 1, "signers")
        signer = parts[-1].children[0]
        require(signer.tag == 0x30 and signer.child(0, 2, "signer").content == b"\x01", "signer's version")
        identifier = signer.child(1, 0x30, "signer identifier")
        self.issuer = data[identifier.children[0].start : identifier.children[0].end]
        self.serial_number = int.from_bytes(identifier.child(1, 2, "serial number").content, "big", signed=True)
        algorithm(signer.child(2, 0x30, "digest algorithm"), [SHA256], "digest algorithm")
        attributes = self.attributes(signer.child(3, 0xA0, "signed attributes"))
        algorithm(
            signer.child(4, 0x30, "signature algorithm"), SIGNATURE_ALGORITHMS[token.version], "signature algorithm")
        value = self.only(attributes, CONTENT_TYPE)
        require(value.tag == 6 and value.content == PKCS7_DATA, "contentType")
        value = self.only(attributes, MESSAGE_DIGEST)
        require(value.tag == 4 and len(value.content) == 32, "messageDigest")
        self.signing_time = parse_time(self.only(attributes, SIGNING_TIME))
        if PROTECTION in attributes:
            value = self.only(attributes, PROTECTION)
            require(value.tag == 0x30 and len(value.children) == 2 and value.children[1].tag == 0xA1, "protection")
            require(value.child(0, 0x30, "protection").children[0].content == SHA256, "protection")
            used = signer.children[4].children[0].content
            require(value.children[1].children[0].content == used, "protection")

    @staticmethod
    def attributes(node):
        found = {}
        for attribute in node.children:
            values = attribute.child(1, 0x31, "attribute").children
            found.setdefault(attribute.child(0, 6, "attribute").content, []).append(values)
        return found

    @staticmethod
    def only(attributes, oid):
        sets = attributes.get(oid, [])
        require(len(sets) == 1 and len(sets[0]) == 1, f"attribute {oid.hex()}")
        return sets[0][0]


def cms_verifies(token, message, root):
    with tempfile.NamedTemporaryFile(dir=SCRATCH) as content:
        content.write(token.signed)
        content.flush()
        done = subprocess.run(
            ["openssl", "cms", "-verify", "-inform", "DER", "-binary", "-content", content.name, "-CAfile", root,
             "-no-CApath", "-no-CAstore", "-purpose", "any", "-auth_level", "2", "-attime", str(message.signing_time),
             "-out", os.devnull],
            input=token.signature, capture_output=True, check=False)
    return done.returncode == 0


def extensions(certificate):
    return {extension.oid.dotted_string: extension for extension in certificate.extensions}


def check_certificates(message, production):
    """Makes the checks of the certificates that `openssl cms` does not make."""
    certificates = [x509.load_der_x509_certificate(der) for der in message.certificates]
    leaves = [
        c for c in certificates
        if c.issuer.public_bytes() == message.issuer and c.serial_number == message.serial_number
    ]
    require(len(leaves) == 1, "certificates of the signer")
    leaf = leaves[0]
    others = [c for c in certificates if c is not leaf and c.subject != c.issuer]
    require(len(others) == 1, "intermediates")
    require(LEAF_MARKER in extensions(leaf), "marker of the signing certificate")
    require(INTERMEDIATE_MARKER in extensions(others[0]), "marker of the intermediate")
    usage = extensions(leaf).get(x509.KeyUsage.oid.dotted_string)
    require(usage is None or usage.value.digital_signature, "key usage")
    names = [a.value for a in leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)]
    sandbox = any(name.upper().endswith("_UC4-SANDBOX") for name in names)
    require(not (sandbox and production), "environment")


def symmetric_key(token):
    if token.version == "EC_v1":
        secret = EC_KEY.exchange(ec.ECDH(), token.sender)
        party = hashlib.sha256(MERCHANT.encode()).digest()
        return hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCM" + b"Apple" + party).digest()
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    return RSA_KEY.decrypt(token.key_material, oaep)


def decrypt(token):
    key = EC_KEY if token.version == "EC_v1" else RSA_KEY
    spki = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    require(hashlib.sha256(spki).digest() == token.public_key_hash, "publicKeyHash is not the hash of a known key")
    try:
        decryptor = Cipher(
            algorithms.AES(symmetric_key(token)), modes.GCM(bytes(16), token.data[-16:])).decryptor()
        return decryptor.update(token.data[:-16]) + decryptor.finalize()
    except Exception:
        raise Rejected("decryption") from None


def process(line):
    case = json.loads(line)
    result = {"accepted": False, "cms": None, "plaintext": None, "reason": None}
    try:
        token = Metadata(case["metadata"]) if case.get("metadata") is not None else Token(case["token"])
        message = Message(token)
        result["cms"] = cms_verifies(token, message, ROOT)
        try:
            check_certificates(message, production=True)
        except (ValueError, x509.DuplicateExtension):
            # cryptography parses the fields of a certificate only when they are accessed.
            raise Rejected("a certificate cannot be parsed") from None
        require(result["cms"], "openssl cms -verify")
        require(abs(message.signing_time - case["receivedAt"]) <= 300, "time")
        result["plaintext"] = base64.b64encode(decrypt(token)).decode()
        result["accepted"] = True
    except Rejected as rejection:
        result["reason"] = str(rejection)
    return json.dumps(result)


def load(path):
    with open(path, "rb") as file:
        return serialization.load_pem_private_key(file.read(), password=None)


ROOT, MERCHANT = sys.argv[1], sys.argv[4]
EC_KEY, RSA_KEY = load(sys.argv[2]), load(sys.argv[3])
SCRATCH = os.path.dirname(ROOT)

if __name__ == "__main__":
    # Threads are enough, because openssl takes most of the time.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(process, sys.stdin.readlines()):
            print(result)
