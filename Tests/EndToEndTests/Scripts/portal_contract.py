"""Compares the running portal with the contract: schemathesis sends valid and invalid requests to each operation.

usage: portal_contract.py PORT CA_FILE OPENAPI TOKEN_FILE SECONDS [NAME=VALUE...]
The portal must trust 127.0.0.1 as a proxy, and permit many requests a minute.
TOKEN_FILE contains an access token. NAME=VALUE sets a parameter of paths or queries, such as a merchant that the token may
see; without values, parameters are random. Sends requests for at most SECONDS.
Prints what schemathesis finds. Exit status 0 if it finds nothing and has tested every operation of the portal.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

port, ca_file, openapi, token_file, seconds, *values = sys.argv[1:]
# Certificates are sent as any other bytes. Each request names another client address, because schemathesis also sends wrong
# credentials, and after some of them the portal refuses all requests of their address for a while.
HOOKS = """
import ipaddress, itertools, schemathesis
for name in ("application/pkix-cert", "application/x-pem-file"):
    schemathesis.serializer.alias(name, "application/octet-stream")
addresses = itertools.count(int(ipaddress.ip_address("10.0.0.1")))

@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["X-Forwarded-For"] = str(ipaddress.ip_address(next(addresses)))
"""
METHODS = {"get", "put", "post", "delete", "patch"}


def serves(item):
    """Whether the item, which may name its listeners in `x-sockets`, exists on the portal."""
    return "portal" in item.get("x-sockets", ["portal"])


def resolve(contract, item):
    while "$ref" in item:
        target = contract
        for name in item["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        item = target
    return item


def portal_part(contract):
    """The contract without the operations, parameters and responses that only the sockets have."""
    paths = {}
    for path, methods in contract["paths"].items():
        part = {name: item for name, item in methods.items() if name not in METHODS}
        for method, operation in methods.items():
            if method not in METHODS or not serves(operation):
                continue
            operation = dict(operation)
            operation["parameters"] = [p for p in operation.get("parameters", []) if serves(resolve(contract, p))]
            operation["responses"] = {
                status: response for status, response in operation["responses"].items() if serves(resolve(contract, response))}
            # The token is the only credential of this test.
            if "security" in operation:
                operation["security"] = [{"bearer": []}]
            part[method] = operation
        if METHODS & part.keys():
            paths[path] = part
    schemes = {"bearer": contract["components"]["securitySchemes"]["bearer"]}
    components = contract["components"] | {"securitySchemes": schemes}
    return contract | {"servers": [{"url": f"https://localhost:{port}"}], "paths": paths, "components": components}


with tempfile.TemporaryDirectory() as directory:
    with open(openapi) as file:
        contract = portal_part(yaml.safe_load(file))
    with open(f"{directory}/openapi.json", "w") as file:
        json.dump(contract, file)
    settings = [
        'hooks = "portal_contract_hooks"',
        "[checks]",
        # JSON Schema cannot express which domain names, URLs, cursors and times are valid.
        "positive_data_acceptance.expected-statuses = ['2xx', '3xx', 400, 404, 409, 422]",
        # Wrong tokens are sent only by the check that expects 401.
        "[generation]", "with-security-parameters = false",
        "[auth.openapi.bearer]", f'bearer = "{open(token_file).read().strip()}"',
        "[parameters]", *(f"{name} = {json.dumps(value)}" for name, _, value in (pair.partition("=") for pair in values)),
    ]
    with open(f"{directory}/portal_contract_hooks.py", "w") as file:
        file.write(HOOKS)
    with open(f"{directory}/schemathesis.toml", "w") as file:
        file.write("\n".join(settings) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", f"{directory}/schemathesis.toml", "run", f"{directory}/openapi.json",
         "--url", f"https://localhost:{port}", "--tls-verify", os.path.realpath(ca_file), "--max-time", seconds, "--continue-on-failure",
         "--request-timeout", "20"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=directory, env=os.environ | {"NO_COLOR": "1", "PYTHONPATH": directory})
    print(done.stdout)
    operations = sum(method in METHODS for path in contract["paths"].values() for method in path)
    tested = re.search(r"^  Tested: (\d+)$", done.stdout, re.MULTILINE)
    if tested is None or int(tested[1]) != operations or "Rate limited" in done.stdout:
        sys.exit(f"not every one of the {operations} operations was tested")
    sys.exit(done.returncode)
