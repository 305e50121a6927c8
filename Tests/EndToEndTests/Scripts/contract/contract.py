"""Compares one listener of a running daemon with the contract: schemathesis sends valid and invalid requests to each operation.

usage: contract.py LISTENER ADDRESS OPENAPI [--examples N] [--max-time SECONDS] [--ca FILE] [--access-token FILE]
                   [--backups DIRECTORY] [--payment-token FILE] [--card FILE] [NAME=VALUE...]

LISTENER is admin, decryptor, issuer or portal. ADDRESS is the path of a socket, or the port of the portal on localhost.
The portal must trust 127.0.0.1 as a proxy, and permit many requests a minute; --ca names its CA, and --access-token a file with an
access token. Backups are written to the directory of --backups. --payment-token names a token that half of the requests to
decrypt contain, --card a valid request to encrypt card data, which half of these requests contain. NAME=VALUE sets a parameter of paths or queries, such as a merchant that exists; without values, parameters are
random.
Prints what schemathesis finds. Exit status 0 if it finds nothing and has tested every operation of the listener: no status 5xx, no
status and no error code that the contract does not list for the operation, and no response that violates its schema.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

from unix_proxy import UnixProxy

METHODS = {"get", "put", "post", "delete", "patch"}
# Each of these paths is also a path of the operations on one resource, such as a registration, whose methods schemathesis does not
# expect there. The values list, for each path, the methods that no operation has.
SHARED_PATHS = {
    "/v1/registrations/sync": ["PUT", "PATCH", "TRACE"],
    "/v1/keys/import": ["PUT", "PATCH", "DELETE", "TRACE"],
}


def resolve(contract, item):
    while "$ref" in item:
        target = contract
        for name in item["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        item = target
    return item


def serves(listener, item):
    """Whether the item, which may name its listeners in `x-sockets`, exists on the listener."""
    return listener in item.get("x-sockets", [listener])


def error_codes(contract, listener, operation):
    return contract["x-error-codes"][listener] + operation.get("x-error-codes", {}).get(listener, [])


def part_of(contract, listener, url):
    """The contract without the operations, parameters and responses that only the other listeners have."""
    statuses = contract["components"]["schemas"]["ProblemCode"]["x-status"]
    paths, codes = {}, {}
    for path, methods in contract["paths"].items():
        part = {name: item for name, item in methods.items() if name not in METHODS}
        for method, operation in methods.items():
            if method not in METHODS or not serves(listener, operation):
                continue
            own = error_codes(contract, listener, operation)
            possible = {str(status) for code in own for status in statuses[code]}
            responses = {
                status: response for status, response in operation["responses"].items()
                if (status in possible if int(status) >= 400 else serves(listener, resolve(contract, response)))}
            # A listed 503 is the health of a daemon that is not ready, not an error.
            if "503" in operation["responses"]:
                responses["503"] = operation["responses"]["503"]
            part[method] = operation | {
                "parameters": [p for p in operation.get("parameters", []) if serves(listener, resolve(contract, p))],
                "responses": responses}
            # The access token is the only credential of this test.
            if "security" in operation:
                part[method]["security"] = [{"bearer": []}]
            if listener != "portal":
                part[method].pop("security", None)
            codes[f"{method.upper()} {path}"] = own
        if METHODS & part.keys():
            paths[path] = part
    schemes = {"bearer": contract["components"]["securitySchemes"]["bearer"]} if listener == "portal" else {}
    components = contract["components"] | {"securitySchemes": schemes}
    kept = {name: value for name, value in contract.items() if name != "webhooks"}
    return kept | {"servers": [{"url": url}], "paths": paths, "components": components}, codes


def settings(arguments, directory):
    lines = [
        'hooks = "contract_hooks"',
        "[checks]",
        # JSON Schema cannot express which domain names, URLs, cursors and times are valid, and which records exist.
        "positive_data_acceptance.expected-statuses = ['2xx', '3xx', 400, 404, 409, 410, 422, 429]",
        # A text that is too long for its field can make the whole body or the header fields too large.
        "negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 410, 413, 422, 429, 431]",
        # Wrong tokens are sent only by the check that expects 401.
        "[generation]", "with-security-parameters = false",
    ]
    if arguments.examples:
        lines.append(f"max-examples = {arguments.examples}")
    if arguments.access_token:
        lines += ["[auth.openapi.bearer]", f'bearer = "{open(arguments.access_token).read().strip()}"']
    lines += ["[parameters]", *(f"{name} = {json.dumps(value)}" for name, _, value in (pair.partition("=") for pair in arguments.values))]
    if arguments.listener == "admin":
        for path, methods in SHARED_PATHS.items():
            lines += [
                "[[operations]]", f'include-path = "{path}"', f"phases.coverage.unexpected-methods = {json.dumps(methods)}",
                "checks.allow_header_conformance.enabled = false"]
    with open(f"{directory}/schemathesis.toml", "w") as file:
        file.write("\n".join(lines) + "\n")


def run(arguments, url, directory):
    """Runs schemathesis on the listener at the URL. Returns the exit status, or a text that says what is wrong."""
    with open(arguments.openapi) as file:
        contract, codes = part_of(yaml.safe_load(file), arguments.listener, url)
    with open(f"{directory}/openapi.json", "w") as file:
        json.dump(contract, file)
    hooks = {"listener": arguments.listener, "codes": codes, "backups": arguments.backups}
    if arguments.payment_token:
        with open(arguments.payment_token) as file:
            hooks["token"] = json.load(file)
    if arguments.card:
        with open(arguments.card) as file:
            hooks["card"] = json.load(file)
    with open(f"{directory}/hooks.json", "w") as file:
        json.dump(hooks, file)
    settings(arguments, directory)
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", f"{directory}/schemathesis.toml", "run", f"{directory}/openapi.json",
        "--url", url, "--continue-on-failure", "--request-timeout", "40"]
    if arguments.max_time:
        command += ["--max-time", arguments.max_time]
    if arguments.ca:
        command += ["--tls-verify", os.path.realpath(arguments.ca)]
    scripts = os.path.dirname(os.path.realpath(__file__))
    environment = os.environ | {"NO_COLOR": "1", "PYTHONPATH": f"{scripts}:{directory}", "CONTRACT_HOOKS": f"{directory}/hooks.json"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=directory, env=environment)
    print(done.stdout)
    tested = re.search(r"^  Tested: (\d+)$", done.stdout, re.MULTILINE)
    if tested is None or int(tested[1]) != len(codes) or "Rate limited" in done.stdout:
        return f"not every one of the {len(codes)} operations was tested"
    return done.returncode


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("listener", choices=["admin", "decryptor", "issuer", "portal"])
    options.add_argument("address")
    options.add_argument("openapi")
    options.add_argument("values", nargs="*")
    for name in ("examples", "max-time", "ca", "access-token", "backups", "payment-token", "card"):
        options.add_argument(f"--{name}")
    arguments = options.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.listener == "portal":
            sys.exit(run(arguments, f"https://localhost:{arguments.address}", directory))
        with UnixProxy(arguments.address) as port:
            sys.exit(run(arguments, f"http://127.0.0.1:{port}", directory))


if __name__ == "__main__":
    main()
