"""Records of another merchant and records that do not exist."""
import json
import re

from client import Caller
from daemon import changed_tables
from names import JSON_TYPE, MISSING, MISSING_PARTNER, OTHER, OWN, OWN_DOMAIN, PARTNER
from rest_table import rest_table


def check_others(world, results):
    """Requests for records of another merchant get exactly the responses for records that do not exist."""
    client = world.client
    permits = ["--permit", "onboard", "--permit", "merchantSession"]
    token = Caller("token", world.access("other", *permits, "--merchant", OTHER)["token"])
    session = world.session("session", OTHER)
    owner = Caller("owner", world.access("owner", "--permit", "onboard", "--merchant", OWN)["token"])
    # A certificate for a key pair that is in no database, of a merchant that does not exist.
    world.site.run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                   "/CN=x", "-keyout", world.site.path("alien.key"), "-out", world.site.path("alien.csr"))
    world.site.apple("issue", "--csr", world.site.path("alien.csr"), "--merchant", MISSING, "--out",
                     world.site.path("alien.cer"))
    alien = open(world.site.path("alien.cer"), "rb").read()
    own, missing = f"/v1/merchants/{OWN}", f"/v1/merchants/{MISSING}"
    key, no_key = world.spelled(world.own_key), world.spelled(world.missing_key)
    roll, no_roll = world.roll, world.missing_roll
    by_key = [(world.own_key, world.missing_key), (key, no_key)]
    by_merchant, by_roll = [(OWN, MISSING)], [(str(roll), str(no_roll))]
    by_partner = [(PARTNER, MISSING_PARTNER)]

    def register(merchant, partner="new-shop"):
        return json.dumps({"partnerInternalMerchantIdentifier": partner, "partnerMerchantName": "x",
                           "domainNames": ["x.example"], "merchantIdentifier": merchant})

    def invite(merchant):
        return json.dumps({"merchantIdentifier": merchant})

    def merchant_session(field, identifier):
        return json.dumps({field: identifier, "displayName": "x", "initiative": "web", "initiativeContext": OWN_DOMAIN})

    reason = json.dumps({"reason": "x"})
    # The method, then the paths, bodies and identifiers, each for the existing record and for the missing one.
    cases = [
        ("GET", own, missing, None, None, by_merchant),
        ("GET", f"{own}/onboarding", f"{missing}/onboarding", None, None, by_merchant),
        ("GET", f"{own}/keys", f"{missing}/keys", None, None, by_merchant),
        ("POST", f"{own}/keys", f"{missing}/keys", "{}", "{}", by_merchant),
        ("POST", f"{own}/keys", f"{missing}/keys", "{", "{", by_merchant),
        ("POST", f"{own}/rolls", f"{missing}/rolls", "{}", "{}", by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", world.certificate, world.certificate, by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", "no certificate", "no certificate", by_merchant),
        ("POST", f"{own}/certificates", f"{missing}/certificates", "", "", by_merchant),
        # The certificate of the own merchant's key pair, and one of a merchant and a key pair that do not exist.
        ("POST", "/v1/certificates", "/v1/certificates", world.certificate, alien, []),
        ("POST", f"/v1/merchants/{OTHER}/certificates", f"/v1/merchants/{OTHER}/certificates", world.certificate, alien, []),
        ("GET", f"/v1/keys/{key}", f"/v1/keys/{no_key}", None, None, by_key),
        ("GET", f"/v1/keys/{key}/csr", f"/v1/keys/{no_key}/csr", None, None, by_key),
        ("GET", f"/v1/rolls?merchant={OWN}", f"/v1/rolls?merchant={MISSING}", None, None, by_merchant),
        ("GET", f"/v1/rolls?merchant={OWN}&cursor=1", f"/v1/rolls?merchant={MISSING}&cursor=1", None, None, by_merchant),
        ("GET", f"/v1/rolls/{roll}", f"/v1/rolls/{no_roll}", None, None, by_roll),
        ("GET", f"/v1/registrations?merchant={OWN}", f"/v1/registrations?merchant={MISSING}", None, None, by_merchant),
        ("POST", "/v1/registrations", "/v1/registrations", register(OWN), register(MISSING), by_merchant),
        ("POST", "/v1/registrations", "/v1/registrations", register(OWN, PARTNER), register(MISSING, PARTNER), by_merchant),
        ("GET", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", None, None, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", reason, reason, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}?dryRun=true", f"/v1/registrations/{MISSING_PARTNER}?dryRun=true", reason,
         reason, by_partner),
        ("DELETE", f"/v1/registrations/{PARTNER}", f"/v1/registrations/{MISSING_PARTNER}", "{}", "{}", by_partner),
        ("POST", "/v1/invitations", "/v1/invitations", invite(OWN), invite(MISSING), by_merchant),
        ("POST", "/v1/merchant-sessions", "/v1/merchant-sessions", merchant_session("merchantIdentifier", OWN),
         merchant_session("merchantIdentifier", MISSING), by_merchant),
        ("POST", "/v1/merchant-sessions", "/v1/merchant-sessions",
         merchant_session("partnerInternalMerchantIdentifier", PARTNER),
         merchant_session("partnerInternalMerchantIdentifier", MISSING_PARTNER), by_partner),
    ]
    before = world.site.rows()
    names = {case[0] + " " + re.sub(r"\?.*", "", case[1]) for case in cases}
    for operation, route in rest_table(world).items():
        if route.foreign is not None:
            path = operation.split(" ")[0] + " " + re.sub(r"\?.*", "", route.path)
            results.expect(path in names, f"{operation} is compared with a missing record", path)
    for caller in [token, session]:
        for method, existing, absent, body, absent_body, identifiers in cases:
            if caller is session and method != "GET":
                continue
            for actual_method in [method] + (["HEAD"] if method == "GET" else []):
                answers = []
                for path, content, index in [(existing, body, 0), (absent, absent_body, 1)]:
                    type = JSON_TYPE if isinstance(content, str) and content.startswith("{") else "application/pkix-cert"
                    headers = {**caller.headers, **({"Content-Type": type} if content is not None else {})}
                    answer = client.send(actual_method, path, headers, content)
                    answers.append(comparable(answer, [pair[index] for pair in identifiers]))
                case = f"{actual_method} {existing} with a {caller.name} is answered as {absent}"
                results.expect(answers[0] == answers[1] and answers[0][0] >= 400, case, answers)
    # Pages.
    for path, absent in [(f"/merchant/keys/{key}/csr", f"/merchant/keys/{no_key}/csr"),
                         (f"/merchant/domains/unregister?partner={PARTNER}&domain=x.example",
                          f"/merchant/domains/unregister?partner={MISSING_PARTNER}&domain=x.example")]:
        answers = [comparable(client.send("GET", each, session.headers), []) for each in [path, absent]]
        results.expect(answers[0] == answers[1] and answers[0][0] == 404, f"GET {path} is answered as {absent}",
                       answers)
    for fields in [({"partner": PARTNER, "domain": OWN_DOMAIN}, {"partner": MISSING_PARTNER, "domain": OWN_DOMAIN})]:
        answers = [comparable(client.form("/merchant/domains/unregister", each, session), []) for each in fields]
        results.expect(answers[0] == answers[1] and answers[0][0] >= 400, "the form to remove a domain", answers)
    answers = [comparable(client.form("/merchant/certificates", {"certificate": file}, session), [])
               for file in [world.certificate, alien]]
    results.expect(answers[0] == answers[1] and answers[0][0] >= 400, "the upload of another merchant's certificate",
                   [answer[0] for answer in answers])
    # An Idempotency-Key of another caller has no effect.
    shared = {"Idempotency-Key": "shared", "Content-Type": JSON_TYPE}
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], "none of these requests changes a record", changes)
    created = client.send("POST", f"{own}/keys", {**owner.headers, **shared}, "{}")
    repeated = client.send("POST", f"{own}/keys", {**owner.headers, **shared}, "{}")
    results.expect(created.status == 201 and repeated.body == created.body, "the owner's repeat gets the same key pair")
    stolen = client.send("POST", f"{own}/keys", {**token.headers, **shared}, "{}")
    results.expect(stolen.outcome == (404, "merchantNotFound"), "another caller's Idempotency-Key", stolen.outcome)


def comparable(response, identifiers):
    """A response without what differs in every response, and without the identifiers of the request."""
    text = response.text
    for pattern in [r'"requestId":"[^"]*"', r'[0-9a-f]{16}(?=</)', r'value="[^"]*"', r'"instance":"[^"]*"']:
        text = re.sub(pattern, "", text)
    text = re.sub(re.escape(response.headers.get("X-Request-Id", "-")), "", text)
    for identifier in sorted(identifiers, key=len, reverse=True):
        text = text.replace(identifier, "IDENTIFIER")
    headers = sorted((name.lower(), value) for name, value in response.headers.items()
                     if name.lower() not in ["date", "x-request-id", "content-length"])
    return (response.status, headers, text)
