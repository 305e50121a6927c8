"""The names of the records, and texts by which the checks recognize them."""
COOKIE = "__Host-merchantkeyd"
OWN, OTHER, MISSING = "merchant.com.example.own", "merchant.com.example.other", "merchant.com.example.missing"
INTEGRATOR = "platformintegrator.com.example"
PARTNER, MISSING_PARTNER = "own-shop", "gone-shop"
# Texts that only responses to callers of the own merchant may contain.
OWN_NAME, OWN_DOMAIN, OWN_NOTE = "Zephyr Quill Outfitters", "quill.zephyr.example", "Vermilion Okapi"
# Domains that serve the verification file.
CHECKED_DOMAINS = [f"page.{OWN_DOMAIN}", "twice.example"]
FORM, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
