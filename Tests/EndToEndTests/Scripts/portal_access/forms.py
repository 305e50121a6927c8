"""Forms: where they come from, and what happens if they are sent twice or too late."""
import secrets

from client import open_link, parallel, path_of
from daemon import changed_tables
from names import COOKIE, OTHER, OWN
from page_table import page_table
from routes import is_own


def check_forms(world, results):
    check_form_origin(world, results)
    check_repeated_forms(world, results)
    check_two_tabs(world, results)
    check_ended_session(world, results)
    check_another_link(world, results)


def check_another_link(world, results):
    """A signed-in person can use another link, which ends the earlier session."""
    former = world.session("session before another link")
    link = path_of(world.invitation()["url"])
    shown = world.client.send("GET", link)
    begun = world.client.form(link, {}, former, token=shown.form_token)
    results.expect(begun.status == 303, "a signed-in person can use another link", begun.status)
    results.expect(world.client.send("GET", "/merchant/keys", former.headers).status == 401,
                   "the session before another link has ended", None)


def check_form_origin(world, results):
    """Every form is refused without its token or from another site, and changes nothing."""
    client, url = world.client, world.site.url
    merchant, operator = world.session("merchant"), world.operator("operator")
    outsider = world.session("outsider", OTHER)
    wrong = ("0" if merchant.form_token[0] != "0" else "1") + merchant.form_token[1:]
    link, login = world.invitation(), world.site.ctl("console")
    before = world.site.rows()
    refused = [
        ("without a token", {"token": None}), ("with an empty token", {"token": ""}), ("with a wrong token", {"token": wrong}),
        ("with the token of another session", {"token": outsider.form_token}),
        ("with half of the token", {"token": merchant.form_token[:32]}),
        ("from another site", {"origin": "https://attacker.example"}), ("without an origin", {"origin": None}),
        ("from the portal's host without TLS", {"origin": url.replace("https", "http")}),
        ("from a longer host", {"origin": url + ".attacker.example"}),
        ("with the origin null", {"origin": "null"}),
        ("with the origin null, from a site of the same domain",
         {"origin": "null", "further": {"Sec-Fetch-Site": "same-site"}}),
        ("with the origin null, from another site", {"origin": "null", "further": {"Sec-Fetch-Site": "cross-site"}}),
        ("with the origin null, from the address line", {"origin": "null", "further": {"Sec-Fetch-Site": "none"}}),
    ]
    for name, page in page_table(world).items():
        if not name.startswith("POST"):
            continue
        caller = operator if "operators" in page.audience else merchant
        path, token = page.path, caller.form_token
        if path in ["invitation", "login"]:
            caller, path = None, path_of((link if path == "invitation" else login)["url"])
            token = client.send("GET", path).form_token
        for what, options in refused:
            response = client.form(path, page.fields, caller, **{"token": token, **options})
            results.expect(response.status == 403 and world.site.shows(response, "error", "formExpired", "title"),
                           f"{name} {what}",
                           f"{response.status} {response.text[:200]}")
    changes = changed_tables(before, world.site.rows())
    results.expect(changes == [], "no refused form changes a record", changes)
    # The same form from the portal, also with the origin that browsers send with Referrer-Policy: no-referrer.
    for origin, further in [("portal", None), ("null", {"Sec-Fetch-Site": "same-origin"})]:
        done = client.form("/merchant/roll", {}, merchant, origin=origin, further=further)
        results.expect(done.status == 303, f"a form of the portal with the origin {origin}", done.status)


