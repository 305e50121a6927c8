-- The mirror of Apple's Web Merchant Registration: what is wanted beside what Apple was last known to have, and every call
-- to Apple from before it is made until its outcome is known.

INSERT INTO totals (name) VALUES ('registrations'), ('registrationsDrifting'), ('registrationCallsOpen');

-- ------------------------------------------------------------------------------------------------- registrations

-- One row for each identifier that was ever asked for. A withdrawn one stays: a call that Apple received late can still
-- bring it back there, and only who keeps looking finds that.
CREATE TABLE registrations (
    id INTEGER PRIMARY KEY,
    partner_internal_merchant_identifier TEXT NOT NULL UNIQUE
        CHECK (length(partner_internal_merchant_identifier) BETWEEN 3 AND 1024
            AND partner_internal_merchant_identifier NOT GLOB '*[^-a-zA-Z0-9~_+&@$!|,.;]*'),
    -- What is wanted; with the rows of registration_domains that are.
    partner_merchant_name TEXT NOT NULL CHECK (length(CAST(partner_merchant_name AS BLOB)) BETWEEN 1 AND 1024),
    encrypt_to TEXT NOT NULL
        CHECK (length(encrypt_to) <= 255
            AND (encrypt_to GLOB 'merchant.?*' OR encrypt_to GLOB 'platformintegrator.?*')),
    merchant_url TEXT CHECK (length(CAST(merchant_url AS BLOB)) BETWEEN 1 AND 2048),
    merchant_identifier TEXT REFERENCES merchants (identifier),
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    -- What Apple has, as of learned_at; NULL while that was never learned. Without a name, nothing was registered there.
    learned_at INTEGER,
    known_name TEXT CHECK (length(CAST(known_name AS BLOB)) <= 4096),
    -- SHA-256 of the identifier, as Apple spells it.
    known_encrypt_to TEXT CHECK (length(CAST(known_encrypt_to AS BLOB)) <= 4096),
    -- In how many ways the two differ; told by who writes, because a SHA-256 decides.
    drifts INTEGER NOT NULL DEFAULT 0 CHECK (drifts >= 0),
    -- Kept by triggers. Apple takes 99 domains a merchant.
    desired_domains INTEGER NOT NULL DEFAULT 0 CHECK (desired_domains BETWEEN 0 AND 99),
    known_domains INTEGER NOT NULL DEFAULT 0 CHECK (known_domains >= 0),
    CHECK ((known_name IS NULL) = (known_encrypt_to IS NULL)),
    CHECK (known_name IS NULL OR learned_at IS NOT NULL),
    CHECK (known_name IS NOT NULL OR known_domains = 0)
) STRICT;

CREATE INDEX registrations_shown ON registrations (partner_internal_merchant_identifier)
    WHERE desired_domains > 0 OR known_domains > 0;

CREATE INDEX registrations_of_merchant ON registrations (merchant_identifier) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX registrations_encrypted_to ON registrations (encrypt_to);

CREATE TRIGGER registrations_are_kept BEFORE DELETE ON registrations BEGIN
    SELECT RAISE(ABORT, 'a registration is kept: Apple may still act on it');
END;

CREATE TRIGGER registrations_keep_their_identity
BEFORE UPDATE OF id, partner_internal_merchant_identifier, created_at ON registrations
BEGIN
    SELECT RAISE(ABORT, 'whose registration it is never changes');
END;

CREATE TRIGGER registrations_counted AFTER UPDATE OF desired_domains ON registrations
WHEN (OLD.desired_domains > 0) <> (NEW.desired_domains > 0) BEGIN
    UPDATE totals SET value = value + (NEW.desired_domains > 0) - (OLD.desired_domains > 0)
        WHERE name = 'registrations';
END;

CREATE TRIGGER registrations_drift_counted AFTER INSERT ON registrations WHEN NEW.drifts > 0 BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'registrationsDrifting';
END;

CREATE TRIGGER registrations_drift_recounted AFTER UPDATE OF drifts ON registrations
WHEN (OLD.drifts > 0) <> (NEW.drifts > 0) BEGIN
    UPDATE totals SET value = value + (NEW.drifts > 0) - (OLD.drifts > 0) WHERE name = 'registrationsDrifting';
END;

-- ------------------------------------------------------------------------------------------------------- domains

