"""Judges payment tokens with Python's `cryptography` and `openssl cms`, sharing no code with the library.

usage: judge_tokens.py ROOT.pem EC-KEY.pem RSA-KEY.pem MERCHANT-IDENTIFIER < tokens.jsonl
Each line in: {"token": the JSON text as received, "receivedAt": seconds since 1970}.
Each line out: {"accepted", "cms": what `openssl cms -verify` says, null where it was not asked, "plaintext": Base64, "why"}.

Apple, "Payment token format reference"; RFC 5652; NIST SP 800-56A.
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


class Refused(Exception):
    pass


def require(holds, why):
    if not holds:
        raise Refused(why)


# JSON, RFC 8259, each name once.


def once(pairs):
    names = [name for name, _ in pairs]
    require(len(names) == len(set(names)), "a name twice")
    return dict(pairs)


def parse(text):
    def constant(_):
        raise Refused("no JSON number")

    require(len(text.encode()) <= 65536, "too long")
    try:
        value = json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except ValueError as error:
        raise Refused(f"no JSON: {error}") from None
    require(isinstance(value, dict), "no object")
    return value


def member(fields, name, kind, optional=False):
    value = fields.get(name)
    if value is None and optional:
        return None
    require(isinstance(value, kind), name)
    return value


def unbase64(fields, name, least, most):
    text = member(fields, name, str)
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused(f"{name} is not Base64") from None
    require(base64.b64encode(data).decode() == text, f"{name} in another spelling")
    require(least <= len(data) <= most, f"length of {name}")
    return data


def unhex(fields, name, optional=False):
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
        mine, other = "ephemeralPublicKey", "wrappedKey"
        if self.version == "RSA_v1":
            mine, other = other, mine
        require(header.get(other) is None, "key material of the other version")
        self.key_material = unbase64(header, mine, 1, 512)
        if self.version == "EC_v1":
            self.sender = self.point(self.key_material)
        else:
            require(len(self.key_material) == 256, "length of wrappedKey")
        self.transaction_id = unhex(header, "transactionId")
        if member(outer, "transactionIdentifier", str, True) is not None:
            require(unhex(outer, "transactionIdentifier") == self.transaction_id, "transactionIdentifier")
        self.public_key_hash = unbase64(header, "publicKeyHash", 32, 32)
        self.application_data = unhex(header, "applicationData", optional=True)
        self.data = unbase64(data, "data", 18, 32768)
        self.signature = unbase64(data, "signature", 0, 16384)

    @staticmethod
    def point(der):
        try:
            key = serialization.load_der_public_key(der)
        except Exception:
            raise Refused("ephemeralPublicKey") from None
        require(isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1", "curve")
        spelled = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        require(spelled == der, "another spelling of the point")
        return key

    @property
    def signed(self):
        return self.key_material + self.data + self.transaction_id + (self.application_data or b"")


# BER, X.690: just enough to look at what `openssl cms` does not judge.


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

    def child(self, index, tag, why):
        require(len(self.children) > index and self.children[index].tag == tag, why)
        return self.children[index]


def algorithm(node, oids, why):
    require(node.tag == 0x30 and node.children and node.children[0].tag == 6, why)
    require(node.children[0].content in oids, why)
    rest = node.children[1:]
    require(not rest or (len(rest) == 1 and rest[0].tag == 5 and not rest[0].content), why + ": parameters")


def moment(node):
    text = node.content.decode("ascii", "replace")
    if node.tag == 0x17 and re.fullmatch(r"\d{12}Z", text):
        text = ("19" if text[:2] >= "50" else "20") + text
    require(node.tag in (0x17, 0x18) and re.fullmatch(r"\d{14}Z", text), "signingTime")
    try:
        parsed = time.strptime(text, "%Y%m%d%H%M%SZ")
    except ValueError:
        raise Refused("signingTime is no time") from None
    require(parsed.tm_sec < 60, "signingTime is no time")
    return calendar.timegm(parsed)


class Message:
    """The CMS message's form; raises where it is not as Apple's are."""

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
        algorithm(digests.children[0], [SHA256], "digest algorithm announced")
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
        name = signer.child(1, 0x30, "signer's name")
        self.issuer = data[name.children[0].start : name.children[0].end]
        self.serial_number = int.from_bytes(name.child(1, 2, "serial number").content, "big", signed=True)
        algorithm(signer.child(2, 0x30, "digest algorithm"), [SHA256], "digest algorithm")
        attributes = self.attributes(signer.child(3, 0xA0, "signed attributes"))
        algorithm(
            signer.child(4, 0x30, "signature algorithm"), SIGNATURE_ALGORITHMS[token.version], "signature algorithm")
        value = self.only(attributes, CONTENT_TYPE)
        require(value.tag == 6 and value.content == PKCS7_DATA, "contentType")
        value = self.only(attributes, MESSAGE_DIGEST)
        require(value.tag == 4 and len(value.content) == 32, "messageDigest")
        self.signing_time = moment(self.only(attributes, SIGNING_TIME))
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
    """What `openssl cms` does not ask of the chain: who is who, the markers, the environment."""
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
    require(hashlib.sha256(spki).digest() == token.public_key_hash, "publicKeyHash names no key")
    try:
        decryptor = Cipher(
            algorithms.AES(symmetric_key(token)), modes.GCM(bytes(16), token.data[-16:])).decryptor()
        return decryptor.update(token.data[:-16]) + decryptor.finalize()
    except Exception:
        raise Refused("decryption") from None


def judge(line):
    case = json.loads(line)
    verdict = {"accepted": False, "cms": None, "plaintext": None, "why": None}
    try:
        token = Token(case["token"])
        message = Message(token)
        verdict["cms"] = cms_verifies(token, message, ROOT)
        try:
            check_certificates(message, production=True)
        except (ValueError, x509.DuplicateExtension):
            # cryptography reads a certificate's parts when they are first looked at.
            raise Refused("a certificate does not read") from None
        require(verdict["cms"], "openssl cms -verify")
        require(abs(message.signing_time - case["receivedAt"]) <= 300, "time")
        verdict["plaintext"] = base64.b64encode(decrypt(token)).decode()
        verdict["accepted"] = True
    except Refused as refusal:
        verdict["why"] = str(refusal)
    return json.dumps(verdict)


def load(path):
    with open(path, "rb") as file:
        return serialization.load_pem_private_key(file.read(), password=None)


ROOT, MERCHANT = sys.argv[1], sys.argv[4]
EC_KEY, RSA_KEY = load(sys.argv[2]), load(sys.argv[3])
SCRATCH = os.path.dirname(ROOT)

if __name__ == "__main__":
    # Threads will do: most of the time goes into openssl.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for verdict in pool.map(judge, sys.stdin.readlines()):
            print(verdict)
