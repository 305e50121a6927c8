"""The pages of errors."""
import re

from client import path_of
from names import JSON_TYPE, OWN


def check_errors(world, results):
    """The page of an error has the navigation of the session, and a person can sign out on it."""
    merchant, operator = world.session("merchant"), world.operator("operator")
    navigation = {merchant.name: ["/", "/merchant/keys", "/merchant/domains"],
                  operator.name: ["/fleet", "/fleet/search", "/fleet/invitations"]}
    forbidden = {merchant.name: "/fleet", operator.name: "/merchant/keys"}
    for caller in [merchant, operator]:
        pages = [
            (404, world.client.send("GET", "/no-such-page", caller.headers)),
            (404, world.client.send("GET", "/assets/no-such-file", caller.headers)),
            (405, world.client.send("GET", "/merchant/certificates", caller.headers)),
            (405, world.client.send("PUT", "/", caller.headers)),
            (400, world.client.send("GET", "/merchant/keys/%zz/csr", caller.headers)),
            (403, world.client.send("GET", forbidden[caller.name], caller.headers)),
            (403, world.client.form("/sign-out", {}, caller, token="0" * 64)),
            (413, world.client.form("/sign-out", {"text": "x" * 20_000}, caller)),
            (400, world.client.send("POST", "/sign-out", {**caller.headers, "Origin": world.site.url,
                                                          "Content-Type": JSON_TYPE}, "{}")),
            (404, world.client.send("GET", f"/invitations/mki_{'0' * 46}", caller.headers)),
        ]
        for status, page in pages:
            case = f"the page with the status {status} for the {caller.name}"
            results.expect(page.status == status, case, page.status)
            results.expect(links(page) == navigation[caller.name], f"{case} has the navigation", links(page))
            results.expect(sign_out_token(page) == caller.form_token, f"{case} has the form to sign out")
    page = world.client.send("GET", "/no-such-page")
    results.expect(page.status == 404 and links(page) == [] and sign_out_token(page) is None,
                   "without a session the page has no navigation", links(page))
    large = world.client.form("/sign-out", {"text": "x" * 20_000}, merchant)
    results.expect("at most 16 KB" in large.text, "the page names the limit of the form", large.text[-800:])
    check_link(world, results, merchant)
    check_rate(world, results, navigation)


def check_link(world, results, merchant):
    """The page of another link has a form for the link and a form to sign out, with a token each."""
    page = world.client.send("GET", path_of(world.invitation(OWN)["url"]), merchant.headers)
    results.expect(page.status == 200 and sign_out_token(page) == merchant.form_token,
                   "the page of a link has the form to sign out", page.status)
    done = world.client.form("/sign-out", {}, merchant, token=sign_out_token(page))
    results.expect(done.status == 200, "a person can sign out on the page of another link", done.status)


def check_rate(world, results, navigation):
    caller = world.session("merchant")
    world.site.limits["requests-per-minute-by-token"] = 60
    world.restart(None)
    for _ in range(200):
        page = world.client.send("GET", "/merchant/keys", caller.headers)
        if page.status == 429:
            break
    results.expect(page.status == 429 and links(page) == navigation[caller.name],
                   "the page with the status 429 has the navigation", f"{page.status} {links(page)}")


def links(page):
    """The addresses in the navigation."""
    navigation = re.search(r'<nav class="nav".*?</nav>', page.text, re.DOTALL)
    return re.findall(r'href="([^"]+)"', navigation[0]) if navigation else []


def sign_out_token(page):
    found = re.search(r'action="/sign-out">\s*<input type="hidden" name="csrf" value="([0-9a-f]+)"', page.text)
    return found and found[1]
