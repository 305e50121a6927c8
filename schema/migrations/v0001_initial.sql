-- The schema of the main database. Times are milliseconds since 1970-01-01T00:00:00Z; hashes and keys are raw bytes.
--
-- Merchants, key pairs, certificates, rolls, calls to Apple, paths for notifications of merchant tokens, accesses,
-- invitations and audit records are never deleted.
-- Every rule that must hold after each statement is a constraint or a trigger here, so that no program can break it.

-- The migrations that created this database, with the SHA-256 of each migration's text. A program whose migrations differ
-- from these is refused.
CREATE TABLE migrations (
    version INTEGER PRIMARY KEY CHECK (version > 0),
    name TEXT NOT NULL UNIQUE,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    applied_at INTEGER NOT NULL
) STRICT;

-- Named values that the daemon stores about itself.
CREATE TABLE daemon_values (
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

-- Totals for status. Triggers keep them, so that status does not count rows.
CREATE TABLE totals (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL DEFAULT 0 CHECK (value >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO totals (name) VALUES
    ('merchants'), ('merchantsBelowTarget'), ('merchantsWithKeyPair'), ('certificates'),
    ('keyPairs.pending'), ('keyPairs.standby'), ('keyPairs.current'),
    ('keyPairs.retiring'), ('keyPairs.revoked'), ('keyPairs.destroyed'), ('awaitingDestruction'),
    ('registrations'), ('registrationsDrifting'), ('registrationCallsOpen'),
    ('rolls.started'), ('rolls.certificateStored'), ('rolls.promoted'), ('rolls.finished'), ('rolls.abandoned'),
    ('tokenNotificationsWaiting');

-- ---------------------------------------------------------------------------------------------------- merchants

CREATE TABLE merchants (
    identifier TEXT NOT NULL PRIMARY KEY
        CHECK (length(identifier) <= 255
            AND (identifier GLOB 'merchant.?*' OR identifier GLOB 'platformintegrator.?*')),
    name TEXT CHECK (length(CAST(name AS BLOB)) <= 1024),
    target_active_key_pairs INTEGER NOT NULL CHECK (target_active_key_pairs BETWEEN 0 AND 16),
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    -- The number of active payment processing key pairs. This column and the next three are kept by triggers.
    active_key_pairs INTEGER NOT NULL DEFAULT 0 CHECK (active_key_pairs >= 0),
    -- Whether the merchant ever had an active payment processing key pair. Losing the last one is critical; a new merchant
    -- without one is not.
    had_active_key_pair INTEGER NOT NULL DEFAULT 0 CHECK (had_active_key_pair IN (0, 1)),
    -- The highest id of the merchant's key pairs, which shows whether a backup contains all of them.
    newest_key_pair_id INTEGER NOT NULL DEFAULT 0,
    -- When the certificate of the current payment processing key pair expires; the earliest of several. NULL without one.
    current_ends_at INTEGER,
    CHECK (removed_at IS NULL OR active_key_pairs = 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX merchants_below_target ON merchants (identifier)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs;

CREATE INDEX merchants_by_newest_key_pair ON merchants (newest_key_pair_id);

-- In the next two, the columns after the first let SQLite count in the index alone.
CREATE INDEX merchants_below_target_ending
    ON merchants (current_ends_at, active_key_pairs, target_active_key_pairs, removed_at)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND current_ends_at IS NOT NULL;

CREATE INDEX merchants_without_active_key_pair
    ON merchants (identifier, active_key_pairs, had_active_key_pair, target_active_key_pairs, removed_at)
    WHERE removed_at IS NULL AND active_key_pairs = 0 AND had_active_key_pair = 1 AND target_active_key_pairs > 0;

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

CREATE TRIGGER merchants_had_active_key_pair AFTER UPDATE OF active_key_pairs ON merchants
WHEN NEW.active_key_pairs > 0 AND NEW.had_active_key_pair = 0 BEGIN
    UPDATE merchants SET had_active_key_pair = 1 WHERE identifier = NEW.identifier;
END;

-- ---------------------------------------------------------------------------------------------------- key pairs

-- Sealed private keys, which only the key custodian can open.
--
-- They have a table of their own because SQLite moves rows between pages when neighbouring rows grow or are deleted, and may
-- leave the old bytes in the unused part of a page. These rows are only appended and never deleted. A key is erased by
-- overwriting its bytes with zeros of the same length, so the row never moves, and secure_delete with a truncating
-- checkpoint leaves no copy.
CREATE TABLE sealed_private_keys (
    id INTEGER PRIMARY KEY,
    seal_version INTEGER NOT NULL CHECK (seal_version > 0),
    data_key_id INTEGER NOT NULL REFERENCES data_keys (id),
    sealed_bytes BLOB NOT NULL CHECK (length(sealed_bytes) BETWEEN 1 AND 16384),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    CHECK (erased = 0 OR sealed_bytes = zeroblob(length(sealed_bytes)))
) STRICT;

CREATE TABLE key_pairs (
    -- The same as the id of its sealed private key: there is no key pair without one.
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
    -- When the last of its certificates expires; kept by a trigger. NULL without a certificate.
    expires_at INTEGER,
    -- Whether the issuer of one of its certificates was not verified; kept by triggers.
    issuer_not_verified INTEGER NOT NULL DEFAULT 0 CHECK (issuer_not_verified IN (0, 1)),
    subject_public_key_info BLOB NOT NULL CHECK (length(subject_public_key_info) BETWEEN 1 AND 4096),
    certificate_signing_request BLOB NOT NULL CHECK (length(certificate_signing_request) BETWEEN 1 AND 16384)
) STRICT;

CREATE UNIQUE INDEX key_pairs_one_current ON key_pairs (merchant_identifier, purpose, algorithm)
    WHERE state = 'current';

CREATE INDEX key_pairs_of_merchant ON key_pairs (merchant_identifier, created_at, id);

CREATE INDEX key_pairs_to_destroy ON key_pairs (destroy_after) WHERE destroy_after IS NOT NULL;

CREATE INDEX key_pairs_ending ON key_pairs (expires_at, id) WHERE state IN ('standby', 'current', 'retiring');

-- Current key pairs have a separate index, because their expiry is more urgent.
CREATE INDEX key_pairs_current_ending ON key_pairs (expires_at, id) WHERE state = 'current';

CREATE INDEX key_pairs_not_current_ending ON key_pairs (expires_at, id) WHERE state IN ('standby', 'retiring');

-- For lists of the key pairs in one state, oldest first.
CREATE INDEX key_pairs_by_state ON key_pairs (state, id);

CREATE INDEX key_pairs_active_identities ON key_pairs (merchant_identifier, id)
    WHERE purpose = 'identity' AND state IN ('standby', 'current', 'retiring');

-- The key pairs that a backup must contain.
CREATE INDEX key_pairs_certified ON key_pairs (id) WHERE expires_at IS NOT NULL AND state <> 'destroyed';

CREATE INDEX key_pairs_issuer_not_verified ON key_pairs (id)
    WHERE issuer_not_verified = 1 AND state IN ('standby', 'current', 'retiring');

CREATE TRIGGER sealed_private_keys_are_kept BEFORE DELETE ON sealed_private_keys BEGIN
    SELECT RAISE(ABORT, 'a sealed private key is erased in place, never deleted');
END;

CREATE TRIGGER sealed_private_keys_stay_erased BEFORE UPDATE ON sealed_private_keys
WHEN OLD.erased = 1 AND NEW.erased = 0 BEGIN
    SELECT RAISE(ABORT, 'an erased private key cannot come back');
END;

-- This trigger and the next two: a key pair is 'destroyed' if and only if its sealed private key is erased.
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

CREATE TRIGGER destructions_counted AFTER UPDATE OF destroy_after ON key_pairs
WHEN (OLD.destroy_after IS NULL) <> (NEW.destroy_after IS NULL) BEGIN
    UPDATE totals SET value = value + (NEW.destroy_after IS NOT NULL) - (OLD.destroy_after IS NOT NULL)
        WHERE name = 'awaitingDestruction';
END;

CREATE TRIGGER merchants_newest_key_pair AFTER INSERT ON key_pairs BEGIN
    UPDATE merchants SET newest_key_pair_id = max(newest_key_pair_id, NEW.id)
        WHERE identifier = NEW.merchant_identifier;
END;

CREATE TRIGGER merchants_first_key_pair AFTER UPDATE OF newest_key_pair_id ON merchants
WHEN OLD.newest_key_pair_id = 0 AND NEW.newest_key_pair_id > 0 BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'merchantsWithKeyPair';
END;

CREATE TRIGGER merchants_current_end AFTER UPDATE OF state, expires_at ON key_pairs
WHEN NEW.purpose = 'paymentProcessing' AND (OLD.state = 'current' OR NEW.state = 'current') BEGIN
    UPDATE merchants SET current_ends_at = (
        SELECT min(expires_at) FROM key_pairs INDEXED BY key_pairs_one_current
        WHERE merchant_identifier = NEW.merchant_identifier AND purpose = 'paymentProcessing' AND state = 'current'
    )
    WHERE identifier = NEW.merchant_identifier;
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

-- With `stored_at`, so that the status reads only the index: it must work while the table is damaged.
CREATE INDEX certificates_of_key_pair ON certificates (public_key_hash, id, stored_at);

CREATE TRIGGER certificates_counted AFTER INSERT ON certificates BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'certificates';
    UPDATE key_pairs SET expires_at = NEW.not_after
        WHERE public_key_hash = NEW.public_key_hash AND (expires_at IS NULL OR expires_at < NEW.not_after);
END;

CREATE TRIGGER certificates_not_verified AFTER INSERT ON certificates WHEN NEW.issuer_verified = 0 BEGIN
    UPDATE key_pairs SET issuer_not_verified = 1
        WHERE public_key_hash = NEW.public_key_hash AND issuer_not_verified = 0;
END;

CREATE TRIGGER certificates_verified_later AFTER UPDATE OF issuer_verified ON certificates BEGIN
    UPDATE key_pairs SET issuer_not_verified = EXISTS (
        SELECT 1 FROM certificates INDEXED BY certificates_of_key_pair
        WHERE certificates.public_key_hash = NEW.public_key_hash AND issuer_verified = 0
    )
    WHERE public_key_hash = NEW.public_key_hash;
END;

CREATE TRIGGER certificates_are_kept BEFORE DELETE ON certificates BEGIN
    SELECT RAISE(ABORT, 'a certificate is kept as history');
END;

-- -------------------------------------------------------------------------------------------------------- audit

-- Each record holds the hash of the record before it. AUTOINCREMENT never reuses a sequence, so records that were cut off
-- the end leave a gap.
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT CHECK (sequence > 0),
    action TEXT NOT NULL CHECK (length(action) > 0),
    -- The caller's name, such as 'uid:1000' or 'access:shop'.
    caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 255),
    -- Only for a process on a Unix socket, and for the daemon itself.
    caller_gid INTEGER,
    caller_pid INTEGER,
    caller_program TEXT,
    -- Only for a client of the portal.
    caller_address TEXT,
    at INTEGER NOT NULL,
    merchant_identifier TEXT,
    public_key_hash BLOB CHECK (length(public_key_hash) = 32),
    value_before TEXT,
    value_after TEXT,
    reason TEXT,
    request_id TEXT,
    -- The daemon, in a copy of a PostgreSQL database that several daemons shared.
    node TEXT,
    previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    CHECK (
        (caller_gid IS NULL) = (caller_address IS NOT NULL) AND (caller_gid IS NULL) = (caller_pid IS NULL)
        AND (caller_gid IS NULL) = (caller_program IS NULL)
    )
) STRICT;

CREATE INDEX audit_of_merchant ON audit (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX audit_of_key_pair ON audit (public_key_hash, sequence) WHERE public_key_hash IS NOT NULL;

CREATE INDEX audit_of_caller ON audit (caller, sequence);

CREATE INDEX audit_by_time ON audit (at, sequence);

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

-- What a request with an Idempotency-Key created. Rows older than a day are removed.
CREATE TABLE idempotency_keys (
    id INTEGER PRIMARY KEY,
    caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 255),
    operation TEXT NOT NULL CHECK (length(operation) BETWEEN 1 AND 1024),
    value TEXT NOT NULL CHECK (length(value) BETWEEN 1 AND 255),
    request_digest BLOB NOT NULL CHECK (length(request_digest) > 0),
    resource TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (caller, operation, value)
) STRICT;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- --------------------------------------------------------------------------------------- rotation of data keys

-- A rotation re-encrypts each sealed private key in place under a new data key. The row of an old data key is overwritten with
-- zeros of the same length once no key is sealed under it. It is kept, because destroyed private keys refer to it.
CREATE TABLE key_rotations (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('sealing', 'erasing', 'finished')),
    -- The new data key, under which every private key will be sealed.
    data_key_id INTEGER NOT NULL UNIQUE REFERENCES data_keys (id),
    replaces_master_key INTEGER NOT NULL CHECK (replaces_master_key IN (0, 1)),
    -- The number of private keys to re-encrypt, and of those already re-encrypted.
    total INTEGER NOT NULL CHECK (total >= 0),
    done INTEGER NOT NULL DEFAULT 0 CHECK (done >= 0),
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    CHECK ((finished_at IS NULL) = (state <> 'finished'))
) STRICT;

CREATE UNIQUE INDEX key_rotations_one_open ON key_rotations ((state <> 'finished')) WHERE state <> 'finished';

CREATE TRIGGER data_keys_are_kept BEFORE DELETE ON data_keys BEGIN
    SELECT RAISE(ABORT, 'a data key is erased in place, never deleted');
END;

CREATE TRIGGER data_keys_open_what_they_sealed BEFORE UPDATE ON data_keys
WHEN EXISTS (SELECT 1 FROM sealed_private_keys WHERE data_key_id = OLD.id AND erased = 0)
    OR EXISTS (SELECT 1 FROM sealed_mpans WHERE data_key_id = OLD.id AND erased = 0) BEGIN
    SELECT RAISE(ABORT, 'a data key is erased only when nothing is sealed under it');
END;

CREATE TRIGGER data_keys_change_only_to_zeros BEFORE UPDATE ON data_keys
WHEN NEW.id <> OLD.id OR NEW.sealed_bytes <> zeroblob(length(OLD.sealed_bytes)) BEGIN
    SELECT RAISE(ABORT, 'a data key is never changed, only erased');
END;

CREATE TRIGGER sealed_private_keys_have_a_data_key BEFORE INSERT ON sealed_private_keys
WHEN NEW.erased = 0
    AND (SELECT sealed_bytes = zeroblob(length(sealed_bytes)) FROM data_keys WHERE id = NEW.data_key_id) BEGIN
    SELECT RAISE(ABORT, 'nothing is sealed under an erased data key');
END;

CREATE TRIGGER sealed_private_keys_move_to_a_data_key BEFORE UPDATE OF data_key_id ON sealed_private_keys
WHEN NEW.data_key_id <> OLD.data_key_id
    AND (SELECT sealed_bytes = zeroblob(length(sealed_bytes)) FROM data_keys WHERE id = NEW.data_key_id) BEGIN
    SELECT RAISE(ABORT, 'nothing is sealed under an erased data key');
END;

-- ------------------------------------------------------------------------------------------------------- rolls

CREATE TABLE rolls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    algorithm TEXT NOT NULL CHECK (algorithm IN ('EC_v1', 'RSA_v1')),
    from_key BLOB REFERENCES key_pairs (public_key_hash),
    to_key BLOB NOT NULL REFERENCES key_pairs (public_key_hash),
    started_at INTEGER NOT NULL,
    -- The time of the last request for the old key or of the last change of state of either key, whichever is later. NULL
    -- until the new key's promotion is confirmed, and NULL if the old private key was exported.
    idle_since INTEGER,
    remind_at INTEGER,
    ended_at INTEGER,
    reason TEXT CHECK (length(CAST(reason AS BLOB)) <= 4096),
    has_next_pair INTEGER NOT NULL DEFAULT 0 CHECK (has_next_pair IN (0, 1)),
    -- For an open roll it follows the state of the new key, by a trigger. For an ended roll it is the outcome.
    step TEXT NOT NULL CHECK (step IN ('started', 'certificateStored', 'promoted', 'finished', 'abandoned')),
    -- When the roll reached this step.
    since INTEGER NOT NULL,
    CHECK (from_key IS NULL OR from_key <> to_key),
    CHECK ((ended_at IS NULL) = (step IN ('started', 'certificateStored', 'promoted'))),
    CHECK (ended_at IS NULL OR remind_at IS NULL)
) STRICT;

CREATE UNIQUE INDEX rolls_one_open ON rolls (merchant_identifier, algorithm) WHERE ended_at IS NULL;

CREATE INDEX rolls_of_merchant ON rolls (merchant_identifier, id);

CREATE INDEX rolls_by_step ON rolls (step, id);

CREATE INDEX rolls_open ON rolls (id) WHERE ended_at IS NULL;

CREATE INDEX rolls_open_from ON rolls (from_key) WHERE ended_at IS NULL;

CREATE INDEX rolls_open_to ON rolls (to_key) WHERE ended_at IS NULL;

CREATE INDEX rolls_waiting ON rolls (since, id) WHERE ended_at IS NULL;

CREATE INDEX rolls_idle ON rolls (idle_since) WHERE ended_at IS NULL AND idle_since IS NOT NULL;

CREATE INDEX rolls_to_remind ON rolls (remind_at) WHERE remind_at IS NOT NULL;

CREATE INDEX rolls_without_next_pair ON rolls (id) WHERE step = 'finished' AND has_next_pair = 0;

CREATE TRIGGER rolls_counted AFTER INSERT ON rolls BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'rolls.' || NEW.step;
END;

CREATE TRIGGER rolls_recounted AFTER UPDATE OF step ON rolls WHEN OLD.step <> NEW.step BEGIN
    UPDATE totals SET value = value - 1 WHERE name = 'rolls.' || OLD.step;
    UPDATE totals SET value = value + 1 WHERE name = 'rolls.' || NEW.step;
END;

CREATE TRIGGER rolls_are_kept BEFORE DELETE ON rolls BEGIN
    SELECT RAISE(ABORT, 'a roll is kept as history');
END;

CREATE TRIGGER rolls_keep_their_identity
BEFORE UPDATE OF id, merchant_identifier, algorithm, from_key, to_key, started_at ON rolls BEGIN
    SELECT RAISE(ABORT, 'the identity of a roll never changes');
END;

CREATE TRIGGER rolls_stay_ended BEFORE UPDATE OF step, ended_at ON rolls
WHEN OLD.ended_at IS NOT NULL AND (NEW.ended_at IS NOT OLD.ended_at OR NEW.step <> OLD.step) BEGIN
    SELECT RAISE(ABORT, 'a roll that has ended stays ended');
END;

CREATE TRIGGER rolls_follow_their_new_key AFTER UPDATE OF state ON key_pairs WHEN OLD.state <> NEW.state BEGIN
    UPDATE rolls
    SET step = CASE NEW.state WHEN 'pending' THEN 'started' WHEN 'current' THEN 'promoted' ELSE 'certificateStored' END,
        since = NEW.state_since, remind_at = NEW.state_since + 604800000
    WHERE to_key = NEW.public_key_hash AND ended_at IS NULL;
END;

CREATE TRIGGER rolls_end_before_their_new_key BEFORE UPDATE OF state ON key_pairs
WHEN NEW.state IN ('revoked', 'destroyed')
    AND EXISTS (SELECT 1 FROM rolls WHERE to_key = NEW.public_key_hash AND ended_at IS NULL) BEGIN
    SELECT RAISE(ABORT, 'an open roll leads to a key pair that is not revoked');
END;

CREATE TRIGGER rolls_end_before_their_old_key BEFORE UPDATE OF state ON key_pairs
WHEN NEW.state IN ('revoked', 'destroyed') AND EXISTS (
    SELECT 1 FROM rolls WHERE from_key = NEW.public_key_hash AND ended_at IS NULL AND step = 'promoted'
) BEGIN
    SELECT RAISE(ABORT, 'a promoted roll is finished with the revocation of its old key pair');
END;

-- ---------------------------------------------------------------------------------------------------- key uses

CREATE TABLE key_uses (
    key_pair_id INTEGER PRIMARY KEY REFERENCES key_pairs (id),
    requests_count INTEGER NOT NULL DEFAULT 0 CHECK (requests_count >= 0),
    requests_first INTEGER,
    requests_last INTEGER,
    decryptions_count INTEGER NOT NULL DEFAULT 0 CHECK (decryptions_count >= 0),
    decryptions_first INTEGER,
    decryptions_last INTEGER,
    -- The first successful decryption since the promotion of a current key pair, or the decryption that caused the
    -- promotion.
    promotion_confirmed_at INTEGER,
    alarmed_at INTEGER,
    -- When an event reported that Apple encrypts to a standby key pair outside of a roll.
    standby_use_reported_at INTEGER,
    CHECK ((requests_count = 0) = (requests_first IS NULL) AND (requests_count = 0) = (requests_last IS NULL)),
    CHECK ((decryptions_count = 0) = (decryptions_first IS NULL) AND (decryptions_count = 0) = (decryptions_last IS NULL)),
    CHECK (promotion_confirmed_at IS NULL OR decryptions_count > 0),
    CHECK (standby_use_reported_at IS NULL OR decryptions_count > 0)
) STRICT;

CREATE INDEX key_uses_standby ON key_uses (standby_use_reported_at) WHERE standby_use_reported_at IS NOT NULL;

-- A confirmation holds for one promotion: when the key pair is promoted again, Apple may still encrypt to another key.
-- A report of the use of a standby key pair holds until the state changes.
CREATE TRIGGER key_uses_confirm_one_promotion AFTER UPDATE OF state ON key_pairs WHEN OLD.state <> NEW.state BEGIN
    UPDATE key_uses SET promotion_confirmed_at = NULL, standby_use_reported_at = NULL
        WHERE key_pair_id = NEW.id AND (promotion_confirmed_at IS NOT NULL OR standby_use_reported_at IS NOT NULL);
END;

-- ----------------------------------------------------------------------------------------------------- schedule

-- When the schedule checks an active key pair next; NULL: not before its state or certificates change.
CREATE TABLE key_watches (
    key_pair_id INTEGER PRIMARY KEY REFERENCES key_pairs (id),
    due_at INTEGER
) STRICT;

CREATE INDEX key_watches_due ON key_watches (due_at) WHERE due_at IS NOT NULL;

CREATE TRIGGER key_watches_new_certificate AFTER INSERT ON certificates BEGIN
    INSERT INTO key_watches (key_pair_id, due_at)
        SELECT id, 0 FROM key_pairs
        WHERE public_key_hash = NEW.public_key_hash AND state IN ('standby', 'current', 'retiring')
        ON CONFLICT (key_pair_id) DO UPDATE SET due_at = 0;
END;

CREATE TRIGGER key_watches_new_state AFTER UPDATE OF state ON key_pairs
WHEN OLD.state <> NEW.state AND NEW.state IN ('standby', 'current', 'retiring') BEGIN
    INSERT INTO key_watches (key_pair_id, due_at) VALUES (NEW.id, 0)
        ON CONFLICT (key_pair_id) DO UPDATE SET due_at = 0;
END;

CREATE TRIGGER key_watches_end AFTER UPDATE OF state ON key_pairs
WHEN NEW.state NOT IN ('standby', 'current', 'retiring') BEGIN
    DELETE FROM key_watches WHERE key_pair_id = NEW.id;
END;

-- Expiry warnings that were sent: one for each expiry and threshold.
CREATE TABLE key_warnings (
    key_pair_id INTEGER NOT NULL REFERENCES key_pairs (id),
    expires_at INTEGER NOT NULL,
    days INTEGER NOT NULL CHECK (days >= 0),
    warned_at INTEGER NOT NULL,
    PRIMARY KEY (key_pair_id, expires_at, days)
) STRICT, WITHOUT ROWID;

-- -------------------------------------------------------------------------------------- registrations at Apple

-- One row for each partnerInternalMerchantIdentifier that was ever requested: the desired state, and the state at Apple as
-- last read. The row stays when the identifier is unregistered, because a call that reaches Apple late can register it
-- again at Apple, and only a comparison with Apple finds that.
CREATE TABLE registrations (
    id INTEGER PRIMARY KEY,
    partner_internal_merchant_identifier TEXT NOT NULL UNIQUE
        CHECK (length(partner_internal_merchant_identifier) BETWEEN 3 AND 1024
            AND partner_internal_merchant_identifier NOT GLOB '*[^-a-zA-Z0-9~_+&@$!|,.;]*'),
    -- The desired state, together with the rows of registration_domains where is_desired = 1.
    partner_merchant_name TEXT NOT NULL CHECK (length(CAST(partner_merchant_name AS BLOB)) BETWEEN 1 AND 1024),
    encrypt_to TEXT NOT NULL
        CHECK (length(encrypt_to) <= 255
            AND (encrypt_to GLOB 'merchant.?*' OR encrypt_to GLOB 'platformintegrator.?*')),
    merchant_url TEXT CHECK (length(CAST(merchant_url AS BLOB)) BETWEEN 1 AND 2048),
    merchant_identifier TEXT REFERENCES merchants (identifier),
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    -- The state at Apple, read at learned_at; NULL if it was never read. Without a known_name, Apple has no registration.
    learned_at INTEGER,
    known_name TEXT CHECK (length(CAST(known_name AS BLOB)) <= 4096),
    -- SHA-256 of the identifier, as Apple spells it.
    known_encrypt_to TEXT CHECK (length(CAST(known_encrypt_to AS BLOB)) <= 4096),
    -- The number of differences between the desired state and the state at Apple. The daemon computes it, because SQL has
    -- no SHA-256 function.
    drifts INTEGER NOT NULL DEFAULT 0 CHECK (drifts >= 0),
    -- Kept by triggers. Apple accepts up to 99 domains for each merchant.
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
    SELECT RAISE(ABORT, 'the identity of a registration never changes');
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
    -- ASCII in lower case if desired; as Apple spells it if only Apple has it.
    domain_name TEXT NOT NULL CHECK (length(CAST(domain_name AS BLOB)) BETWEEN 1 AND 1024),
    is_desired INTEGER NOT NULL CHECK (is_desired IN (0, 1)),
    is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
    CHECK (is_desired = 1 OR is_known = 1),
    CHECK (is_desired = 0 OR (length(domain_name) <= 253 AND domain_name NOT GLOB '*[^-a-z0-9.]*')),
    PRIMARY KEY (registration_id, domain_name)
) STRICT, WITHOUT ROWID;

-- For the search by the beginning of a domain name.
CREATE INDEX registration_domains_by_name ON registration_domains (domain_name, registration_id);

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
    SELECT RAISE(ABORT, 'the domain name of a row never changes');
END;

-- --------------------------------------------------------------------------------------------------------- calls

-- Each call to Apple that changes something. The row is written before the call and closed once the outcome is known. While
-- a call is open its outcome is unknown, and the daemon makes no other call for the same registration.
CREATE TABLE registration_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    registration_id INTEGER NOT NULL REFERENCES registrations (id),
    kind TEXT NOT NULL CHECK (kind IN ('register', 'unregister')),
    -- One name on each line.
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

-- A call that was sent again may still reach Apple.
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
    SELECT RAISE(ABORT, 'the request of a call to Apple never changes');
END;

CREATE TRIGGER registration_calls_counted AFTER INSERT ON registration_calls WHEN NEW.outcome IS NULL BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'registrationCallsOpen';
END;

CREATE TRIGGER registration_calls_discounted AFTER UPDATE OF outcome ON registration_calls
WHEN OLD.outcome IS NULL AND NEW.outcome IS NOT NULL BEGIN
    UPDATE totals SET value = value - 1 WHERE name = 'registrationCallsOpen';
END;

-- A merchant cannot be removed while a registration, or an open call that may become one, names it.
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

-- ------------------------------------------------------------------------------------- domain verification file

-- The domain verification file, which every registered domain must serve. There is one for each platform integrator
-- identifier, and a daemon serves one of those.
CREATE TABLE domain_verification_file (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    content BLOB NOT NULL CHECK (length(content) BETWEEN 1 AND 65536),
    stored_at INTEGER NOT NULL
) STRICT;

-- ------------------------------------------------------------------------------------------------------ events

CREATE TABLE events (
    -- AUTOINCREMENT: a sequence is never reused, even after the last events were removed.
    sequence INTEGER PRIMARY KEY AUTOINCREMENT CHECK (sequence > 0),
    -- Random: distinguishes events to which two copies of one database gave the same sequence.
    id BLOB NOT NULL CHECK (length(id) = 16),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    severity TEXT NOT NULL CHECK (severity IN ('notice', 'warning', 'critical')),
    occurred_at INTEGER NOT NULL,
    merchant_identifier TEXT,
    public_key_hash BLOB CHECK (length(public_key_hash) = 32),
    roll_id TEXT CHECK (length(roll_id) BETWEEN 1 AND 255),
    detail TEXT NOT NULL CHECK (length(CAST(detail AS BLOB)) BETWEEN 1 AND 4096),
    -- What Apple reported about a merchant token, as JSON; NULL for other kinds of events.
    merchant_token TEXT CHECK (length(CAST(merchant_token AS BLOB)) BETWEEN 2 AND 65536)
) STRICT;

CREATE INDEX events_of_merchant ON events (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX events_of_kind ON events (kind, sequence);

CREATE INDEX events_of_severity ON events (severity, sequence);

CREATE INDEX events_by_age ON events (occurred_at);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'an event is never changed');
END;

-- --------------------------------------------------------------------------------------------------- webhooks

-- The webhooks that the settings name or once named. Their addresses and secrets are only in the settings.
CREATE TABLE event_webhooks (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255),
    -- Between commas: ',keyPromoted,keyRevoked,'. NULL: every kind.
    kinds TEXT CHECK (kinds LIKE ',%,'),
    registered_at INTEGER NOT NULL,
    -- When the settings stopped naming it. Its undelivered events wait until the settings name it again.
    removed_at INTEGER,
    last_delivered_at INTEGER,
    last_failed_at INTEGER,
    last_failure TEXT CHECK (length(CAST(last_failure AS BLOB)) <= 4096),
    -- The numbers of waiting and of parked deliveries; kept by triggers.
    undelivered INTEGER NOT NULL DEFAULT 0 CHECK (undelivered >= 0),
    parked INTEGER NOT NULL DEFAULT 0 CHECK (parked >= 0)
) STRICT;

