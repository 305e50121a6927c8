"""The table of REST operations: which callers are admitted, and the responses to all others."""
import collections
import json
import re

from names import JSON_TYPE, OWN, OWN_DOMAIN, OWN_NOTE, PARTNER

MACHINES = {"token with onboard", "token with onboard for all merchants", "rotated-in token",
            "client certificate with access"}
CHECKOUT_SERVERS = {"token with merchantSession"}
OPERATORS = {"operator session with read and onboard"}
READERS = MACHINES | {"invitation session"} | OPERATORS
FOREIGN = {"token for another merchant", "invitation session of another merchant"}
REFUSED_TOKENS = {"expired token", "revoked token", "rotated-out token", "older rotated-out token", "forged token"}
NO_CALLER = {"no credentials", "client certificate without access", "revoked invitation's session",
             "session that signed out"}
WITHOUT_ONBOARD = {"token with permit read", "token with merchantSession", "operator session with read", "operator session without its permits",
                   "operator session with read for one merchant"}
SESSIONS = {"invitation session", "invitation session of another merchant", "operator session with read and onboard",
            "operator session with read", "operator session without its permits",
            "operator session with read for one merchant"}
EVERYONE = (READERS | FOREIGN | NO_CALLER | WITHOUT_ONBOARD)

REST = collections.namedtuple("REST", "path admits success foreign body type", defaults=(None, JSON_TYPE))


def rest_table(world):
    """By method and path: which callers are admitted, the outcomes for them, and the outcome for callers who have the
    permit only for another merchant."""
    own, key, roll = f"/v1/merchants/{OWN}", world.spelled(world.own_key), world.roll
    no_merchant, no_key = (404, "merchantNotFound"), (404, "keyNotFound")
    ok, created = {(200, None)}, {(201, None)}
    # These routes concern no merchant, so a caller with the permit for another merchant is admitted too.
    any_machine, any_reader = MACHINES | {"token for another merchant"}, READERS | FOREIGN
    return {
        "GET /v1/merchants/{merchantIdentifier}": REST(own, READERS, ok, no_merchant),
        "GET /v1/merchants/{merchantIdentifier}/onboarding": REST(f"{own}/onboarding", READERS, ok, no_merchant),
        "GET /v1/merchants/{merchantIdentifier}/keys": REST(f"{own}/keys", READERS, ok, no_merchant),
        # At most 4 key pairs of a merchant wait for a certificate.
        "POST /v1/merchants/{merchantIdentifier}/keys": REST(
            f"{own}/keys", MACHINES, created | {(409, "tooManyPendingKeys")}, no_merchant, "{}"),
        "POST /v1/merchants/{merchantIdentifier}/certificates": REST(
            f"{own}/certificates", MACHINES, ok, no_merchant, world.certificate, "application/pkix-cert"),
        "POST /v1/certificates": REST(
            "/v1/certificates", MACHINES, ok, (422, "certificateForAnotherMerchant"), world.certificate,
            "application/pkix-cert"),
        "GET /v1/keys/{publicKeyHash}": REST(f"/v1/keys/{key}", READERS, ok, no_key),
        "GET /v1/keys/{publicKeyHash}/csr": REST(f"/v1/keys/{key}/csr", READERS, ok, no_key),
        "POST /v1/merchants/{merchantIdentifier}/rolls": REST(f"{own}/rolls", MACHINES, ok, no_merchant, "{}"),
        "GET /v1/rolls": REST(f"/v1/rolls?merchant={OWN}", READERS, ok, no_merchant),
        "GET /v1/rolls/{rollId}": REST(f"/v1/rolls/{roll}", READERS, ok, (404, "rollNotFound")),
        "GET /v1/registrations": REST(f"/v1/registrations?merchant={OWN}", READERS, ok, no_merchant),
        "POST /v1/registrations": REST(
            "/v1/registrations", MACHINES, created, no_merchant,
            json.dumps({"partnerInternalMerchantIdentifier": PARTNER, "domainNames": ["table." + OWN_DOMAIN],
                        "merchantIdentifier": OWN})),
        "GET /v1/registrations/{partnerInternalMerchantIdentifier}": REST(
            f"/v1/registrations/{PARTNER}", READERS, ok, (404, "registrationNotFound")),
        "DELETE /v1/registrations/{partnerInternalMerchantIdentifier}": REST(
            f"/v1/registrations/{PARTNER}?dryRun=true", MACHINES, ok, (404, "registrationNotFound"),
            json.dumps({"reason": "table"})),
        "GET /v1/domain-file": REST("/v1/domain-file", any_reader, ok, None),
        "POST /v1/domain-checks": REST(
            "/v1/domain-checks", any_machine, ok, None, json.dumps({"domainName": OWN_DOMAIN})),
        # All other callers lack the permit merchantSession, whatever their merchant is.
        "POST /v1/merchant-sessions": REST(
            "/v1/merchant-sessions", CHECKOUT_SERVERS, ok, (403, "forbidden"),
            json.dumps({"partnerInternalMerchantIdentifier": PARTNER, "displayName": "Shop", "initiative": "web",
                        "initiativeContext": OWN_DOMAIN})),
        "POST /v1/invitations": REST(
            "/v1/invitations", MACHINES, created, no_merchant,
            json.dumps({"merchantIdentifier": OWN, "note": OWN_NOTE})),
        "GET /.well-known/apple-developer-merchantid-domain-association": REST(
            "/.well-known/apple-developer-merchantid-domain-association", EVERYONE, ok, None),
        # Apple sends these without credentials, and gets 200 also for an invalid identifier, which is not stored.
        "GET /tokenapi/notification/merchantToken/{eventId}": REST(
            "/tokenapi/notification/merchantToken/%20", EVERYONE | REFUSED_TOKENS, ok, None),
        "GET /tokenapi/{secret}/notification/merchantToken/{eventId}": REST(
            "/tokenapi/unknown/notification/merchantToken/%20", EVERYONE | REFUSED_TOKENS, ok, None),
        # The table's daemon has no hook for usage information.
        "GET /tokenapi/v1/merchantToken/{merchantTokenIdentifier}/usageInformation": REST(
            "/tokenapi/v1/merchantToken/unknown/usageInformation", EVERYONE | REFUSED_TOKENS,
            {(404, "notFound")}, None),
        "GET /v1/health": REST("/v1/health", EVERYONE, ok, None),
        "GET /v1/openapi.yaml": REST("/v1/openapi.yaml", EVERYONE, ok, None),
    }


def rest_refusal(caller, method, route):
    """The outcome for a caller who is not admitted."""
    if caller.name in NO_CALLER | REFUSED_TOKENS:
        return (401, "unauthorized")
    # Another site could make a browser send the cookie, so a session only reads.
    if caller.name in WITHOUT_ONBOARD or (caller.name in SESSIONS and method not in ["GET", "HEAD"]):
        return (403, "forbidden")
    return route.foreign


def operations_in_document(repository):
    """The operations of the portal in the OpenAPI document, with the permit of each."""
    found, path, method = {}, None, None
    for line in open(f"{repository}/schema/openapi.yaml"):
        if match := re.match(r"  (/\S+):\s*$", line):
            path = match[1]
        elif match := re.match(r"    (get|put|post|delete|patch|head|options|trace):\s*$", line):
            method = match[1].upper()
        elif match := re.match(r"      x-sockets: \{.*\bportal: (\w+).*\}", line):
            found[f"{method} {path}"] = match[1]
    return found
