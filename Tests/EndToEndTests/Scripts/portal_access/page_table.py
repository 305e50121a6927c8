"""The table of pages: the audience of each, and the statuses."""
import collections
import glob
import re

from names import OWN, OWN_DOMAIN, PARTNER
from rest_table import EVERYONE, REFUSED_TOKENS, SESSIONS

Page = collections.namedtuple("Page", "path audience success fields foreign", defaults=(None, None))


def page_table(world):
    """By method and path: the audience, the statuses for admitted callers, the fields of the form, and the statuses for
    a person at another merchant if the form or the path names a record of the own merchant."""
    key, revocation = world.spelled(world.own_key), f"/fleet/invitations/{world.open_invitation}/revoke"
    domain = f"partner={PARTNER}&domain=page.{OWN_DOMAIN}"
    return {
        "GET /": Page("/", "everyone", {200}),
        "GET /assets/{file}": Page(world.asset, "everyone", {200}),
        "GET /invitations/{secret}": Page("invitation", "everyone", {200}),
        "POST /invitations/{secret}": Page("invitation", "everyone", {303}, {}),
        "GET /login/{secret}": Page("login", "everyone", {200}),
        "POST /login/{secret}": Page("login", "everyone", {303}, {}),
        "GET /merchant/keys": Page("/merchant/keys", "merchant", {200}),
        "POST /merchant/keys": Page("/merchant/keys", "merchant", {303}, {}),
        "GET /merchant/keys/{publicKeyHash}/csr": Page(f"/merchant/keys/{key}/csr", "merchant", {200}, foreign={404}),
        "POST /merchant/certificates": Page(
            "/merchant/certificates", "merchant", {303}, {"certificate": world.certificate}, {200, 409, 422}),
        "GET /merchant/roll": Page("/merchant/roll", "merchant", {200}),
        "POST /merchant/roll": Page("/merchant/roll", "merchant", {303}, {}),
        "GET /merchant/domains": Page("/merchant/domains", "merchant", {200}),
        "POST /merchant/domains": Page(
            "/merchant/domains", "merchant", {303}, {"domain": f"page.{OWN_DOMAIN}", "name": "Page"}),
        "GET /merchant/domains/file": Page("/merchant/domains/file", "merchant", {200}),
        "POST /merchant/domains/check": Page("/merchant/domains/check", "merchant", {200}, {"domain": OWN_DOMAIN}),
        "GET /merchant/domains/unregister": Page(
            f"/merchant/domains/unregister?{domain}", "merchant", {200}, foreign={404}),
        "POST /merchant/domains/unregister": Page(
            "/merchant/domains/unregister", "merchant", {303},
            {"partner": PARTNER, "domain": f"page.{OWN_DOMAIN}"}, {200, 404, 409, 422}),
        "GET /fleet": Page("/fleet", "operators", {200}),
        "GET /fleet/search": Page("/fleet/search?q=merchant", "operators", {200}),
        "GET /fleet/merchants/{merchantIdentifier}": Page(f"/fleet/merchants/{OWN}", "operators", {200}),
        "GET /fleet/invitations": Page("/fleet/invitations", "operators", {200}),
        "POST /fleet/invitations": Page(
            "/fleet/invitations", "onboarding operators", {303}, {"merchant": OWN, "days": "7", "note": "table"}),
        "GET /fleet/invitations/new": Page("/fleet/invitations/new", "operators", {200}),
        "GET /fleet/invitations/{invitationId}": Page(
            f"/fleet/invitations/{world.open_invitation}", "operators", {200}),
        "GET /fleet/invitations/{invitationId}/revoke": Page(
            revocation, "operators", {200}),
        "POST /fleet/invitations/{invitationId}/revoke": Page(
            revocation, "onboarding operators", {303}, {}),
        # The last row, because it ends the session.
        "POST /sign-out": Page("/sign-out", "sessions", {200}, {}),
    }


AUDIENCES = {
    "everyone": EVERYONE | REFUSED_TOKENS,
    "sessions": SESSIONS,
    "merchant": {"invitation session", "invitation session of another merchant"},
    "operators": {"operator session with read", "operator session with read and onboard"},
    "onboarding operators": {"operator session with read and onboard"},
}


def page_statuses(caller, page, name):
    if caller.name in AUDIENCES[page.audience]:
        if caller.name == "invitation session of another merchant" and page.foreign:
            return page.foreign
        # Operators begin at another page.
        return {303} if name == "GET /" and caller.name.startswith("operator") else page.success
    # Without a session there is no valid token for the form.
    return {403} if caller.name in SESSIONS or name == "POST /sign-out" else {401}


def pages_in_sources(repository):
    found = set()
    for path in glob.glob(f"{repository}/Sources/PortalServer/PageServer/PageHandlers+*.swift"):
        for method, route in re.findall(r'\.(get|post)\(\s*"([^"]+)"', open(path).read()):
            found.add(f"{method.upper()} {route}")
    return found
