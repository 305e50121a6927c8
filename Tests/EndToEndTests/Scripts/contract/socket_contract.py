"""Starts a daemon in a temporary directory, and compares each of its sockets with the contract: contract.py.

usage: socket_contract.py PROGRAMS OPENAPI EXAMPLES

PROGRAMS is the directory of the programs. EXAMPLES is the number of random requests for each operation. Exit status 0 if nothing
differs.
"""
import os
import subprocess
import sys

from installation import MERCHANT, Installation

programs, openapi, examples = sys.argv[1:]
programs, openapi = os.path.realpath(programs), os.path.realpath(openapi)
scripts = os.path.dirname(os.path.realpath(__file__))


def compare(installation, listener, *arguments):
    command = [
        sys.executable, f"{scripts}/contract.py", listener, installation.path(f"state/{listener}.sock"), openapi, "--examples", examples]
    return subprocess.run([*command, *arguments]).returncode == 0


installation = Installation(programs)
try:
    key = installation.begin()
    # The decryptor socket comes first: the requests to the admin socket revoke the key pair.
    results = {
        "decryptor": compare(
            installation, "decryptor", "--payment-token", installation.path("token.json"), f"publicKeyHash={key}"),
        "issuer": compare(installation, "issuer", "--card", installation.card()),
        "admin": compare(
            installation, "admin", "--backups", installation.path("backups"), f"merchantIdentifier={MERCHANT}", f"merchant={MERCHANT}",
            # Without wait=0, each request for events could wait for 30 seconds.
            f"publicKeyHash={key}", "wait=0", *installation.fill()),
    }
finally:
    installation.end()
for listener, is_equal in results.items():
    print(f"contract: the {listener} socket {'is as the contract says' if is_equal else 'DIFFERS from the contract'}")
sys.exit(0 if all(results.values()) else 1)