-- One row for each event that a webhook has not received. Delivery removes the row.
--
-- A lane holds one merchant's events, or the events without a merchant. Events of a lane are delivered in sequence: only the
-- first that is not parked may be sent, and is_next marks it.
CREATE TABLE event_deliveries (
    webhook_id INTEGER NOT NULL REFERENCES event_webhooks (id),
    event_sequence INTEGER NOT NULL REFERENCES events (sequence) ON DELETE CASCADE,
    lane TEXT NOT NULL,
    is_parked INTEGER NOT NULL DEFAULT 0 CHECK (is_parked IN (0, 1)),
    is_next INTEGER NOT NULL CHECK (is_next IN (0, 1)),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    first_failed_at INTEGER,
    -- The earliest time of the next attempt; 0 for immediately.
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (webhook_id, event_sequence),
    CHECK (is_parked = 0 OR is_next = 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_deliveries_of_event ON event_deliveries (event_sequence);

CREATE INDEX event_deliveries_undelivered ON event_deliveries (webhook_id, event_sequence) WHERE is_parked = 0;

CREATE INDEX event_deliveries_parked ON event_deliveries (webhook_id, event_sequence) WHERE is_parked = 1;

CREATE INDEX event_deliveries_in_lane ON event_deliveries (webhook_id, lane, event_sequence) WHERE is_parked = 0;

CREATE UNIQUE INDEX event_deliveries_one_next ON event_deliveries (webhook_id, lane) WHERE is_next = 1;

CREATE INDEX event_deliveries_due ON event_deliveries (webhook_id, due_at, event_sequence) WHERE is_next = 1;

-- The statement that inserts an event inserts its deliveries, so no program can store one without the other.
CREATE TRIGGER events_go_out AFTER INSERT ON events BEGIN
    INSERT INTO event_deliveries (webhook_id, event_sequence, lane, is_next)
    SELECT id, NEW.sequence, coalesce(NEW.merchant_identifier, ''), NOT EXISTS (
        SELECT 1 FROM event_deliveries AS earlier
        WHERE earlier.webhook_id = event_webhooks.id AND earlier.lane = coalesce(NEW.merchant_identifier, '')
            AND earlier.is_parked = 0
    )
    FROM event_webhooks
    WHERE removed_at IS NULL AND (kinds IS NULL OR instr(kinds, ',' || NEW.kind || ',') > 0);
END;

CREATE TRIGGER event_deliveries_counted AFTER INSERT ON event_deliveries BEGIN
    UPDATE event_webhooks SET undelivered = undelivered + 1 WHERE id = NEW.webhook_id;
END;

CREATE TRIGGER event_deliveries_gone AFTER DELETE ON event_deliveries BEGIN
    UPDATE event_webhooks SET undelivered = undelivered - (OLD.is_parked = 0), parked = parked - OLD.is_parked
        WHERE id = OLD.webhook_id;
    UPDATE event_deliveries SET is_next = 1
        WHERE OLD.is_next = 1 AND webhook_id = OLD.webhook_id AND event_sequence = (
            SELECT min(event_sequence) FROM event_deliveries
            WHERE webhook_id = OLD.webhook_id AND lane = OLD.lane AND is_parked = 0
        );
END;

-- Parked, or put back into its place in the lane.
CREATE TRIGGER event_deliveries_parked_or_not AFTER UPDATE OF is_parked ON event_deliveries
WHEN OLD.is_parked <> NEW.is_parked BEGIN
    UPDATE event_webhooks
        SET undelivered = undelivered + OLD.is_parked - NEW.is_parked, parked = parked + NEW.is_parked - OLD.is_parked
        WHERE id = NEW.webhook_id;
    UPDATE event_deliveries SET is_next = 0
        WHERE webhook_id = NEW.webhook_id AND lane = NEW.lane AND is_next = 1;
    UPDATE event_deliveries SET is_next = 1
        WHERE webhook_id = NEW.webhook_id AND event_sequence = (
            SELECT min(event_sequence) FROM event_deliveries
            WHERE webhook_id = NEW.webhook_id AND lane = NEW.lane AND is_parked = 0
        );
END;

-- --------------------------------------------------------------------------------------------- merchant tokens

-- The last known state of each merchant token (MPAN). Only `sealed_mpans` holds account numbers, sealed: `identifier` is
-- Apple's merchantTokenIdentifier, `card` describes the card and has at most the last 4 digits of the card's own number, and
-- an event in `events` names a new account number only by Apple's mpanId.
CREATE TABLE merchant_tokens (
    identifier TEXT NOT NULL PRIMARY KEY
        CHECK (length(identifier) BETWEEN 1 AND 64 AND identifier NOT GLOB '*[^-a-zA-Z0-9._~+=:]*'),
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    state TEXT NOT NULL CHECK (state IN ('linked', 'unlinked')),
    first_seen_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    -- The last event that was fetched from Apple; all four are NULL without one.
    event_id TEXT CHECK (length(event_id) BETWEEN 1 AND 128 AND event_id NOT GLOB '*[^-a-zA-Z0-9._~]*'),
    event_type TEXT CHECK (length(CAST(event_type AS BLOB)) <= 1024),
    event_reason TEXT CHECK (length(CAST(event_reason AS BLOB)) <= 1024),
    event_received_at INTEGER,
    -- Apple's description of the card, as JSON.
    card TEXT CHECK (length(CAST(card AS BLOB)) BETWEEN 2 AND 65536),
    -- The URL for notifications that the daemon last gave Apple; NULL if it never gave one.
    notification_url TEXT CHECK (length(CAST(notification_url AS BLOB)) BETWEEN 1 AND 2048),
    CHECK (first_seen_at <= last_seen_at),
    CHECK (
        (event_id IS NULL) = (event_type IS NULL) AND (event_id IS NULL) = (event_reason IS NULL)
        AND (event_id IS NULL) = (event_received_at IS NULL)
    )
) STRICT;

CREATE INDEX merchant_tokens_by_state ON merchant_tokens (state, identifier);

CREATE INDEX merchant_tokens_of_merchant ON merchant_tokens (merchant_identifier, state, identifier);

CREATE TRIGGER merchant_tokens_keep_their_identity
BEFORE UPDATE OF identifier, merchant_identifier, first_seen_at ON merchant_tokens BEGIN
    SELECT RAISE(ABORT, 'the identity of a merchant token never changes');
END;

-- The account numbers of merchant tokens, sealed by the key custodian. The table is empty unless the setting
-- merchant-tokens.store-mpan is true.
--
-- As in sealed_private_keys, a row is never deleted and never changes its length: an account number is erased by overwriting
-- its bytes with zeros. Another account number of the same token is stored in the same row.
CREATE TABLE sealed_mpans (
    id INTEGER PRIMARY KEY,
    merchant_token_identifier TEXT NOT NULL UNIQUE REFERENCES merchant_tokens (identifier),
    seal_version INTEGER NOT NULL CHECK (seal_version > 0),
    data_key_id INTEGER NOT NULL REFERENCES data_keys (id),
    sealed_bytes BLOB NOT NULL CHECK (length(sealed_bytes) = 48),
    -- When the notification of the event arrived that contained the account number.
    received_at INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    CHECK (erased = 0 OR sealed_bytes = zeroblob(48))
) STRICT;

-- The account numbers that a rotation must still re-encrypt.
CREATE INDEX sealed_mpans_by_data_key ON sealed_mpans (data_key_id, id) WHERE erased = 0;

CREATE TRIGGER sealed_mpans_are_kept BEFORE DELETE ON sealed_mpans BEGIN
    SELECT RAISE(ABORT, 'a sealed account number is erased in place, never deleted');
END;

CREATE TRIGGER sealed_mpans_erased_when_unlinked AFTER UPDATE OF state ON merchant_tokens WHEN NEW.state = 'unlinked' BEGIN
    UPDATE sealed_mpans SET sealed_bytes = zeroblob(48), erased = 1
    WHERE merchant_token_identifier = NEW.identifier AND erased = 0;
END;

CREATE TRIGGER sealed_mpans_have_a_data_key BEFORE INSERT ON sealed_mpans
WHEN NEW.erased = 0
    AND (SELECT sealed_bytes = zeroblob(length(sealed_bytes)) FROM data_keys WHERE id = NEW.data_key_id) BEGIN
    SELECT RAISE(ABORT, 'nothing is sealed under an erased data key');
END;

CREATE TRIGGER sealed_mpans_move_to_a_data_key BEFORE UPDATE OF data_key_id, erased ON sealed_mpans
WHEN NEW.erased = 0
    AND (SELECT sealed_bytes = zeroblob(length(sealed_bytes)) FROM data_keys WHERE id = NEW.data_key_id) BEGIN
    SELECT RAISE(ABORT, 'nothing is sealed under an erased data key');
END;

-- --------------------------------------------------------------------------- notifications of merchant tokens

-- The secret parts of notification URLs. They are stored as they are, because admins read the URLs again. A secret lets
-- its holder send notifications for one merchant, and nothing else.
CREATE TABLE token_notification_paths (
    id INTEGER PRIMARY KEY,
    secret TEXT NOT NULL UNIQUE CHECK (length(secret) = 32 AND secret NOT GLOB '*[^a-zA-Z0-9]*'),
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX token_notification_paths_of_merchant ON token_notification_paths (merchant_identifier, id);

CREATE TRIGGER token_notification_paths_are_bounded BEFORE INSERT ON token_notification_paths
WHEN (SELECT count(*) FROM token_notification_paths WHERE merchant_identifier = NEW.merchant_identifier) >= 100 BEGIN
    SELECT RAISE(ABORT, 'a merchant has at most 100 notification paths');
END;

CREATE TRIGGER token_notification_paths_are_kept BEFORE DELETE ON token_notification_paths BEGIN
    SELECT RAISE(ABORT, 'a notification path is kept: Apple may still send notifications to it');
END;

CREATE TRIGGER token_notification_paths_never_change BEFORE UPDATE ON token_notification_paths BEGIN
    SELECT RAISE(ABORT, 'a notification path never changes');
END;

-- The notifications that Apple, or any other client, has sent. A notification names only an event, which the daemon
-- fetches from Apple. Rows that no longer wait serve to recognize repeated notifications, and are removed by age.
--
-- A lane holds one merchant's notifications from one address. The events of a lane are fetched in the order of arrival. A
-- notification that fails delays its lane for at most 10 minutes (600,000 ms) after its first failure: if its next attempt
-- is not before that time, later notifications overtake it.
CREATE TABLE token_notifications (
    -- AUTOINCREMENT: a sequence is never reused, so the sequences of a lane have the order of arrival.
    sequence INTEGER PRIMARY KEY AUTOINCREMENT CHECK (sequence > 0),
    event_id TEXT NOT NULL CHECK (length(event_id) BETWEEN 1 AND 128 AND event_id NOT GLOB '*[^-a-zA-Z0-9._~]*'),
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    -- The address of the client, such as '17.58.0.1'.
    source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'unknown', 'failed')),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    first_failed_at INTEGER,
    -- The earliest time of the next attempt.
    due_at INTEGER NOT NULL,
    -- Why the last attempt failed.
    finding TEXT CHECK (length(CAST(finding AS BLOB)) <= 4096),
    -- When the daemon last attempted to fetch the event; NULL before the first attempt.
    attempted_at INTEGER,
    -- Not a generated column, because VACUUM INTO of SQLite 3.40 fails for a table with one.
    is_overtaken INTEGER NOT NULL DEFAULT 0
        CHECK (is_overtaken = (first_failed_at IS NOT NULL AND due_at >= first_failed_at + 600000)),
    UNIQUE (event_id, merchant_identifier),
    CHECK ((failures = 0) = (first_failed_at IS NULL))
) STRICT;

CREATE INDEX token_notifications_by_state ON token_notifications (state, received_at);

CREATE INDEX token_notifications_in_order ON token_notifications (merchant_identifier, source, sequence)
    WHERE state = 'waiting' AND is_overtaken = 0;

CREATE INDEX token_notifications_overtaken ON token_notifications (merchant_identifier, source, due_at, sequence)
    WHERE state = 'waiting' AND is_overtaken = 1;

-- How many notifications of each address wait. Kept by triggers; an address without waiting notifications has no row.
CREATE TABLE token_notification_sources (
    source TEXT NOT NULL PRIMARY KEY,
    waiting INTEGER NOT NULL CHECK (waiting >= 0)
) STRICT, WITHOUT ROWID;

-- The lanes with waiting notifications, and which notification of each lane is fetched next. Kept by triggers.
CREATE TABLE token_notification_lanes (
    merchant_identifier TEXT NOT NULL,
    source TEXT NOT NULL,
    waiting INTEGER NOT NULL CHECK (waiting >= 0),
    -- The last attempt in the lane; before the first one, when the lane began. The lanes take turns in this order.
    attempted_at INTEGER NOT NULL,
    -- Until when notifications that failed delay the later ones.
    delayed_until INTEGER NOT NULL DEFAULT 0,
    next_sequence INTEGER NOT NULL,
    -- When the next notification is due; 0 for immediately.
    next_due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (merchant_identifier, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX token_notification_lanes_due ON token_notification_lanes (next_due_at, attempted_at, next_sequence);

-- Chooses the next notification of a lane: the first one in order or the first overtaken one, whichever has been due for
-- longer. A notification that has not failed is due from its arrival, or from the lane's last attempt if that is earlier:
-- so a clock that was set back does not delay it.
CREATE TRIGGER token_notification_lanes_next AFTER UPDATE OF waiting ON token_notification_lanes
WHEN NEW.waiting > 0 BEGIN
    UPDATE token_notification_lanes
    SET (next_sequence, next_due_at) = (
        SELECT sequence, next_due_at FROM (
            SELECT * FROM (
                SELECT sequence, max(iif(failures = 0, 0, due_at), NEW.delayed_until) AS next_due_at,
                    max(iif(failures = 0, min(received_at, NEW.attempted_at), due_at), NEW.delayed_until) AS due_since
                FROM token_notifications INDEXED BY token_notifications_in_order
                WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source
                    AND state = 'waiting' AND is_overtaken = 0
                ORDER BY sequence LIMIT 1
            )
            UNION ALL
            SELECT * FROM (
                SELECT sequence, due_at AS next_due_at, due_at AS due_since
                FROM token_notifications INDEXED BY token_notifications_overtaken
                WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source
                    AND state = 'waiting' AND is_overtaken = 1
                ORDER BY due_at, sequence LIMIT 1
            )
        )
        ORDER BY due_since, sequence LIMIT 1
    )
    WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
END;

CREATE TRIGGER token_notification_lanes_end AFTER UPDATE OF waiting ON token_notification_lanes
WHEN NEW.waiting = 0 BEGIN
    DELETE FROM token_notification_lanes
        WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
END;

CREATE TRIGGER token_notification_sources_end AFTER UPDATE OF waiting ON token_notification_sources
WHEN NEW.waiting = 0 BEGIN
    DELETE FROM token_notification_sources WHERE source = NEW.source;
END;

CREATE TRIGGER token_notifications_begin_waiting BEFORE INSERT ON token_notifications
WHEN NEW.state <> 'waiting' OR NEW.failures <> 0 BEGIN
    SELECT RAISE(ABORT, 'a new notification waits');
END;

CREATE TRIGGER token_notifications_counted AFTER INSERT ON token_notifications BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'tokenNotificationsWaiting';
    INSERT INTO token_notification_sources (source, waiting) VALUES (NEW.source, 1)
        ON CONFLICT (source) DO UPDATE SET waiting = waiting + 1;
    INSERT INTO token_notification_lanes (merchant_identifier, source, waiting, attempted_at, next_sequence)
        VALUES (NEW.merchant_identifier, NEW.source, 1, NEW.received_at, NEW.sequence)
        ON CONFLICT (merchant_identifier, source) DO UPDATE SET waiting = waiting + 1;
END;

CREATE TRIGGER token_notifications_keep_their_identity
BEFORE UPDATE OF sequence, event_id, merchant_identifier, source, received_at ON token_notifications BEGIN
    SELECT RAISE(ABORT, 'the identity of a notification never changes');
END;

CREATE TRIGGER token_notifications_stay_closed BEFORE UPDATE ON token_notifications WHEN OLD.state <> 'waiting' BEGIN
    SELECT RAISE(ABORT, 'a notification that no longer waits never changes');
END;

CREATE TRIGGER token_notifications_attempted AFTER UPDATE ON token_notifications BEGIN
    UPDATE totals SET value = value - 1 WHERE name = 'tokenNotificationsWaiting' AND NEW.state <> 'waiting';
    UPDATE token_notification_sources SET waiting = waiting - 1 WHERE source = NEW.source AND NEW.state <> 'waiting';
    UPDATE token_notification_lanes
    SET waiting = waiting - (NEW.state <> 'waiting'),
        attempted_at = coalesce(NEW.attempted_at, attempted_at),
        delayed_until = CASE
            WHEN NEW.state = 'waiting' AND NEW.is_overtaken AND NEW.first_failed_at + 600000 > NEW.attempted_at
                THEN max(delayed_until, NEW.first_failed_at + 600000)
            WHEN delayed_until > NEW.attempted_at THEN delayed_until
            ELSE 0 END
    WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
END;

CREATE TRIGGER token_notifications_waiting_are_kept BEFORE DELETE ON token_notifications WHEN OLD.state = 'waiting' BEGIN
    SELECT RAISE(ABORT, 'a waiting notification is kept: Apple does not send it again');
END;

-- --------------------------------------------------------------------------------------- access to the portal

-- The secrets of the portal have 8 characters that name them (secret_identifier) and are not secret. Of the secret itself
-- only the SHA-256 is stored (secret_digest), so this database opens no access and no session.

-- A machine that may call the portal, by an access token or by a client certificate.
CREATE TABLE accesses (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
        CHECK (length(name) BETWEEN 1 AND 64 AND name GLOB '[a-zA-Z0-9]*' AND name NOT GLOB '*[^-a-zA-Z0-9._]*'),
    permits TEXT NOT NULL CHECK (permits IN (
        'onboard', 'read', 'merchantSession', 'onboard,read', 'merchantSession,onboard', 'merchantSession,read',
        'merchantSession,onboard,read'
    )),
    -- One identifier on each line; NULL: every merchant.
    merchants TEXT CHECK (length(merchants) BETWEEN 1 AND 1048576),
    -- The SHA-256 of the client certificate; NULL: the machine has an access token.
    certificate_fingerprint BLOB CHECK (length(certificate_fingerprint) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE UNIQUE INDEX accesses_by_certificate ON accesses (certificate_fingerprint)
    WHERE certificate_fingerprint IS NOT NULL AND revoked_at IS NULL;

CREATE TRIGGER accesses_are_kept BEFORE DELETE ON accesses BEGIN
    SELECT RAISE(ABORT, 'an access is kept as history');
END;

CREATE TRIGGER accesses_keep_their_identity
BEFORE UPDATE OF id, name, permits, merchants, certificate_fingerprint, created_at ON accesses BEGIN
    SELECT RAISE(ABORT, 'the identity of an access never changes');
END;

CREATE TRIGGER accesses_stay_revoked BEFORE UPDATE OF revoked_at ON accesses
WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at BEGIN
    SELECT RAISE(ABORT, 'a revoked access stays revoked');
END;

-- The access tokens: one for each access, or two during a rotation.
CREATE TABLE access_secrets (
    id INTEGER PRIMARY KEY,
    access_id INTEGER NOT NULL REFERENCES accesses (id),
    secret_identifier TEXT NOT NULL UNIQUE
        CHECK (length(secret_identifier) = 8 AND secret_identifier NOT GLOB '*[^a-zA-Z0-9]*'),
    secret_digest BLOB NOT NULL UNIQUE CHECK (length(secret_digest) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;

CREATE INDEX access_secrets_of_access ON access_secrets (access_id, id);

CREATE TRIGGER access_secrets_are_at_most_two BEFORE INSERT ON access_secrets
WHEN (SELECT count(*) FROM access_secrets WHERE access_id = NEW.access_id) >= 2 BEGIN
    SELECT RAISE(ABORT, 'an access has at most two secrets');
END;

CREATE TRIGGER access_secrets_of_a_valid_access BEFORE INSERT ON access_secrets
WHEN (SELECT revoked_at IS NOT NULL OR certificate_fingerprint IS NOT NULL FROM accesses WHERE id = NEW.access_id)
BEGIN
    SELECT RAISE(ABORT, 'a revoked access, or one by client certificate, gets no secret');
END;

CREATE TRIGGER access_secrets_keep_their_identity
BEFORE UPDATE OF id, access_id, secret_identifier, secret_digest, created_at ON access_secrets BEGIN
    SELECT RAISE(ABORT, 'the identity of a secret never changes');
END;

-- Lets a person at a merchant begin one session.
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE CHECK (length(identifier) = 16 AND identifier NOT GLOB '*[^0-9a-f]*'),
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    secret_identifier TEXT NOT NULL UNIQUE
        CHECK (length(secret_identifier) = 8 AND secret_identifier NOT GLOB '*[^a-zA-Z0-9]*'),
    secret_digest BLOB NOT NULL UNIQUE CHECK (length(secret_digest) = 32),
    note TEXT CHECK (length(CAST(note AS BLOB)) BETWEEN 1 AND 256),
    -- The caller's name, such as 'uid:1000' or 'access:shop'.
    created_by TEXT NOT NULL CHECK (length(created_by) BETWEEN 1 AND 255),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    revoked_at INTEGER,
    CHECK (used_at IS NULL OR used_at <= expires_at)
) STRICT;

CREATE INDEX invitations_of_merchant ON invitations (merchant_identifier, id);

CREATE INDEX invitations_by_creator ON invitations (created_by, expires_at);

CREATE TRIGGER invitations_are_kept BEFORE DELETE ON invitations BEGIN
    SELECT RAISE(ABORT, 'an invitation is kept as history');
END;

CREATE TRIGGER invitations_keep_their_identity
BEFORE UPDATE OF id, identifier, merchant_identifier, secret_identifier, secret_digest, note, created_by, created_at,
    expires_at ON invitations BEGIN
    SELECT RAISE(ABORT, 'the identity of an invitation never changes');
END;

CREATE TRIGGER invitations_are_used_once BEFORE UPDATE OF used_at ON invitations
WHEN NEW.used_at IS NOT OLD.used_at AND (OLD.used_at IS NOT NULL OR OLD.revoked_at IS NOT NULL) BEGIN
    SELECT RAISE(ABORT, 'an invitation is used at most once, and not after its revocation');
END;

CREATE TRIGGER invitations_stay_revoked BEFORE UPDATE OF revoked_at ON invitations
WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at BEGIN
    SELECT RAISE(ABORT, 'a revoked invitation stays revoked');
END;

-- The signed-in browsers. Rows of ended sessions are removed.
CREATE TABLE portal_sessions (
    secret_identifier TEXT NOT NULL PRIMARY KEY
        CHECK (length(secret_identifier) = 8 AND secret_identifier NOT GLOB '*[^a-zA-Z0-9]*'),
    secret_digest BLOB NOT NULL UNIQUE CHECK (length(secret_digest) = 32),
    -- The invitation of a person at a merchant; NULL for an operator.
    invitation_id INTEGER REFERENCES invitations (id),
    operator_uid INTEGER CHECK (operator_uid BETWEEN 0 AND 4294967295),
    -- Numbers between commas, sorted.
    operator_groups TEXT CHECK (operator_groups NOT GLOB '*[^0-9,]*'),
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    CHECK ((invitation_id IS NULL) = (operator_uid IS NOT NULL)),
    CHECK ((operator_uid IS NULL) = (operator_groups IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX portal_sessions_of_invitation ON portal_sessions (invitation_id) WHERE invitation_id IS NOT NULL;

CREATE INDEX portal_sessions_of_operator ON portal_sessions (operator_uid) WHERE operator_uid IS NOT NULL;

CREATE INDEX portal_sessions_by_last_request ON portal_sessions (last_seen_at);

CREATE INDEX portal_sessions_by_age ON portal_sessions (created_at);

CREATE TRIGGER portal_sessions_of_a_valid_invitation BEFORE INSERT ON portal_sessions
WHEN (SELECT revoked_at IS NOT NULL FROM invitations WHERE id = NEW.invitation_id) BEGIN
    SELECT RAISE(ABORT, 'a revoked invitation begins no session');
END;

CREATE TRIGGER portal_sessions_keep_their_identity
BEFORE UPDATE OF secret_identifier, secret_digest, invitation_id, operator_uid, operator_groups, created_at
    ON portal_sessions BEGIN
    SELECT RAISE(ABORT, 'the identity of a session never changes');
END;

-- Lets an operator begin one session. Rows of old logins are removed.
CREATE TABLE operator_logins (
    secret_identifier TEXT NOT NULL PRIMARY KEY
        CHECK (length(secret_identifier) = 8 AND secret_identifier NOT GLOB '*[^a-zA-Z0-9]*'),
    secret_digest BLOB NOT NULL UNIQUE CHECK (length(secret_digest) = 32),
    operator_uid INTEGER NOT NULL CHECK (operator_uid BETWEEN 0 AND 4294967295),
    -- Numbers between commas, sorted.
    operator_groups TEXT NOT NULL CHECK (operator_groups NOT GLOB '*[^0-9,]*'),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    CHECK (used_at IS NULL OR used_at <= expires_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_logins_by_age ON operator_logins (created_at);

CREATE TRIGGER operator_logins_are_used_once BEFORE UPDATE OF used_at ON operator_logins
WHEN OLD.used_at IS NOT NULL AND NEW.used_at IS NOT OLD.used_at BEGIN
    SELECT RAISE(ABORT, 'a login is used at most once');
END;

CREATE TRIGGER operator_logins_keep_their_identity
BEFORE UPDATE OF secret_identifier, secret_digest, operator_uid, operator_groups, created_at, expires_at
    ON operator_logins BEGIN
    SELECT RAISE(ABORT, 'the identity of a login never changes');
END;

-- ----------------------------------------------------------------------------------------------------- backups

-- Backups that this database created or verified. Their files may no longer exist.
CREATE TABLE backups (
    id INTEGER PRIMARY KEY,
    -- The digest of the database in the file.
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    path TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 4096),
    created_at INTEGER NOT NULL,
    -- The highest key pair id in the backup. Ids only grow, so the backup contains every key pair up to this id.
    newest_key_pair_id INTEGER NOT NULL CHECK (newest_key_pair_id >= 0),
    audit_sequence INTEGER NOT NULL CHECK (audit_sequence >= 0),
    -- When the last verification unsealed every key in it and found no fault; NULL if it found a fault.
    verified_at INTEGER
) STRICT;

CREATE INDEX backups_verified ON backups (newest_key_pair_id) WHERE verified_at IS NOT NULL;
