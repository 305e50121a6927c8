"""Writes an OpenAPI document in YAML as JSON, for generators of clients that do not read YAML.

usage: generate-openapi-json.py OPENAPI.yaml >OPENAPI.json
"""
import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    document = yaml.safe_load(file)
# JSON has no type for times: an example with a time must be a string in the YAML document too.
json.dump(document, sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
print()
