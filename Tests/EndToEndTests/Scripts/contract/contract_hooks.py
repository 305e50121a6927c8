"""What schemathesis does before each request and checks after each response. contract.py runs schemathesis with this module."""
import hashlib
import ipaddress
import itertools
import json
import os

import schemathesis
from schemathesis import GenerationMode

with open(os.environ["CONTRACT_HOOKS"]) as file:
    OPTIONS = json.load(file)
# The longest path of a backup, in bytes.
LONGEST_PATH = 4000

# schemathesis cannot encode these types, so it sends certificates as plain bytes.
for name in ("application/pkix-cert", "application/x-pem-file"):
    schemathesis.serializer.alias(name, "application/octet-stream")
addresses = itertools.count(int(ipaddress.ip_address("10.0.0.1")))
decryptions = itertools.count()
cards = itertools.count()


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context, case, kwargs):
    if OPTIONS["listener"] == "portal":
        # Each request names another client address, because schemathesis also sends wrong credentials, and after some of them the
        # portal refuses all requests of their address for a while.
        case.headers["X-Forwarded-For"] = str(ipaddress.ip_address(next(addresses)))
    if not isinstance(case.body, dict):
        return
    path = case.body.get("file")
    # The daemon writes a backup to any path, so each absolute path is replaced by one in the directory for backups.
    if case.path.startswith("/v1/backups") and isinstance(path, str) and path.startswith("/") and len(path.encode()) <= LONGEST_PATH:
        digest = hashlib.sha256(path.encode()).hexdigest()[:16]
        case.body["file"] = f"{OPTIONS['backups']}/{digest}.backup"
    if "token" in OPTIONS and "paymentData" in case.body and is_positive(case) and next(decryptions) % 2:
        case.body["paymentData"] = OPTIONS["token"]
        if isinstance(case.body.get("expected"), dict):
            case.body["expected"]["merchantIdentifier"] = "any"
    if "card" in OPTIONS and "nonceSignature" in case.body and is_positive(case):
        number = next(cards)
        if number % 2:
            # The daemon accepts a nonce once. Every third of these requests repeats the nonce of the one before.
            case.body |= OPTIONS["card"] | {"nonce": f"{number // 3:08x}"}


@schemathesis.check
def documented_error_code(context, response, case):
    """The contract lists the error code for the operation, and the document has the status of the response."""
    if response.headers.get("content-type", [""])[0] != "application/problem+json":
        return
    problem = json.loads(response.content)
    assert problem["status"] == response.status_code, f"the status is {response.status_code}, the document says {problem['status']}"
    # The contract has no operation with this path or method.
    if problem["code"] in ("notFound", "methodNotAllowed") and response.status_code in (404, 405):
        return
    known = OPTIONS["codes"].get(f"{case.method.upper()} {case.path}")
    assert known is None or problem["code"] in known, f"the contract does not list {problem['code']} for {case.method} {case.path}"
