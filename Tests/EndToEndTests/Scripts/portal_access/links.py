"""The links of invitations and logins."""
import collections
import hashlib
import hmac
import random
import time

from client import Caller, parallel, path_of
from daemon import changed_tables
from names import COOKIE, OWN
from results import wait_for


def check_once(world, results):
    """Of 20 people who use an invitation at the same time, exactly one gets a session."""
    client = world.client
    for round in range(5):
        invitation = world.invitation()
        path = path_of(invitation["url"])
        sessions = world.site.count("SELECT count(*) FROM portal_sessions")
        before = world.site.rows()
        for method in ["GET", "HEAD", "GET"]:
            shown = client.send(method, path)
            results.expect(shown.status == 200 and shown.cookie is None, f"{method} does not use the link",
                           shown.status)
        results.expect(changed_tables(before, world.site.rows()) == [], "opening a link changes nothing")
        answers = parallel(20, world, lambda each, _: each.form(path, {}, token=shown.form_token))
        statuses = sorted(answer.status for answer in answers)
        results.expect(statuses == [303] + [410] * 19, "one of 20 wins", statuses)
        cookies = {answer.cookie for answer in answers if answer.cookie}
        results.expect(len(cookies) == 1, "one session begins", len(cookies))
        results.expect(world.site.count("SELECT count(*) FROM portal_sessions") == sessions + 1,
                       "one session is stored")
        used = world.site.count(
            f"SELECT count(*) FROM audit WHERE action = 'invitationUsed' AND value_after LIKE '%{invitation['invitationId']}%'")
        results.expect(used == 1, "the audit has one use", used)
        refused = client.send("GET", path)
        results.expect(refused.status == 410 and world.site.shows(refused, "invitationRefused", "used", "title"),
                       "the used link's page", refused.status)
        session = Caller("winner", cookie=cookies.pop() if cookies else "x")
        results.expect(client.send("GET", "/merchant/keys", session.headers).status == 200, "the winner is signed in")
    revoked, expired = world.invitation(), world.site.ctl("invite", "create", OWN, "--expires", "1s")
    path = path_of(revoked["url"])
    token = client.send("GET", path).form_token
    world.site.ctl("invite", "revoke", revoked["invitationId"])
    refused = client.form(path, {}, token=token)
    results.expect(refused.status == 410 and world.site.shows(refused, "invitationRefused", "revoked", "title")
                   and not refused.cookie, "a revoked invitation", refused.status)
    path = path_of(expired["url"])
    wait_for("the end of an invitation", lambda: client.send("GET", path).status == 410)
    results.expect(world.site.shows(client.send("GET", path), "invitationRefused", "expired", "title"),
                   "an expired invitation says so")
    check_guessing(world, results)


def check_guessing(world, results):
    """One address cannot try many links or tokens, even with the right token of the form."""
    client = world.client
    for number, (what, path) in enumerate([("invitation", "/invitations/mki_"), ("login", "/login/mkl_")]):
        for method in ["GET", "POST"]:
            address = f"192.0.2.{10 + 2 * number + (method == 'POST')}"
            statuses = collections.Counter()
            for _ in range(30):
                target = path + "".join(random.choice("0123456789abcdef") for _ in range(46))
                headers = {"X-Forwarded-For": address}
                if method == "GET":
                    response = client.send("GET", target, headers)
                else:
                    response = client.form(target, {}, token=form_token_of(target.rsplit("/", 1)[1]), further=headers)
                statuses[response.status] += 1
            results.expect(statuses[429] >= 5 and statuses[429] + statuses[404] == 30,
                           f"{method} with unknown secrets of kind {what} is limited for each address", dict(statuses))
    tokens = collections.Counter(
        client.send("GET", f"/v1/merchants/{OWN}", {"Authorization": f"Bearer mka_{number:046}",
                                                   "X-Forwarded-For": "192.0.2.30"}).status for number in range(30))
    results.expect(tokens[429] >= 5 and tokens[401] + tokens[429] == 30, "wrong tokens are limited for each address",
                   dict(tokens))


def form_token_of(secret):
    """The token of the forms of a link, as an attacker who knows the source code can compute it."""
    return hmac.new(secret.encode(), b"form token", hashlib.sha256).hexdigest()


def check_login(world, results):
    """An operator's login works once, and for 60 seconds only."""
    client = world.client
    begin = time.monotonic()
    unused = world.site.ctl("console")
    created = time.monotonic()
    unused_path = path_of(unused["url"])
    token = client.send("GET", unused_path).form_token
    path = path_of(world.site.ctl("console")["url"])
    for method in ["GET", "HEAD", "GET"]:
        shown = client.send(method, path)
        results.expect(shown.status == 200 and shown.cookie is None, f"{method} does not use the login", shown.status)
    answers = parallel(20, world, lambda each, _: each.form(path, {}, token=shown.form_token))
    statuses = sorted(answer.status for answer in answers)
    results.expect(statuses == [303] + [404] * 19, "one of 20 wins", statuses)
    cookies = [answer.cookie for answer in answers if answer.cookie]
    results.expect(len(cookies) == 1, "one session begins", len(cookies))
    results.expect(client.send("GET", path).status == 404, "the used login's page")
    results.expect(client.send("GET", "/fleet", {"Cookie": f"{COOKIE}={cookies[0]}"}).status == 200,
                   "the winner is signed in")
    # An invitation's secret does not work as a login, and a login's secret does not work as an invitation.
    crossed = path_of(world.invitation()["url"]).replace("/invitations/", "/login/")
    results.expect(client.send("GET", crossed).status == 404, "an invitation's secret is no login")
    results.expect(client.send("GET", unused_path.replace("/login/", "/invitations/")).status == 404,
                   "a login's secret is no invitation")
    wait_for("the end of the login", lambda: client.send("GET", unused_path).status == 404, 75)
    results.expect(59 <= time.monotonic() - begin and time.monotonic() - created <= 63, "the login ends after 60 s",
                   round(time.monotonic() - created, 1))
    late = client.form(unused_path, {}, token=token)
    results.expect(late.status == 404 and late.cookie is None, "a login after 60 s begins no session", late.status)
    # An admin ends the session, and a link that was not used.
    link = path_of(world.site.ctl("console")["url"])
    ended = world.site.ctl("console", "--end-sessions")
    results.expect(ended["sessionsEnded"] >= 1 and ended["linksEnded"] == 1, "an admin ends the session", ended)
    after = client.send("GET", "/fleet", {"Cookie": f"{COOKIE}={cookies[0]}"})
    results.expect(after.status == 401, "the ended session", after.status)
    results.expect(client.send("GET", link).status == 404, "the link that an admin ended")
