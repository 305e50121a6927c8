-- The first schema. Times are milliseconds since 1970-01-01T00:00:00Z; hashes and keys are raw bytes.
--
-- Rows are added and changed, hardly ever deleted: merchants stay reserved, key pairs, certificates and audit stay as
-- history. What must hold at every statement is a constraint or a trigger here, so that no program can break it.

-- Which migrations made this database, and the SHA-256 of each one's text: an edited one is refused.
CREATE TABLE migrations (
    version INTEGER PRIMARY KEY CHECK (version > 0),
    name TEXT NOT NULL UNIQUE,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    applied_at INTEGER NOT NULL
) STRICT;

-- What the daemon knows about itself.
CREATE TABLE daemon_facts (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 255),
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The data keys, each sealed by the master key.
CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY,
    sealed_bytes BLOB NOT NULL CHECK (length(sealed_bytes) > 0),
    master_key_check BLOB NOT NULL CHECK (length(master_key_check) > 0),
    created_at INTEGER NOT NULL
) STRICT;

-- Numbers for status, kept by the triggers below, so that nothing is counted row by row.
CREATE TABLE totals (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL DEFAULT 0 CHECK (value >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO totals (name) VALUES
    ('merchants'), ('merchantsBelowTarget'), ('certificates'),
    ('keyPairs.pending'), ('keyPairs.standby'), ('keyPairs.current'),
    ('keyPairs.retiring'), ('keyPairs.revoked'), ('keyPairs.destroyed');

-- ---------------------------------------------------------------------------------------------------- merchants

CREATE TABLE merchants (
    identifier TEXT NOT NULL PRIMARY KEY
        CHECK (length(identifier) <= 255
            AND (identifier GLOB 'merchant.?*' OR identifier GLOB 'platformintegrator.?*')),
    name TEXT CHECK (length(CAST(name AS BLOB)) <= 1024),
    target_active_key_pairs INTEGER NOT NULL CHECK (target_active_key_pairs BETWEEN 1 AND 16),
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    -- How many active payment processing key pairs it has; kept by triggers.
    active_key_pairs INTEGER NOT NULL DEFAULT 0 CHECK (active_key_pairs >= 0),
    CHECK (removed_at IS NULL OR active_key_pairs = 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX merchants_below_target ON merchants (identifier)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs;

CREATE TRIGGER merchants_are_kept BEFORE DELETE ON merchants BEGIN
    SELECT RAISE(ABORT, 'a merchant identifier stays reserved');
END;

CREATE TRIGGER merchants_counted AFTER INSERT ON merchants WHEN NEW.removed_at IS NULL BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'merchants';
    UPDATE totals SET value = value + 1
        WHERE name = 'merchantsBelowTarget' AND NEW.active_key_pairs < NEW.target_active_key_pairs;
END;

CREATE TRIGGER merchants_recounted AFTER UPDATE OF removed_at, active_key_pairs, target_active_key_pairs ON merchants
BEGIN
    UPDATE totals SET value = value + (NEW.removed_at IS NULL) - (OLD.removed_at IS NULL)
        WHERE name = 'merchants' AND (NEW.removed_at IS NULL) <> (OLD.removed_at IS NULL);
    UPDATE totals SET value = value
            + (NEW.removed_at IS NULL AND NEW.active_key_pairs < NEW.target_active_key_pairs)
            - (OLD.removed_at IS NULL AND OLD.active_key_pairs < OLD.target_active_key_pairs)
        WHERE name = 'merchantsBelowTarget'
            AND (NEW.removed_at IS NULL AND NEW.active_key_pairs < NEW.target_active_key_pairs)
                <> (OLD.removed_at IS NULL AND OLD.active_key_pairs < OLD.target_active_key_pairs);
END;

-- ---------------------------------------------------------------------------------------------------- key pairs

-- Private keys as only the custodian can open them, apart from what changes around them.
--
-- SQLite moves rows between pages when others beside them grow or go, and may leave the old bytes behind in a page's
-- unused part. So these rows are only ever appended, never deleted, and erased by writing zeros of the same length over
-- them: they never move, and secure_delete with a truncating checkpoint leaves no copy.
CREATE TABLE sealed_private_keys (
    id INTEGER PRIMARY KEY,
    seal_version INTEGER NOT NULL CHECK (seal_version > 0),
    data_key_id INTEGER NOT NULL REFERENCES data_keys (id),
    sealed_bytes BLOB NOT NULL CHECK (length(sealed_bytes) BETWEEN 1 AND 16384),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    CHECK (erased = 0 OR sealed_bytes = zeroblob(length(sealed_bytes)))
) STRICT;

CREATE TABLE key_pairs (
    -- The same as its sealed private key's, without which no key pair is.
    id INTEGER PRIMARY KEY REFERENCES sealed_private_keys (id),
    public_key_hash BLOB NOT NULL UNIQUE CHECK (length(public_key_hash) = 32),
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    algorithm TEXT NOT NULL CHECK (algorithm IN ('EC_v1', 'RSA_v1')),
    purpose TEXT NOT NULL CHECK (purpose IN ('paymentProcessing', 'identity')),
    origin TEXT NOT NULL CHECK (origin IN ('generated', 'imported')),
    state TEXT NOT NULL
        CHECK (state IN ('pending', 'standby', 'current', 'retiring', 'revoked', 'destroyed')),
    created_at INTEGER NOT NULL,
    state_since INTEGER NOT NULL,
    revocation_reason TEXT CHECK (length(CAST(revocation_reason AS BLOB)) <= 1024),
    destroy_after INTEGER CHECK (destroy_after IS NULL OR state = 'revoked'),
    exported_at INTEGER,
    -- The end of the certificate that ends last; kept by a trigger. NULL while there is none.
    expires_at INTEGER,
    subject_public_key_info BLOB NOT NULL CHECK (length(subject_public_key_info) BETWEEN 1 AND 4096),
    certificate_signing_request BLOB NOT NULL CHECK (length(certificate_signing_request) BETWEEN 1 AND 16384)
) STRICT;

CREATE UNIQUE INDEX key_pairs_one_current ON key_pairs (merchant_identifier, purpose, algorithm)
    WHERE state = 'current';

CREATE INDEX key_pairs_of_merchant ON key_pairs (merchant_identifier, created_at, id);

CREATE INDEX key_pairs_to_destroy ON key_pairs (destroy_after) WHERE destroy_after IS NOT NULL;

CREATE INDEX key_pairs_ending ON key_pairs (expires_at, id) WHERE state IN ('standby', 'current', 'retiring');

CREATE TRIGGER sealed_private_keys_are_kept BEFORE DELETE ON sealed_private_keys BEGIN
    SELECT RAISE(ABORT, 'a sealed private key is erased in place, never deleted');
END;

CREATE TRIGGER sealed_private_keys_stay_erased BEFORE UPDATE ON sealed_private_keys
WHEN OLD.erased = 1 AND NEW.erased = 0 BEGIN
    SELECT RAISE(ABORT, 'an erased private key cannot come back');
END;

-- A key pair is destroyed exactly when its sealed private key is erased: this trigger and the next two.
CREATE TRIGGER key_pairs_destroyed AFTER UPDATE OF erased ON sealed_private_keys
WHEN OLD.erased = 0 AND NEW.erased = 1 BEGIN
    UPDATE key_pairs SET state = 'destroyed', destroy_after = NULL WHERE id = NEW.id;
END;

CREATE TRIGGER key_pairs_destroyed_only_when_erased BEFORE UPDATE OF state ON key_pairs
WHEN (NEW.state = 'destroyed') <> (SELECT erased FROM sealed_private_keys WHERE id = NEW.id) BEGIN
    SELECT RAISE(ABORT, 'a key pair is destroyed exactly when its sealed private key is erased');
END;

CREATE TRIGGER key_pairs_begin_with_a_private_key BEFORE INSERT ON key_pairs
WHEN (NEW.state = 'destroyed') <> (SELECT erased FROM sealed_private_keys WHERE id = NEW.id) BEGIN
    SELECT RAISE(ABORT, 'a key pair is destroyed exactly when its sealed private key is erased');
END;

CREATE TRIGGER key_pairs_are_kept BEFORE DELETE ON key_pairs BEGIN
    SELECT RAISE(ABORT, 'a key pair is kept as history');
END;

CREATE TRIGGER key_pairs_keep_their_identity
BEFORE UPDATE OF id, public_key_hash, merchant_identifier, algorithm, purpose, origin, created_at,
    subject_public_key_info, certificate_signing_request ON key_pairs
BEGIN
    SELECT RAISE(ABORT, 'what a key pair is never changes');
END;

CREATE TRIGGER key_pairs_counted AFTER INSERT ON key_pairs BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'keyPairs.' || NEW.state;
    UPDATE merchants SET active_key_pairs = active_key_pairs + 1
        WHERE identifier = NEW.merchant_identifier AND NEW.purpose = 'paymentProcessing'
            AND NEW.state IN ('standby', 'current', 'retiring');
END;

CREATE TRIGGER key_pairs_recounted AFTER UPDATE OF state ON key_pairs WHEN OLD.state <> NEW.state BEGIN
    UPDATE totals SET value = value - 1 WHERE name = 'keyPairs.' || OLD.state;
    UPDATE totals SET value = value + 1 WHERE name = 'keyPairs.' || NEW.state;
    UPDATE merchants SET active_key_pairs = active_key_pairs
            + (NEW.state IN ('standby', 'current', 'retiring')) - (OLD.state IN ('standby', 'current', 'retiring'))
        WHERE identifier = NEW.merchant_identifier AND NEW.purpose = 'paymentProcessing'
            AND (NEW.state IN ('standby', 'current', 'retiring')) <> (OLD.state IN ('standby', 'current', 'retiring'));
END;

-- ------------------------------------------------------------------------------------------------- certificates

CREATE TABLE certificates (
    id INTEGER PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
    public_key_hash BLOB NOT NULL REFERENCES key_pairs (public_key_hash),
    der BLOB NOT NULL CHECK (length(der) BETWEEN 1 AND 65536),
    serial_number TEXT NOT NULL,
    subject TEXT NOT NULL,
    issuer TEXT NOT NULL,
    not_before INTEGER NOT NULL,
    not_after INTEGER NOT NULL,
    issuer_verified INTEGER NOT NULL CHECK (issuer_verified IN (0, 1)),
    stored_at INTEGER NOT NULL
) STRICT;

CREATE INDEX certificates_of_key_pair ON certificates (public_key_hash, id);

CREATE INDEX certificates_ending ON certificates (not_after);

CREATE TRIGGER certificates_counted AFTER INSERT ON certificates BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'certificates';
    UPDATE key_pairs SET expires_at = NEW.not_after
        WHERE public_key_hash = NEW.public_key_hash AND (expires_at IS NULL OR expires_at < NEW.not_after);
END;

CREATE TRIGGER certificates_are_kept BEFORE DELETE ON certificates BEGIN
    SELECT RAISE(ABORT, 'a certificate is kept as history');
END;

-- -------------------------------------------------------------------------------------------------------- audit

-- Each record holds the hash of the one before. AUTOINCREMENT: a sequence is never given twice, so that records cut off
-- the end leave a gap.
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT CHECK (sequence > 0),
    action TEXT NOT NULL CHECK (length(action) > 0),
    caller_uid INTEGER NOT NULL,
    caller_gid INTEGER NOT NULL,
    caller_pid INTEGER NOT NULL,
    caller_program TEXT NOT NULL,
    at INTEGER NOT NULL,
    merchant_identifier TEXT,
    public_key_hash BLOB CHECK (length(public_key_hash) = 32),
    value_before TEXT,
    value_after TEXT,
    reason TEXT,
    request_id TEXT,
    previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX audit_of_merchant ON audit (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX audit_of_key_pair ON audit (public_key_hash, sequence) WHERE public_key_hash IS NOT NULL;

CREATE TRIGGER audit_is_a_chain BEFORE INSERT ON audit
WHEN NEW.sequence IS NOT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0) + 1
    OR NEW.previous_hash IS NOT coalesce((SELECT hash FROM audit ORDER BY sequence DESC LIMIT 1), zeroblob(32)) BEGIN
    SELECT RAISE(ABORT, 'an audit record follows the last one');
END;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'an audit record is never changed');
END;

CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'an audit record is never deleted');
END;

-- ----------------------------------------------------------------------------------------------- repeated requests

-- What a request with an Idempotency-Key led to; swept a day later.
CREATE TABLE idempotency_keys (
    id INTEGER PRIMARY KEY,
    caller_uid INTEGER NOT NULL,
    operation TEXT NOT NULL CHECK (length(operation) BETWEEN 1 AND 1024),
    value TEXT NOT NULL CHECK (length(value) BETWEEN 1 AND 255),
    request_digest BLOB NOT NULL CHECK (length(request_digest) > 0),
    resource TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (caller_uid, operation, value)
) STRICT;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