CREATE TABLE registration_domains (
    registration_id INTEGER NOT NULL REFERENCES registrations (id),
    -- Of ours, ASCII in lower case; of Apple's alone, as Apple spells it.
    domain_name TEXT NOT NULL CHECK (length(CAST(domain_name AS BLOB)) BETWEEN 1 AND 1024),
    is_desired INTEGER NOT NULL CHECK (is_desired IN (0, 1)),
    is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
    CHECK (is_desired = 1 OR is_known = 1),
    CHECK (is_desired = 0 OR (length(domain_name) <= 253 AND domain_name NOT GLOB '*[^-a-z0-9.]*')),
    PRIMARY KEY (registration_id, domain_name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER registration_domains_of_what_apple_has BEFORE INSERT ON registration_domains
WHEN NEW.is_known = 1 AND (SELECT known_name FROM registrations WHERE id = NEW.registration_id) IS NULL BEGIN
    SELECT RAISE(ABORT, 'Apple has no domains of a merchant that is not registered there');
END;

CREATE TRIGGER registration_domains_still_of_what_apple_has BEFORE UPDATE OF is_known ON registration_domains
WHEN NEW.is_known = 1 AND (SELECT known_name FROM registrations WHERE id = NEW.registration_id) IS NULL BEGIN
    SELECT RAISE(ABORT, 'Apple has no domains of a merchant that is not registered there');
END;

CREATE TRIGGER registration_domains_counted AFTER INSERT ON registration_domains BEGIN
    UPDATE registrations SET desired_domains = desired_domains + NEW.is_desired,
            known_domains = known_domains + NEW.is_known
        WHERE id = NEW.registration_id;
END;

CREATE TRIGGER registration_domains_recounted AFTER UPDATE OF is_desired, is_known ON registration_domains BEGIN
    UPDATE registrations SET desired_domains = desired_domains + NEW.is_desired - OLD.is_desired,
            known_domains = known_domains + NEW.is_known - OLD.is_known
        WHERE id = NEW.registration_id;
END;

CREATE TRIGGER registration_domains_discounted AFTER DELETE ON registration_domains BEGIN
    UPDATE registrations SET desired_domains = desired_domains - OLD.is_desired,
            known_domains = known_domains - OLD.is_known
        WHERE id = OLD.registration_id;
END;

CREATE TRIGGER registration_domains_keep_their_name
BEFORE UPDATE OF registration_id, domain_name ON registration_domains
BEGIN
    SELECT RAISE(ABORT, 'which domain a row is about never changes');
END;

-- --------------------------------------------------------------------------------------------------------- calls

-- Each call to Apple that changes something: written before it is made, closed once its outcome is known. While one is
-- open, nobody knows what Apple did, and the merchant gets no other.
CREATE TABLE registration_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    registration_id INTEGER NOT NULL REFERENCES registrations (id),
    kind TEXT NOT NULL CHECK (kind IN ('register', 'unregister')),
    -- One a line.
    domain_names TEXT NOT NULL CHECK (length(domain_names) BETWEEN 1 AND 1048576),
    partner_merchant_name TEXT,
    encrypt_to TEXT,
    merchant_url TEXT,
    merchant_identifier TEXT REFERENCES merchants (identifier),
    reason TEXT CHECK (length(CAST(reason AS BLOB)) BETWEEN 1 AND 1024),
    request_id TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    outcome TEXT CHECK (outcome IN ('done', 'refused', 'notDone', 'repeated')),
    finding TEXT,
    closed_at INTEGER,
    CHECK ((outcome IS NULL) = (closed_at IS NULL)),
    CHECK ((kind = 'register') = (partner_merchant_name IS NOT NULL AND encrypt_to IS NOT NULL AND reason IS NULL)),
    CHECK ((kind = 'unregister') = (partner_merchant_name IS NULL AND encrypt_to IS NULL AND reason IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX registration_calls_one_open ON registration_calls (registration_id) WHERE outcome IS NULL;

-- A call that was asked for again may still be on its way.
CREATE INDEX registration_calls_repeated ON registration_calls (registration_id, opened_at)
    WHERE outcome = 'repeated';

CREATE TRIGGER registration_calls_are_kept BEFORE DELETE ON registration_calls BEGIN
    SELECT RAISE(ABORT, 'a call to Apple is kept as history');
END;

CREATE TRIGGER registration_calls_end_once BEFORE UPDATE ON registration_calls WHEN OLD.outcome IS NOT NULL BEGIN
    SELECT RAISE(ABORT, 'the outcome of a call to Apple never changes');
END;

CREATE TRIGGER registration_calls_stay_as_asked
BEFORE UPDATE OF id, registration_id, kind, domain_names, partner_merchant_name, encrypt_to, merchant_url,
    merchant_identifier, reason, request_id, opened_at ON registration_calls
BEGIN
    SELECT RAISE(ABORT, 'what Apple was asked never changes');
END;

CREATE TRIGGER registration_calls_counted AFTER INSERT ON registration_calls WHEN NEW.outcome IS NULL BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'registrationCallsOpen';
END;

CREATE TRIGGER registration_calls_discounted AFTER UPDATE OF outcome ON registration_calls
WHEN OLD.outcome IS NULL AND NEW.outcome IS NOT NULL BEGIN
    UPDATE totals SET value = value - 1 WHERE name = 'registrationCallsOpen';
END;

-- A merchant stays while a registration names it, or a call that may yet become one.
CREATE TRIGGER merchants_of_registrations_are_kept BEFORE UPDATE OF removed_at ON merchants
WHEN OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL AND (
    EXISTS (SELECT 1 FROM registrations INDEXED BY registrations_of_merchant
        WHERE merchant_identifier = NEW.identifier AND (desired_domains > 0 OR known_domains > 0))
    OR EXISTS (SELECT 1 FROM registrations INDEXED BY registrations_encrypted_to
        WHERE encrypt_to = NEW.identifier AND (desired_domains > 0 OR known_domains > 0))
    OR EXISTS (SELECT 1 FROM registration_calls INDEXED BY registration_calls_one_open
        WHERE outcome IS NULL AND (merchant_identifier = NEW.identifier OR encrypt_to = NEW.identifier)))
BEGIN
    SELECT RAISE(ABORT, 'a registration names the merchant');
END;

-- ------------------------------------------------------------------------------------- the platform's own identity

-- What a domain must serve for Apple to verify it: one file for each integrator identifier, and a daemon serves one.
CREATE TABLE domain_verification_file (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    content BLOB NOT NULL CHECK (length(content) BETWEEN 1 AND 65536),
    stored_at INTEGER NOT NULL
) STRICT;

CREATE INDEX key_pairs_active_identities ON key_pairs (id)
    WHERE purpose = 'identity' AND state IN ('standby', 'current', 'retiring');