def check_repeated_forms(world, results):
    """A form that is sent twice, one after the other or at the same time, has an effect once."""
    client, operator = world.client, world.operator("operator")
    merchant = world.session("repeats", OTHER)
    counts = {
        "invitations": "SELECT count(*) FROM invitations",
        "key pairs": "SELECT count(*) FROM key_pairs", "rolls": "SELECT count(*) FROM rolls",
        "registrations": "SELECT count(*) FROM registrations",
        "calls to Apple": "SELECT count(*) FROM registration_calls",
    }

    def count():
        return {name: world.site.count(query) for name, query in counts.items()}

    invite = {"merchant": OWN, "days": "7", "note": "twice"}
    key = client.send("GET", "/fleet/invitations/new", operator.headers).form_key
    begin = count()
    sent = [client.form("/fleet/invitations", {**invite, "idempotencyKey": key}, operator) for _ in range(2)]
    results.expect([each.status for each in sent] == [303, 303] and sent[0].headers["Location"] == sent[1].headers["Location"],
                   "the same form leads to the same invitation", [each.status for each in sent])
    shown = [client.send("GET", sent[0].headers["Location"], operator.headers) for _ in range(2)]
    results.expect(["/invitations/mki_" in page.text for page in shown] == [True, False], "the link is shown once",
                   [page.status for page in shown])
    results.expect(count()["invitations"] == begin["invitations"] + 1, "the same form creates one invitation", count())
    changed = client.form("/fleet/invitations", {**invite, "note": "other", "idempotencyKey": key}, operator)
    results.expect(count()["invitations"] == begin["invitations"] + 1 and "/invitations/mki_" not in changed.text,
                   "the same key with another content creates nothing", changed.status)
    key = secrets.token_hex(16)
    answers = parallel(20, world, lambda each, _: each.form("/fleet/invitations", {**invite, "idempotencyKey": key}, operator))
    pages = {answer.headers["Location"] for answer in answers if answer.status == 303}
    results.expect(len(pages) == 1 and {answer.status for answer in answers} <= {303, 422}
                   and count()["invitations"] == begin["invitations"] + 2,
                   "of 20 equal forms at the same time one creates an invitation", [answer.status for answer in answers])

    begin, key = count(), secrets.token_hex(16)
    answers = parallel(8, world, lambda each, _: each.form("/merchant/roll", {"idempotencyKey": key}, merchant))
    results.expect({answer.status for answer in answers} == {303} and count()["rolls"] == begin["rolls"] + 1
                   and count()["key pairs"] == begin["key pairs"] + 1, "the same form starts one roll",
                   f"{[answer.status for answer in answers]} {begin} {count()}")
    begin, fields = count(), {"domain": "twice.example", "name": "Twice", "idempotencyKey": secrets.token_hex(16)}
    answers = [client.form("/merchant/domains", fields, merchant) for _ in range(2)]
    results.expect([answer.status for answer in answers] == [303, 303], "the same form registers a domain twice",
                   [answer.status for answer in answers])
    results.expect(count()["registrations"] == begin["registrations"] + 1
                   and count()["calls to Apple"] == begin["calls to Apple"] + 1, "the second form sends nothing to Apple",
                   f"{begin} {count()}")


def check_two_tabs(world, results):
    client, tabs = world.client, world.session("tabs")
    first, second = [client.send("GET", "/merchant/roll", tabs.headers) for _ in range(2)]
    results.expect(first.form_token == second.form_token == tabs.form_token, "two tabs have the same token")
    results.expect(first.form_key and second.form_key and first.form_key != second.form_key,
                   "two tabs have their own keys")
    rolls = world.site.count("SELECT count(*) FROM rolls WHERE ended_at IS NULL")
    for tab in [first, second]:
        done = client.form("/merchant/roll", {"idempotencyKey": tab.form_key}, tabs, token=tab.form_token)
        results.expect(done.status == 303, "both tabs can send their form", done.status)
    results.expect(world.site.count("SELECT count(*) FROM rolls WHERE ended_at IS NULL") == rolls,
                   "two tabs start no second roll")
    # Another invitation in one tab replaces the cookie of both; the form of the other tab is refused.
    newer = world.session("newer", OTHER)
    before = world.site.rows()
    done = client.form("/merchant/keys", {"idempotencyKey": first.form_key}, newer, token=first.form_token)
    results.expect(done.status == 403 and world.site.shows(done, "error", "formExpired", "title"),
                   "a form of the session before", done.status)
    results.expect(changed_tables(before, world.site.rows()) == [], "a form of the session before changes nothing")
    # Both cookies: the server cannot know which is meant.
    both = client.send("GET", "/merchant/keys", {"Cookie": f"{COOKIE}={tabs.cookie}; {COOKIE}={newer.cookie}"})
    results.expect(both.status == 401, "two cookies are no session", both.status)
    # Signing out in one tab ends the other.
    done = client.form("/sign-out", {}, tabs)
    results.expect(done.status == 200 and "Max-Age=0" in done.headers.get("Set-Cookie", ""),
                   "signing out ends the cookie")
    done = client.form("/merchant/roll", {"idempotencyKey": second.form_key}, tabs, token=second.form_token)
    results.expect(done.status == 401 and world.site.shows(done, "sessionEnded", "form"),
                   "the other tab shows that the session ended",
                   done.status)
    results.expect(client.form("/sign-out", {}, tabs).status == 403, "signing out again changes nothing")


def check_ended_session(world, results):
    """A session that ended while a person chose a file: the page says so, and nothing is stored."""
    client = world.client
    invitation = world.invitation()
    caller = open_link(client, "chooses", invitation["url"])
    world.site.ctl("invite", "revoke", invitation["invitationId"])
    signed_out = world.session("signed out")
    client.form("/sign-out", {}, signed_out)
    before = world.site.rows()
    for visitor in [caller, signed_out]:
        done = client.form("/merchant/certificates", {"certificate": world.certificate, "idempotencyKey": "x"}, visitor)
        results.expect(done.status == 401, "an upload after the end of the session", done.status)
        results.expect(world.site.shows(done, "sessionEnded", "upload") and world.site.shows(done, "sessionEnded", "action"),
                       "the page says that the file was not stored and what to do", done.text[:400])
        results.expect(not is_own(done.text), "the page shows nothing of the merchant")
    results.expect(changed_tables(before, world.site.rows()) == [], "the upload after the end stores nothing")
