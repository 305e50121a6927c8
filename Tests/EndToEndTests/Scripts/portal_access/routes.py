"""Each route with each kind of caller: the portal admits exactly the callers that the tables list."""
import os
import secrets

from client import path_of
from names import OWN, OWN_DOMAIN, OWN_NAME, OWN_NOTE
from page_table import AUDIENCES, page_statuses, page_table, pages_in_sources
from rest_table import (EVERYONE, REFUSED_TOKENS, SESSIONS, WITHOUT_ONBOARD, operations_in_document, rest_refusal,
                        rest_table)


def check_tables(world, results):
    """A new route fails this check until the tables list it."""
    documented = operations_in_document(world.site.repository)
    table = rest_table(world)
    results.expect(len(documented) > 10 and set(documented) == set(table), "the table lists every REST operation",
                   sorted(set(documented) ^ set(table)))
    for name, permit in documented.items():
        needs_no_permit = name in table and "no credentials" in table[name].admits
        results.expect((permit == "none") == needs_no_permit, f"the table and the document agree about {name}", permit)
    pages = pages_in_sources(world.site.repository)
    results.expect(len(pages) > 15 and pages == set(page_table(world)), "the table lists every page",
                   sorted(pages ^ set(page_table(world))))


def is_own(text):
    """Whether a response contains something that only callers of the own merchant may see."""
    return any(marker in text for marker in [OWN_NAME, OWN_DOMAIN, OWN_NOTE, "BEGIN CERTIFICATE"])


def check_rest(world, results, callers):
    client = world.client
    for name, route in rest_table(world).items():
        method, has_body = name.split(" ", 1)[0], route.body is not None
        successes = set()
        for caller in callers:
            headers = dict(caller.headers)
            if has_body:
                headers["Content-Type"] = route.type
            response = client.send(method, route.path, headers, route.body, caller.certificate)
            expected = route.success if caller.name in route.admits else {rest_refusal(caller, method, route)}
            case = f"{name} by {caller.name}"
            if results.expect(response.outcome in expected, case,
                              f"{response.outcome}, expected one of {expected}: {response.text[:200]}"):
                successes |= {response.status} if caller.name in route.admits else set()
            if caller.name not in route.admits:
                results.expect(not is_own(response.text), f"{case} shows nothing", response.text[:300])
                if response.status == 401:
                    results.expect(response.headers.get("WWW-Authenticate", "").startswith("Bearer"),
                                   f"{case} has WWW-Authenticate")
                    detail = response.document()["detail"]
                    world.unauthorized.add(detail)
            if method == "GET":
                head = client.send("HEAD", route.path, caller.headers, None, caller.certificate)
                results.expect(head.status == response.status and head.body == b"", f"HEAD as {case}", head.status)
        can_succeed = any(status in (200, 201) for status, _ in route.success)
        if can_succeed and any(caller.name in route.admits for caller in callers):
            results.expect(bool(successes & {200, 201}), f"{name} succeeds for somebody who may use it", successes)


def check_pages(world, results, callers, new_link):
    """new_link("invitation") and new_link("login") return links that nobody has used."""
    client, table = world.client, page_table(world)
    for caller in callers:
        for name, page in table.items():
            method, path, case = name.split(" ", 1)[0], page.path, f"{name} by {caller.name}"
            if method == "POST" and "{secret}" in name and caller.name in SESSIONS:
                # It would end the caller's session: see check_forms.
                continue
            if path in ["invitation", "login"]:
                path = path_of(new_link(path))
            if method == "GET":
                response = client.send("GET", path, caller.headers, None, caller.certificate)
            else:
                token = caller.form_token
                if "{secret}" in name:
                    token = client.send("GET", path, caller.headers, None, caller.certificate).form_token
                fields = {"idempotencyKey": secrets.token_hex(16), **page.fields}
                response = client.form(path, fields, caller, token=token or "0" * 64)
            expected = page_statuses(caller, page, name)
            results.expect(response.status in expected, case, f"{response.status}, expected one of {expected}")
            # The head of each page names the merchant of the session.
            may_see = caller.name == "invitation session" or caller.name in AUDIENCES[page.audience] and not (
                caller.name == "invitation session of another merchant")
            if not may_see and page.path not in ["invitation", "login"]:
                # A page repeats what was entered.
                shown = response.text.replace(OWN_DOMAIN, "") if page.fields else response.text
                results.expect(not is_own(shown), f"{case} shows nothing of the merchant", shown[:300])
        if caller.name in SESSIONS:
            after = client.send("GET", "/merchant/keys", caller.headers)
            results.expect(after.status == 401, f"after signing out, the session of {caller.name} has ended",
                           after.status)


def check_routes(world, results):
    check_tables(world, results)
    callers = world.machines()
    callers.update(world.people())
    operator = world.operator("operator session with read and onboard")
    callers[operator.name] = operator
    check_rest(world, results, callers.values())
    results.expect(len(world.unauthorized) == 1, "all refused credentials get the same detail", world.unauthorized)
    check_pages(world, results, callers.values(), world.new_link)
    used = {name for page in page_table(world).values() for name in AUDIENCES[page.audience]}
    missing = (used | EVERYONE | REFUSED_TOKENS) - set(callers) - WITHOUT_ONBOARD
    results.expect(not missing, "every caller in the tables was checked", missing)


def check_operators(world, results):
    """A session has the permits that its operator has now, also after a restart with other permits."""
    uid = os.getuid()
    phases = {
        "operator session with read": [{"uid": uid, "permits": ["read"]}],
        "operator session with read for one merchant": [{"uid": uid, "permits": ["read"], "merchants": [OWN]}],
        "operator session without its permits": [{"uid": uid, "permits": ["administer"]}],
    }
    for name, permits in phases.items():
        caller = world.operator(name)
        links = {"invitation": [world.invitation()["url"] for _ in range(2)],
                 "login": [world.site.ctl("console")["url"] for _ in range(2)]}
        before = world.site.count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        world.restart(permits)
        check_rest(world, results, [caller])
        check_pages(world, results, [caller], lambda kind: links[kind].pop())
        after = world.site.count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        results.expect(before == after, f"the {name} neither creates nor revokes an invitation", f"{before}, {after}")
        world.restart(None)
