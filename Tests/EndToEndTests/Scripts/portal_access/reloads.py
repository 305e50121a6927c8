"""Reloads of the settings while clients use the portal."""
import os
import ssl

from client import Client
from names import OWN

PAGES = ["/fleet", "/fleet/search?q=merchant", f"/fleet/merchants/{OWN}", "/fleet/invitations"]


def reload(world, callers):
    """Replaces the settings file, and returns the names of the settings that the reload has applied."""
    world.site.configuration(callers)
    return world.site.ctl("reload")["changed"]


def check_reload(world, results):
    check_sessions(world, results)
    check_certificate(world, results)


def check_sessions(world, results):
    """An open session of an operator has the permits of the last reload."""
    caller = world.operator("operator session")
    uid = os.getuid()
    phases = [
        ("before the reload", None, 200),
        ("after a reload without the permit read", [{"uid": uid, "permits": ["administer"]}], 403),
        ("after a reload with the permit for one merchant",
         [{"uid": uid, "permits": ["administer"]}, {"uid": uid, "permits": ["read"], "merchants": [OWN]}], 403),
        ("after a reload with the former permits", None, 200),
    ]
    for name, callers, status in phases:
        changed = reload(world, callers)
        results.expect(("callers" in changed) == (name != "before the reload"), f"the reload {name}", changed)
        for page in PAGES:
            response = world.client.send("GET", page, caller.headers)
            results.expect(response.status == status, f"GET {page} {name}", response.status)


def check_certificate(world, results):
    """New connections get the certificate of the last reload, and open connections stay."""
    site = world.site

    def served():
        """A new connection, and the certificate that the portal sent on it."""
        client = Client(site)
        results.expect(client.send("GET", "/v1/health").status == 200, "a new connection is answered")
        return client, client.connection(None).sock.getpeercert(True)

    def configured():
        with open(site.path(f"{site.tls}.pem")) as file:
            return ssl.PEM_cert_to_DER_cert(file.read())

    old, first = served()
    results.expect(first == configured(), "before the reload, the portal sends the certificate of the settings")
    socket = old.connection(None).sock
    site.tls = "next"
    site.create_certificate()
    changed = reload(world, None)
    results.expect({"portal.tls.certificate", "portal.tls.private-key"} <= set(changed),
                   "the reload takes up the files of the portal", changed)
    _, second = served()
    results.expect(second == configured() and second != first, "a new connection gets the new certificate")
    results.expect(old.send("GET", "/v1/health").status == 200, "the open connection is answered")
    results.expect(old.connection(None).sock is socket, "the open connection stayed open")
