"""Checks which callers the portal admits: every route with every kind of caller, over TLS, against the real daemon.

usage: portal_access.py CHECK PROGRAMS DIRECTORY REPOSITORY [REQUESTS]
CHECK is one of routes, operators, others, random, forms, errors, once, login and reload. PROGRAMS contains merchantkeyd,
merchantkeyctl and applepay-sandbox. DIRECTORY is empty; the script starts the daemon in it and stops the daemon at its end.
REPOSITORY contains the sources and the OpenAPI document, from which the script reads the list of routes. REQUESTS is
the number of requests of the check 'random'. Prints one JSON object: how many expectations were checked, and
each one that failed, at most 50. Exits with 1 if one failed.
"""
import json
import os
import signal
import sys

from daemon import Site
from errors import check_errors
from forms import check_forms
from links import check_login, check_once
from others import check_others
from random_requests import check_random
from reloads import check_reload
from results import Failed, Results
from routes import check_operators, check_routes
from world import World

CHECKS = {"routes": check_routes, "operators": check_operators, "others": check_others, "random": check_random,
          "forms": check_forms, "errors": check_errors, "once": check_once, "login": check_login,
          "reload": check_reload}


def main():
    check, programs, directory, repository = sys.argv[1:5]
    # The daemon must not survive the end of the test.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = Results()
    site = Site(programs, os.path.abspath(directory), repository)
    try:
        world = World(site)
        CHECKS[check](world, results, *map(int, sys.argv[5:6]))
        site.stop()
    except Failed as error:
        results.expect(False, "the check could not continue", str(error))
    finally:
        site.close()
    print(json.dumps({"check": check, "cases": results.cases, "failures": results.failures[:50],
                      "failureCount": len(results.failures), **results.notes}, indent=1))
    sys.exit(1 if results.failures else 0)


if __name__ == "__main__":
    main()
