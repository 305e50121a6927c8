"""A merchant's onboarding and the operators' pages of the portal, in a real browser.

usage: portal_browser.py --programs DIR --socket PATH --apple DIR --site CERTIFICATE --work DIR --texts FILE --screenshots DIR
                         [--width PIXELS] [--scripts on|off] [--input mouse|keyboard] [--dark] --merchant ID

The daemon, the sandbox's gateway and the web site shop.example run already. PATH is the admin socket, --apple the sandbox's
directory, --site the portal's TLS certificate, and --texts the file texts.json of the pages.
Ends with status 1 and a message if the browser cannot continue. Prints one JSON object with what it found; the keys of
the object are the attributes of Report.
"""
import argparse
import dataclasses
import json

from browser import Browser
from domains import Domains
from onboarding import Onboarding
from operators import Operators
from report import Report


def main():
    parser = argparse.ArgumentParser()
    for name in ("programs", "socket", "apple", "site", "work", "texts", "screenshots", "merchant"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--scripts", choices=["on", "off"], default="on")
    parser.add_argument("--input", choices=["mouse", "keyboard"], default="mouse")
    parser.add_argument("--dark", action="store_true", help="check every page in the dark scheme too")
    options = parser.parse_args()
    report = Report()
    with Browser(options, report) as browser:
        onboarding = Onboarding(options, browser, report)
        browser.portal = onboarding.portal
        onboarding.ctl("merchant", "add", options.merchant, "--name", "Größe & Söhne")
        invitation = onboarding.sign_in()
        first = onboarding.first_key()
        onboarding.roll(first)
        onboarding.reserve()
        Domains(options, browser, report).register()
        onboarding.sign_out(invitation)
        onboarding.ended_session()
        Operators(options, browser, report).visit()
        report.control = browser.control()
    print(json.dumps(dataclasses.asdict(report)))


if __name__ == "__main__":
    main()
