-- The schema for PostgreSQL, version 15 or newer. It holds the same tables, constraints and triggers as the schema for SQLite
-- in schema/migrations. Times are milliseconds since 1970-01-01T00:00:00Z; hashes and keys are raw bytes.
--
-- Merchants, key pairs, certificates, rolls, calls to Apple, paths for notifications of merchant tokens, accesses,
-- invitations and audit records are never deleted.
-- Every rule that must hold after each statement is a constraint or a trigger here, so that no program can break it.
--
-- Every text column has the collation "C", so that the order of the rows is the order of the bytes, as in SQLite, whatever the
-- database's own collation is.

CREATE SCHEMA merchantkeyd;

SET LOCAL search_path = merchantkeyd, pg_temp;

-- Identifies this database. The daemon refuses a schema without this row.
CREATE TABLE instance (
    id smallint PRIMARY KEY CHECK (id = 1),
    program text COLLATE "C" NOT NULL CHECK (program = 'merchantkeyd'),
    -- Random: tells this database from another one, and from a copy that was set up again.
    identifier uuid NOT NULL
);

INSERT INTO instance (id, program, identifier) VALUES (1, 'merchantkeyd', gen_random_uuid());

-- The migrations that created this database, with the SHA-256 of each migration's text. A program whose migrations differ
-- from these is refused.
CREATE TABLE migrations (
    version bigint PRIMARY KEY CHECK (version > 0),
    name text COLLATE "C" NOT NULL UNIQUE,
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    applied_at bigint NOT NULL
);

-- Named values that the daemon stores about itself.
CREATE TABLE daemon_values (
    name text COLLATE "C" NOT NULL PRIMARY KEY CHECK (char_length(name) BETWEEN 1 AND 255),
    value text COLLATE "C" NOT NULL
);

-- The data keys, each sealed by the master key.
CREATE TABLE data_keys (
    id bigint PRIMARY KEY,
    sealed_bytes bytea NOT NULL CHECK (octet_length(sealed_bytes) > 0),
    master_key_check bytea NOT NULL CHECK (octet_length(master_key_check) > 0),
    created_at bigint NOT NULL
);

-- Totals for status. Triggers keep them, so that status does not count rows. Many transactions update the same few rows; the
-- free space of the pages lets PostgreSQL update a row within its page.
CREATE TABLE totals (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value bigint NOT NULL DEFAULT 0 CHECK (value >= 0)
) WITH (fillfactor = 10);

INSERT INTO totals (name) VALUES
    ('merchants'), ('merchantsBelowTarget'), ('merchantsWithKeyPair'), ('certificates'),
    ('keyPairs.pending'), ('keyPairs.standby'), ('keyPairs.current'),
    ('keyPairs.retiring'), ('keyPairs.revoked'), ('keyPairs.destroyed'), ('awaitingDestruction'),
    ('registrations'), ('registrationsDrifting'), ('registrationCallsOpen'),
    ('rolls.started'), ('rolls.certificateStored'), ('rolls.promoted'), ('rolls.finished'), ('rolls.abandoned'),
    ('tokenNotificationsWaiting');

-- -------------------------------------------------------------------------------------------- functions of triggers

-- Refuses the statement. The argument of the trigger is the error message.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0];
END $$;

-- Zeros in the place of erased bytes.
CREATE FUNCTION zeros(count integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN decode(repeat('00', count), 'hex');

-- PL/pgSQL, because PostgreSQL would plan the statement of an SQL function again in each transaction.
CREATE FUNCTION add_to_total(total text, change integer) RETURNS void LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF change <> 0 THEN UPDATE totals SET value = value + change WHERE name = total; END IF;
END $$;

CREATE FUNCTION is_active(state text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN state IN ('standby', 'current', 'retiring');

-- ---------------------------------------------------------------------------------------------------- merchants

CREATE TABLE merchants (
    identifier text COLLATE "C" NOT NULL PRIMARY KEY
        CHECK (char_length(identifier) <= 255
            AND (identifier LIKE 'merchant._%' OR identifier LIKE 'platformintegrator._%')),
    name text COLLATE "C" CHECK (octet_length(name) <= 1024),
    target_active_key_pairs bigint NOT NULL CHECK (target_active_key_pairs BETWEEN 0 AND 16),
    created_at bigint NOT NULL,
    removed_at bigint,
    -- The number of active payment processing key pairs. This column and the next three are kept by triggers.
    active_key_pairs bigint NOT NULL DEFAULT 0 CHECK (active_key_pairs >= 0),
    -- Whether the merchant ever had an active payment processing key pair. Losing the last one is critical; a new merchant
    -- without one is not.
    had_active_key_pair boolean NOT NULL DEFAULT false,
    -- The highest id of the merchant's key pairs, which shows whether a backup contains all of them.
    newest_key_pair_id bigint NOT NULL DEFAULT 0,
    -- When the certificate of the current payment processing key pair expires; the earliest of several. NULL without one.
    current_ends_at bigint,
    CHECK (removed_at IS NULL OR active_key_pairs = 0)
);

CREATE INDEX merchants_below_target ON merchants (identifier)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs;

CREATE INDEX merchants_by_newest_key_pair ON merchants (newest_key_pair_id);

CREATE INDEX merchants_below_target_ending ON merchants (current_ends_at)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND current_ends_at IS NOT NULL;

CREATE INDEX merchants_without_active_key_pair ON merchants (identifier)
    WHERE removed_at IS NULL AND active_key_pairs = 0 AND had_active_key_pair AND target_active_key_pairs > 0;

CREATE INDEX platform_integrators ON merchants (identifier)
    WHERE removed_at IS NULL AND identifier LIKE 'platformintegrator._%';

CREATE TRIGGER merchants_are_kept BEFORE DELETE ON merchants
    FOR EACH ROW EXECUTE FUNCTION refuse('a merchant identifier stays reserved');

CREATE TRIGGER merchants_are_not_truncated BEFORE TRUNCATE ON merchants
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a merchant identifier stays reserved');

CREATE FUNCTION count_merchant() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
DECLARE
    was_present boolean := false;
    was_below boolean := false;
    is_present boolean := NEW.removed_at IS NULL;
    is_below boolean := NEW.removed_at IS NULL AND NEW.active_key_pairs < NEW.target_active_key_pairs;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        was_present := OLD.removed_at IS NULL;
        was_below := OLD.removed_at IS NULL AND OLD.active_key_pairs < OLD.target_active_key_pairs;
    END IF;
    PERFORM add_to_total('merchants', is_present::integer - was_present::integer);
    PERFORM add_to_total('merchantsBelowTarget', is_below::integer - was_below::integer);
    RETURN NULL;
END $$;

CREATE TRIGGER merchants_counted AFTER INSERT ON merchants FOR EACH ROW EXECUTE FUNCTION count_merchant();

CREATE TRIGGER merchants_recounted AFTER UPDATE OF removed_at, active_key_pairs, target_active_key_pairs ON merchants
    FOR EACH ROW EXECUTE FUNCTION count_merchant();

CREATE FUNCTION count_merchant_with_key_pair() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total('merchantsWithKeyPair', 1);
    RETURN NULL;
END $$;

CREATE TRIGGER merchants_first_key_pair AFTER UPDATE OF newest_key_pair_id ON merchants
    FOR EACH ROW WHEN (OLD.newest_key_pair_id = 0 AND NEW.newest_key_pair_id > 0)
    EXECUTE FUNCTION count_merchant_with_key_pair();

CREATE FUNCTION note_active_key_pair() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.had_active_key_pair := NEW.had_active_key_pair OR NEW.active_key_pairs > 0;
    RETURN NEW;
END $$;

CREATE TRIGGER merchants_had_active_key_pair BEFORE UPDATE OF active_key_pairs ON merchants
    FOR EACH ROW EXECUTE FUNCTION note_active_key_pair();

-- ---------------------------------------------------------------------------------------------------- key pairs

-- Sealed private keys, which only the key custodian can open.
--
-- A key is erased by overwriting its bytes with zeros. PostgreSQL keeps the old version of a row until VACUUM removes it, and
-- copies of it stay in the write-ahead log, in archives and on replicas. Only a rotation of the data key makes these copies
-- useless.
CREATE TABLE sealed_private_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seal_version bigint NOT NULL CHECK (seal_version > 0),
    data_key_id bigint NOT NULL REFERENCES data_keys (id),
    sealed_bytes bytea NOT NULL CHECK (octet_length(sealed_bytes) BETWEEN 1 AND 16384),
    erased boolean NOT NULL DEFAULT false,
    CHECK (NOT erased OR sealed_bytes = decode(repeat('00', octet_length(sealed_bytes)), 'hex'))
);

-- The private keys that a rotation must still re-encrypt.
CREATE INDEX sealed_private_keys_by_data_key ON sealed_private_keys (data_key_id, id) WHERE NOT erased;

CREATE TABLE key_pairs (
    -- The same as the id of its sealed private key: there is no key pair without one.
    id bigint PRIMARY KEY REFERENCES sealed_private_keys (id),
    public_key_hash bytea NOT NULL UNIQUE CHECK (octet_length(public_key_hash) = 32),
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    algorithm text COLLATE "C" NOT NULL CHECK (algorithm IN ('EC_v1', 'RSA_v1')),
    purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('paymentProcessing', 'identity')),
    origin text COLLATE "C" NOT NULL CHECK (origin IN ('generated', 'imported')),
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('pending', 'standby', 'current', 'retiring', 'revoked', 'destroyed')),
    created_at bigint NOT NULL,
    state_since bigint NOT NULL,
    revocation_reason text COLLATE "C" CHECK (octet_length(revocation_reason) <= 1024),
    destroy_after bigint CHECK (destroy_after IS NULL OR state = 'revoked'),
    exported_at bigint,
    -- When the last of its certificates expires; kept by a trigger. NULL without a certificate.
    expires_at bigint,
    -- Whether the issuer of one of its certificates was not verified; kept by triggers.
    issuer_not_verified boolean NOT NULL DEFAULT false,
    subject_public_key_info bytea NOT NULL CHECK (octet_length(subject_public_key_info) BETWEEN 1 AND 4096),
    certificate_signing_request bytea NOT NULL CHECK (octet_length(certificate_signing_request) BETWEEN 1 AND 16384)
);

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
    WHERE issuer_not_verified AND state IN ('standby', 'current', 'retiring');

CREATE TRIGGER sealed_private_keys_are_kept BEFORE DELETE ON sealed_private_keys
    FOR EACH ROW EXECUTE FUNCTION refuse('a sealed private key is erased in place, never deleted');

CREATE TRIGGER sealed_private_keys_are_not_truncated BEFORE TRUNCATE ON sealed_private_keys
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a sealed private key is erased in place, never deleted');

CREATE TRIGGER sealed_private_keys_stay_erased BEFORE UPDATE ON sealed_private_keys
    FOR EACH ROW WHEN (OLD.erased AND NOT NEW.erased)
    EXECUTE FUNCTION refuse('an erased private key cannot come back');

-- This trigger and the next two: a key pair is 'destroyed' if and only if its sealed private key is erased.
CREATE FUNCTION destroy_key_pair() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE key_pairs SET state = 'destroyed', destroy_after = NULL WHERE id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER key_pairs_destroyed AFTER UPDATE OF erased ON sealed_private_keys
    FOR EACH ROW WHEN (NOT OLD.erased AND NEW.erased) EXECUTE FUNCTION destroy_key_pair();

CREATE FUNCTION require_erased_if_destroyed() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (NEW.state = 'destroyed') <> (SELECT erased FROM sealed_private_keys WHERE id = NEW.id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a key pair is destroyed exactly when its sealed private key is erased';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER key_pairs_destroyed_only_when_erased BEFORE UPDATE OF state ON key_pairs
    FOR EACH ROW EXECUTE FUNCTION require_erased_if_destroyed();

CREATE TRIGGER key_pairs_begin_with_a_private_key BEFORE INSERT ON key_pairs
    FOR EACH ROW EXECUTE FUNCTION require_erased_if_destroyed();

CREATE TRIGGER key_pairs_are_kept BEFORE DELETE ON key_pairs
    FOR EACH ROW EXECUTE FUNCTION refuse('a key pair is kept as history');

CREATE TRIGGER key_pairs_are_not_truncated BEFORE TRUNCATE ON key_pairs
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a key pair is kept as history');

CREATE TRIGGER key_pairs_keep_their_identity
    BEFORE UPDATE OF id, public_key_hash, merchant_identifier, algorithm, purpose, origin, created_at,
        subject_public_key_info, certificate_signing_request ON key_pairs
    FOR EACH ROW EXECUTE FUNCTION refuse('what a key pair is never changes');

CREATE FUNCTION count_key_pair() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE totals SET value = value + 1 WHERE name = 'keyPairs.' || NEW.state;
    -- Most new key pairs are pending. A statement that names active_key_pairs would run the triggers of that column.
    IF NEW.purpose = 'paymentProcessing' AND is_active(NEW.state) THEN
        UPDATE merchants
        SET newest_key_pair_id = greatest(newest_key_pair_id, NEW.id), active_key_pairs = active_key_pairs + 1
        WHERE identifier = NEW.merchant_identifier;
    ELSE
        UPDATE merchants SET newest_key_pair_id = greatest(newest_key_pair_id, NEW.id)
        WHERE identifier = NEW.merchant_identifier;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER key_pairs_counted AFTER INSERT ON key_pairs FOR EACH ROW EXECUTE FUNCTION count_key_pair();

CREATE FUNCTION recount_key_pair() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total('keyPairs.' || OLD.state, -1);
    PERFORM add_to_total('keyPairs.' || NEW.state, 1);
    IF NEW.purpose = 'paymentProcessing' AND is_active(NEW.state) <> is_active(OLD.state) THEN
        UPDATE merchants
        SET active_key_pairs = active_key_pairs + is_active(NEW.state)::integer - is_active(OLD.state)::integer
        WHERE identifier = NEW.merchant_identifier;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER key_pairs_recounted AFTER UPDATE OF state ON key_pairs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION recount_key_pair();

CREATE FUNCTION count_destruction() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total(
        'awaitingDestruction', (NEW.destroy_after IS NOT NULL)::integer - (OLD.destroy_after IS NOT NULL)::integer);
    RETURN NULL;
END $$;

CREATE TRIGGER destructions_counted AFTER UPDATE OF destroy_after ON key_pairs
    FOR EACH ROW WHEN ((OLD.destroy_after IS NULL) <> (NEW.destroy_after IS NULL))
    EXECUTE FUNCTION count_destruction();

CREATE FUNCTION set_current_end() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE merchants SET current_ends_at = (
        SELECT min(expires_at) FROM key_pairs
        WHERE merchant_identifier = NEW.merchant_identifier AND purpose = 'paymentProcessing' AND state = 'current'
    )
    WHERE identifier = NEW.merchant_identifier;
    RETURN NULL;
END $$;

CREATE TRIGGER merchants_current_end AFTER UPDATE OF state, expires_at ON key_pairs
    FOR EACH ROW WHEN (NEW.purpose = 'paymentProcessing' AND (OLD.state = 'current' OR NEW.state = 'current'))
    EXECUTE FUNCTION set_current_end();

-- ------------------------------------------------------------------------------------------------- certificates

CREATE TABLE certificates (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint bytea NOT NULL UNIQUE CHECK (octet_length(fingerprint) = 32),
    public_key_hash bytea NOT NULL REFERENCES key_pairs (public_key_hash),
    der bytea NOT NULL CHECK (octet_length(der) BETWEEN 1 AND 65536),
    serial_number text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    not_before bigint NOT NULL,
    not_after bigint NOT NULL,
    issuer_verified boolean NOT NULL,
    stored_at bigint NOT NULL
);

CREATE INDEX certificates_of_key_pair ON certificates (public_key_hash, id);

CREATE FUNCTION note_certificate() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total('certificates', 1);
    UPDATE key_pairs SET expires_at = NEW.not_after
        WHERE public_key_hash = NEW.public_key_hash AND (expires_at IS NULL OR expires_at < NEW.not_after);
    IF NOT NEW.issuer_verified THEN
        UPDATE key_pairs SET issuer_not_verified = true
            WHERE public_key_hash = NEW.public_key_hash AND NOT issuer_not_verified;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER certificates_counted AFTER INSERT ON certificates FOR EACH ROW EXECUTE FUNCTION note_certificate();

CREATE FUNCTION note_verified_issuer() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE key_pairs SET issuer_not_verified = EXISTS (
        SELECT 1 FROM certificates
        WHERE certificates.public_key_hash = NEW.public_key_hash AND NOT issuer_verified
    )
    WHERE public_key_hash = NEW.public_key_hash;
    RETURN NULL;
END $$;

CREATE TRIGGER certificates_verified_later AFTER UPDATE OF issuer_verified ON certificates
    FOR EACH ROW EXECUTE FUNCTION note_verified_issuer();

CREATE TRIGGER certificates_are_kept BEFORE DELETE ON certificates
    FOR EACH ROW EXECUTE FUNCTION refuse('a certificate is kept as history');

CREATE TRIGGER certificates_are_not_truncated BEFORE TRUNCATE ON certificates
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a certificate is kept as history');

-- -------------------------------------------------------------------------------------------------------- audit

-- Each record holds the hash of the record before it.
CREATE TABLE audit (
    sequence bigint PRIMARY KEY CHECK (sequence > 0),
    action text COLLATE "C" NOT NULL CHECK (char_length(action) > 0),
    -- The caller's name, such as 'uid:1000' or 'access:shop'.
    caller text COLLATE "C" NOT NULL CHECK (char_length(caller) BETWEEN 1 AND 255),
    -- Only for a process on a Unix socket, and for the daemon itself.
    caller_gid bigint,
    caller_pid bigint,
    caller_program text COLLATE "C",
    -- Only for a client of the portal.
    caller_address text COLLATE "C",
    at bigint NOT NULL,
    merchant_identifier text COLLATE "C",
    public_key_hash bytea CHECK (octet_length(public_key_hash) = 32),
    value_before text COLLATE "C",
    value_after text COLLATE "C",
    reason text COLLATE "C",
    request_id text COLLATE "C",
    -- The daemon that did it. Null in records of a SQLite database that was copied.
    node text COLLATE "C" CHECK (char_length(node) BETWEEN 1 AND 63),
    previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    CHECK (
        (caller_gid IS NULL) = (caller_address IS NOT NULL) AND (caller_gid IS NULL) = (caller_pid IS NULL)
        AND (caller_gid IS NULL) = (caller_program IS NULL)
    )
);

CREATE INDEX audit_of_merchant ON audit (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX audit_of_key_pair ON audit (public_key_hash, sequence) WHERE public_key_hash IS NOT NULL;

CREATE INDEX audit_of_caller ON audit (caller, sequence);

CREATE INDEX audit_by_time ON audit (at, sequence);

-- The last record: its sequence is never reused, so records that were cut off the end leave a gap. Every transaction of a
-- daemon that writes locks this row first. So transactions of several daemons run one after another, and the audit is one
-- chain.
CREATE TABLE audit_head (
    id smallint PRIMARY KEY CHECK (id = 1),
    sequence bigint NOT NULL CHECK (sequence >= 0),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
) WITH (fillfactor = 10);

INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, zeros(32));

CREATE FUNCTION append_to_audit() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE audit_head SET sequence = NEW.sequence, hash = NEW.hash
        WHERE id = 1 AND sequence = NEW.sequence - 1 AND hash = NEW.previous_hash;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'an audit record follows the last one';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_is_a_chain BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION append_to_audit();

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse('an audit record is never changed');

CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse('an audit record is never deleted');

CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('an audit record is never deleted');

CREATE TRIGGER audit_head_only_grows BEFORE UPDATE ON audit_head
    FOR EACH ROW WHEN (NEW.sequence <> OLD.sequence + 1 OR NEW.id <> OLD.id)
    EXECUTE FUNCTION refuse('the audit head only moves to the next record');

CREATE TRIGGER audit_head_is_kept BEFORE DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION refuse('the audit head is never deleted');

CREATE TRIGGER audit_head_is_not_truncated BEFORE TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('the audit head is never deleted');

-- ----------------------------------------------------------------------------------------------- repeated requests

-- What a request with an Idempotency-Key created. Rows older than a day are removed.
CREATE TABLE idempotency_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    caller text COLLATE "C" NOT NULL CHECK (char_length(caller) BETWEEN 1 AND 255),
    operation text COLLATE "C" NOT NULL CHECK (char_length(operation) BETWEEN 1 AND 1024),
    value text COLLATE "C" NOT NULL CHECK (char_length(value) BETWEEN 1 AND 255),
    request_digest bytea NOT NULL CHECK (octet_length(request_digest) > 0),
    resource text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (caller, operation, value)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- --------------------------------------------------------------------------------------- rotation of data keys

-- A rotation re-encrypts each sealed private key under a new data key. The row of an old data key is overwritten with zeros
-- once no key is sealed under it. It is kept, because destroyed private keys refer to it.
CREATE TABLE key_rotations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text COLLATE "C" NOT NULL CHECK (state IN ('sealing', 'erasing', 'finished')),
    -- The new data key, under which every private key will be sealed.
    data_key_id bigint NOT NULL UNIQUE REFERENCES data_keys (id),
    replaces_master_key boolean NOT NULL,
    -- The number of private keys to re-encrypt, and of those already re-encrypted.
    total bigint NOT NULL CHECK (total >= 0),
    done bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
    started_at bigint NOT NULL,
    finished_at bigint,
    CHECK ((finished_at IS NULL) = (state <> 'finished'))
);

CREATE UNIQUE INDEX key_rotations_one_open ON key_rotations ((state <> 'finished')) WHERE state <> 'finished';

CREATE TRIGGER data_keys_are_kept BEFORE DELETE ON data_keys
    FOR EACH ROW EXECUTE FUNCTION refuse('a data key is erased in place, never deleted');

CREATE TRIGGER data_keys_are_not_truncated BEFORE TRUNCATE ON data_keys
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a data key is erased in place, never deleted');

CREATE FUNCTION require_unused_data_key() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sealed_private_keys WHERE data_key_id = OLD.id AND NOT erased)
        OR EXISTS (SELECT 1 FROM sealed_mpans WHERE data_key_id = OLD.id AND NOT erased) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a data key is erased only when nothing is sealed under it';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER data_keys_open_what_they_sealed BEFORE UPDATE ON data_keys
    FOR EACH ROW EXECUTE FUNCTION require_unused_data_key();

CREATE TRIGGER data_keys_change_only_to_zeros BEFORE UPDATE ON data_keys
    FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.sealed_bytes <> decode(repeat('00', octet_length(OLD.sealed_bytes)), 'hex'))
    EXECUTE FUNCTION refuse('a data key is never changed, only erased');

CREATE FUNCTION require_data_key() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (SELECT sealed_bytes = zeros(octet_length(sealed_bytes)) FROM data_keys WHERE id = NEW.data_key_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'nothing is sealed under an erased data key';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER sealed_private_keys_have_a_data_key BEFORE INSERT ON sealed_private_keys
    FOR EACH ROW WHEN (NOT NEW.erased) EXECUTE FUNCTION require_data_key();

CREATE TRIGGER sealed_private_keys_move_to_a_data_key BEFORE UPDATE OF data_key_id ON sealed_private_keys
    FOR EACH ROW WHEN (NEW.data_key_id <> OLD.data_key_id) EXECUTE FUNCTION require_data_key();

-- ------------------------------------------------------------------------------------------------------- rolls

CREATE TABLE rolls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    algorithm text COLLATE "C" NOT NULL CHECK (algorithm IN ('EC_v1', 'RSA_v1')),
    from_key bytea REFERENCES key_pairs (public_key_hash),
    to_key bytea NOT NULL REFERENCES key_pairs (public_key_hash),
    started_at bigint NOT NULL,
    -- The time of the last request for the old key or of the last change of state of either key, whichever is later. NULL
    -- until the new key's promotion is confirmed, and NULL if the old private key was exported.
    idle_since bigint,
    remind_at bigint,
    ended_at bigint,
    reason text COLLATE "C" CHECK (octet_length(reason) <= 4096),
    has_next_pair boolean NOT NULL DEFAULT false,
    -- For an open roll it follows the state of the new key, by a trigger. For an ended roll it is the outcome.
    step text COLLATE "C" NOT NULL
        CHECK (step IN ('started', 'certificateStored', 'promoted', 'finished', 'abandoned')),
    -- When the roll reached this step.
    since bigint NOT NULL,
    CHECK (from_key IS NULL OR from_key <> to_key),
    CHECK ((ended_at IS NULL) = (step IN ('started', 'certificateStored', 'promoted'))),
    CHECK (ended_at IS NULL OR remind_at IS NULL)
);

CREATE UNIQUE INDEX rolls_one_open ON rolls (merchant_identifier, algorithm) WHERE ended_at IS NULL;

CREATE INDEX rolls_of_merchant ON rolls (merchant_identifier, id);

CREATE INDEX rolls_by_step ON rolls (step, id);

CREATE INDEX rolls_open ON rolls (id) WHERE ended_at IS NULL;

CREATE INDEX rolls_open_from ON rolls (from_key) WHERE ended_at IS NULL;

CREATE INDEX rolls_open_to ON rolls (to_key) WHERE ended_at IS NULL;

CREATE INDEX rolls_waiting ON rolls (since, id) WHERE ended_at IS NULL;

CREATE INDEX rolls_idle ON rolls (idle_since) WHERE ended_at IS NULL AND idle_since IS NOT NULL;

CREATE INDEX rolls_to_remind ON rolls (remind_at) WHERE remind_at IS NOT NULL;

CREATE INDEX rolls_without_next_pair ON rolls (id) WHERE step = 'finished' AND NOT has_next_pair;

CREATE FUNCTION count_roll() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM add_to_total('rolls.' || OLD.step, -1);
    END IF;
    PERFORM add_to_total('rolls.' || NEW.step, 1);
    RETURN NULL;
END $$;

CREATE TRIGGER rolls_counted AFTER INSERT ON rolls FOR EACH ROW EXECUTE FUNCTION count_roll();

CREATE TRIGGER rolls_recounted AFTER UPDATE OF step ON rolls
    FOR EACH ROW WHEN (OLD.step <> NEW.step) EXECUTE FUNCTION count_roll();

CREATE TRIGGER rolls_are_kept BEFORE DELETE ON rolls
    FOR EACH ROW EXECUTE FUNCTION refuse('a roll is kept as history');

CREATE TRIGGER rolls_are_not_truncated BEFORE TRUNCATE ON rolls
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a roll is kept as history');

CREATE TRIGGER rolls_keep_their_identity
    BEFORE UPDATE OF id, merchant_identifier, algorithm, from_key, to_key, started_at ON rolls
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a roll never changes');

CREATE TRIGGER rolls_stay_ended BEFORE UPDATE OF step, ended_at ON rolls
    FOR EACH ROW
    WHEN (OLD.ended_at IS NOT NULL AND (NEW.ended_at IS DISTINCT FROM OLD.ended_at OR NEW.step <> OLD.step))
    EXECUTE FUNCTION refuse('a roll that has ended stays ended');

CREATE FUNCTION move_rolls() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE rolls
    SET step = CASE NEW.state WHEN 'pending' THEN 'started' WHEN 'current' THEN 'promoted' ELSE 'certificateStored' END,
        since = NEW.state_since, remind_at = NEW.state_since + 604800000
    WHERE to_key = NEW.public_key_hash AND ended_at IS NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER rolls_follow_their_new_key AFTER UPDATE OF state ON key_pairs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION move_rolls();

CREATE FUNCTION require_ended_rolls() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM rolls WHERE to_key = NEW.public_key_hash AND ended_at IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'an open roll leads to a key pair that is not revoked';
    END IF;
    IF EXISTS (SELECT 1 FROM rolls WHERE from_key = NEW.public_key_hash AND ended_at IS NULL AND step = 'promoted') THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a promoted roll is finished with the revocation of its old key pair';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER rolls_end_before_their_keys BEFORE UPDATE OF state ON key_pairs
    FOR EACH ROW WHEN (NEW.state IN ('revoked', 'destroyed')) EXECUTE FUNCTION require_ended_rolls();

-- ---------------------------------------------------------------------------------------------------- key uses

CREATE TABLE key_uses (
    key_pair_id bigint PRIMARY KEY REFERENCES key_pairs (id),
    requests_count bigint NOT NULL DEFAULT 0 CHECK (requests_count >= 0),
    requests_first bigint,
    requests_last bigint,
    decryptions_count bigint NOT NULL DEFAULT 0 CHECK (decryptions_count >= 0),
    decryptions_first bigint,
    decryptions_last bigint,
    -- The first successful decryption since the promotion of a current key pair, or the decryption that caused the
    -- promotion.
    promotion_confirmed_at bigint,
    alarmed_at bigint,
    -- When an event reported that Apple encrypts to a standby key pair outside of a roll.
    standby_use_reported_at bigint,
    CHECK ((requests_count = 0) = (requests_first IS NULL) AND (requests_count = 0) = (requests_last IS NULL)),
    CHECK ((decryptions_count = 0) = (decryptions_first IS NULL) AND (decryptions_count = 0) = (decryptions_last IS NULL)),
    CHECK (promotion_confirmed_at IS NULL OR decryptions_count > 0),
    CHECK (standby_use_reported_at IS NULL OR decryptions_count > 0)
) WITH (fillfactor = 70);

CREATE INDEX key_uses_standby ON key_uses (standby_use_reported_at) WHERE standby_use_reported_at IS NOT NULL;

-- A confirmation holds for one promotion: when the key pair is promoted again, Apple may still encrypt to another key.
-- A report of the use of a standby key pair holds until the state changes.
CREATE FUNCTION forget_confirmation() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE key_uses SET promotion_confirmed_at = NULL, standby_use_reported_at = NULL
        WHERE key_pair_id = NEW.id AND (promotion_confirmed_at IS NOT NULL OR standby_use_reported_at IS NOT NULL);
    RETURN NULL;
END $$;

CREATE TRIGGER key_uses_confirm_one_promotion AFTER UPDATE OF state ON key_pairs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION forget_confirmation();

-- ----------------------------------------------------------------------------------------------------- schedule

-- When the schedule checks an active key pair next; NULL: not before its state or certificates change.
CREATE TABLE key_watches (
    key_pair_id bigint PRIMARY KEY REFERENCES key_pairs (id),
    due_at bigint
);

CREATE INDEX key_watches_due ON key_watches (due_at) WHERE due_at IS NOT NULL;

CREATE FUNCTION watch_certificate() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    INSERT INTO key_watches (key_pair_id, due_at)
        SELECT id, 0 FROM key_pairs WHERE public_key_hash = NEW.public_key_hash AND is_active(state)
        ON CONFLICT (key_pair_id) DO UPDATE SET due_at = 0;
    RETURN NULL;
END $$;

CREATE TRIGGER key_watches_new_certificate AFTER INSERT ON certificates
    FOR EACH ROW EXECUTE FUNCTION watch_certificate();

CREATE FUNCTION watch_state() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF NOT is_active(NEW.state) THEN
        DELETE FROM key_watches WHERE key_pair_id = NEW.id;
    ELSIF OLD.state <> NEW.state THEN
        INSERT INTO key_watches (key_pair_id, due_at) VALUES (NEW.id, 0)
            ON CONFLICT (key_pair_id) DO UPDATE SET due_at = 0;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER key_watches_new_state AFTER UPDATE OF state ON key_pairs FOR EACH ROW EXECUTE FUNCTION watch_state();

-- Expiry warnings that were sent: one for each expiry and threshold.
CREATE TABLE key_warnings (
    key_pair_id bigint NOT NULL REFERENCES key_pairs (id),
    expires_at bigint NOT NULL,
    days bigint NOT NULL CHECK (days >= 0),
    warned_at bigint NOT NULL,
    PRIMARY KEY (key_pair_id, expires_at, days)
);

-- -------------------------------------------------------------------------------------- registrations at Apple

-- One row for each partnerInternalMerchantIdentifier that was ever requested: the desired state, and the state at Apple as
-- last read. The row stays when the identifier is unregistered, because a call that reaches Apple late can register it
-- again at Apple, and only a comparison with Apple finds that.
CREATE TABLE registrations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    partner_internal_merchant_identifier text COLLATE "C" NOT NULL UNIQUE
        CHECK (char_length(partner_internal_merchant_identifier) BETWEEN 3 AND 1024
            AND partner_internal_merchant_identifier ~ '^[-a-zA-Z0-9~_+&@$!|,.;]*$'),
    -- The desired state, together with the rows of registration_domains where is_desired.
    partner_merchant_name text COLLATE "C" NOT NULL CHECK (octet_length(partner_merchant_name) BETWEEN 1 AND 1024),
    encrypt_to text COLLATE "C" NOT NULL
        CHECK (char_length(encrypt_to) <= 255
            AND (encrypt_to LIKE 'merchant._%' OR encrypt_to LIKE 'platformintegrator._%')),
    merchant_url text COLLATE "C" CHECK (octet_length(merchant_url) BETWEEN 1 AND 2048),
    merchant_identifier text COLLATE "C" REFERENCES merchants (identifier),
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    -- The state at Apple, read at learned_at; NULL if it was never read. Without a known_name, Apple has no registration.
    learned_at bigint,
    known_name text COLLATE "C" CHECK (octet_length(known_name) <= 4096),
    -- SHA-256 of the identifier, as Apple spells it.
    known_encrypt_to text COLLATE "C" CHECK (octet_length(known_encrypt_to) <= 4096),
    -- The number of differences between the desired state and the state at Apple. The daemon computes it, because SQL has
    -- no SHA-256 function.
    drifts bigint NOT NULL DEFAULT 0 CHECK (drifts >= 0),
    -- Kept by triggers. Apple accepts up to 99 domains for each merchant.
    desired_domains bigint NOT NULL DEFAULT 0 CHECK (desired_domains BETWEEN 0 AND 99),
    known_domains bigint NOT NULL DEFAULT 0 CHECK (known_domains >= 0),
    CHECK ((known_name IS NULL) = (known_encrypt_to IS NULL)),
    CHECK (known_name IS NULL OR learned_at IS NOT NULL),
    CHECK (known_name IS NOT NULL OR known_domains = 0)
);

CREATE INDEX registrations_shown ON registrations (partner_internal_merchant_identifier)
    WHERE desired_domains > 0 OR known_domains > 0;

CREATE INDEX registrations_of_merchant ON registrations (merchant_identifier, id) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX registrations_encrypted_to ON registrations (encrypt_to) WHERE desired_domains > 0 OR known_domains > 0;

CREATE TRIGGER registrations_are_kept BEFORE DELETE ON registrations
    FOR EACH ROW EXECUTE FUNCTION refuse('a registration is kept: Apple may still act on it');

CREATE TRIGGER registrations_are_not_truncated BEFORE TRUNCATE ON registrations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a registration is kept: Apple may still act on it');

CREATE TRIGGER registrations_keep_their_identity
    BEFORE UPDATE OF id, partner_internal_merchant_identifier, created_at ON registrations
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a registration never changes');

CREATE FUNCTION count_registration() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
DECLARE
    was_wanted boolean := false;
    was_drifting boolean := false;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        was_wanted := OLD.desired_domains > 0;
        was_drifting := OLD.drifts > 0;
    END IF;
    PERFORM add_to_total('registrations', (NEW.desired_domains > 0)::integer - was_wanted::integer);
    PERFORM add_to_total('registrationsDrifting', (NEW.drifts > 0)::integer - was_drifting::integer);
    RETURN NULL;
END $$;

CREATE TRIGGER registrations_counted AFTER INSERT OR UPDATE OF desired_domains, drifts ON registrations
    FOR EACH ROW EXECUTE FUNCTION count_registration();

-- ------------------------------------------------------------------------------------------------------- domains

CREATE TABLE registration_domains (
    registration_id bigint NOT NULL REFERENCES registrations (id),
    -- ASCII in lower case if desired; as Apple spells it if only Apple has it.
    domain_name text COLLATE "C" NOT NULL CHECK (octet_length(domain_name) BETWEEN 1 AND 1024),
    is_desired boolean NOT NULL,
    is_known boolean NOT NULL,
    CHECK (is_desired OR is_known),
    CHECK (NOT is_desired OR (char_length(domain_name) <= 253 AND domain_name ~ '^[-a-z0-9.]*$')),
    PRIMARY KEY (registration_id, domain_name)
);

-- For the search by the beginning of a domain name.
CREATE INDEX registration_domains_by_name ON registration_domains (domain_name, registration_id);

CREATE FUNCTION require_known_registration() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (SELECT known_name FROM registrations WHERE id = NEW.registration_id) IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'Apple has no domains of a merchant that is not registered there';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER registration_domains_of_what_apple_has BEFORE INSERT OR UPDATE OF is_known ON registration_domains
    FOR EACH ROW WHEN (NEW.is_known) EXECUTE FUNCTION require_known_registration();

CREATE FUNCTION count_domain() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
DECLARE
    desired integer := 0;
    known integer := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        desired := desired - OLD.is_desired::integer;
        known := known - OLD.is_known::integer;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        desired := desired + NEW.is_desired::integer;
        known := known + NEW.is_known::integer;
    END IF;
    UPDATE registrations SET desired_domains = desired_domains + desired, known_domains = known_domains + known
        WHERE id = coalesce(NEW.registration_id, OLD.registration_id) AND (desired <> 0 OR known <> 0);
    RETURN NULL;
END $$;

CREATE TRIGGER registration_domains_counted
    AFTER INSERT OR DELETE OR UPDATE OF is_desired, is_known ON registration_domains
    FOR EACH ROW EXECUTE FUNCTION count_domain();

CREATE TRIGGER registration_domains_keep_their_name
    BEFORE UPDATE OF registration_id, domain_name ON registration_domains
    FOR EACH ROW EXECUTE FUNCTION refuse('the domain name of a row never changes');

-- --------------------------------------------------------------------------------------------------------- calls

-- Each call to Apple that changes something. The row is written before the call and closed once the outcome is known. While
-- a call is open its outcome is unknown, and the daemon makes no other call for the same registration.
CREATE TABLE registration_calls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id > 0),
    registration_id bigint NOT NULL REFERENCES registrations (id),
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('register', 'unregister')),
    -- One name on each line.
    domain_names text COLLATE "C" NOT NULL CHECK (char_length(domain_names) BETWEEN 1 AND 1048576),
    partner_merchant_name text COLLATE "C",
    encrypt_to text COLLATE "C",
    merchant_url text COLLATE "C",
    merchant_identifier text COLLATE "C" REFERENCES merchants (identifier),
    reason text COLLATE "C" CHECK (octet_length(reason) BETWEEN 1 AND 1024),
    request_id text COLLATE "C" NOT NULL,
    opened_at bigint NOT NULL,
    outcome text COLLATE "C" CHECK (outcome IN ('done', 'refused', 'notDone', 'repeated')),
    finding text COLLATE "C",
    closed_at bigint,
    CHECK ((outcome IS NULL) = (closed_at IS NULL)),
    CHECK ((kind = 'register') = (partner_merchant_name IS NOT NULL AND encrypt_to IS NOT NULL AND reason IS NULL)),
    CHECK ((kind = 'unregister') = (partner_merchant_name IS NULL AND encrypt_to IS NULL AND reason IS NOT NULL))
);

CREATE UNIQUE INDEX registration_calls_one_open ON registration_calls (registration_id) WHERE outcome IS NULL;

-- A call that was sent again may still reach Apple.
CREATE INDEX registration_calls_repeated ON registration_calls (registration_id, opened_at)
    WHERE outcome = 'repeated';

CREATE TRIGGER registration_calls_are_kept BEFORE DELETE ON registration_calls
    FOR EACH ROW EXECUTE FUNCTION refuse('a call to Apple is kept as history');

CREATE TRIGGER registration_calls_are_not_truncated BEFORE TRUNCATE ON registration_calls
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a call to Apple is kept as history');

CREATE TRIGGER registration_calls_end_once BEFORE UPDATE ON registration_calls
    FOR EACH ROW WHEN (OLD.outcome IS NOT NULL)
    EXECUTE FUNCTION refuse('the outcome of a call to Apple never changes');

CREATE TRIGGER registration_calls_stay_as_asked
    BEFORE UPDATE OF id, registration_id, kind, domain_names, partner_merchant_name, encrypt_to, merchant_url,
        merchant_identifier, reason, request_id, opened_at ON registration_calls
    FOR EACH ROW EXECUTE FUNCTION refuse('the request of a call to Apple never changes');

CREATE FUNCTION count_call() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total('registrationCallsOpen', CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END);
    RETURN NULL;
END $$;

CREATE TRIGGER registration_calls_counted AFTER INSERT ON registration_calls
    FOR EACH ROW WHEN (NEW.outcome IS NULL) EXECUTE FUNCTION count_call();

CREATE TRIGGER registration_calls_discounted AFTER UPDATE OF outcome ON registration_calls
    FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION count_call();

-- A merchant cannot be removed while a registration, or an open call that may become one, names it.
CREATE FUNCTION require_unnamed_merchant() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM registrations
            WHERE merchant_identifier = NEW.identifier AND (desired_domains > 0 OR known_domains > 0))
        OR EXISTS (SELECT 1 FROM registrations
            WHERE encrypt_to = NEW.identifier AND (desired_domains > 0 OR known_domains > 0))
        OR EXISTS (SELECT 1 FROM registration_calls
            WHERE outcome IS NULL AND (merchant_identifier = NEW.identifier OR encrypt_to = NEW.identifier))
    THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'a registration names the merchant';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER merchants_of_registrations_are_kept BEFORE UPDATE OF removed_at ON merchants
    FOR EACH ROW WHEN (OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL)
    EXECUTE FUNCTION require_unnamed_merchant();

-- ------------------------------------------------------------------------------------- domain verification file

-- The domain verification file, which every registered domain must serve. There is one for each platform integrator
-- identifier, and a daemon serves one of those.
CREATE TABLE domain_verification_file (
    id smallint PRIMARY KEY CHECK (id = 1),
    content bytea NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 65536),
    stored_at bigint NOT NULL
);

-- ------------------------------------------------------------------------------------------------------ events

CREATE TABLE events (
    -- A sequence is never reused, even after the last events were removed. Writing transactions run one after another, so
    -- sequences grow in the order of the commits, with gaps.
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (sequence > 0),
    -- Random: distinguishes events to which two copies of one database gave the same sequence.
    id bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) CHECK (octet_length(id) = 16),
    kind text COLLATE "C" NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    severity text COLLATE "C" NOT NULL CHECK (severity IN ('notice', 'warning', 'critical')),
    occurred_at bigint NOT NULL,
    merchant_identifier text COLLATE "C",
    public_key_hash bytea CHECK (octet_length(public_key_hash) = 32),
    roll_id text COLLATE "C" CHECK (char_length(roll_id) BETWEEN 1 AND 255),
    detail text COLLATE "C" NOT NULL CHECK (octet_length(detail) BETWEEN 1 AND 4096),
    -- What Apple reported about a merchant token, as JSON; NULL for other kinds of events.
    merchant_token text COLLATE "C" CHECK (octet_length(merchant_token) BETWEEN 2 AND 65536)
);

CREATE INDEX events_of_merchant ON events (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX events_of_kind ON events (kind, sequence);

CREATE INDEX events_of_severity ON events (severity, sequence);

CREATE INDEX events_by_age ON events (occurred_at);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse('an event is never changed');

-- --------------------------------------------------------------------------------------------------- webhooks

-- The webhooks that the settings name or once named. Their addresses and secrets are only in the settings.
CREATE TABLE event_webhooks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 255),
    -- Between commas: ',keyPromoted,keyRevoked,'. NULL: every kind.
    kinds text COLLATE "C" CHECK (kinds LIKE ',%,'),
    registered_at bigint NOT NULL,
    -- When the settings stopped naming it. Its undelivered events wait until the settings name it again.
    removed_at bigint,
    last_delivered_at bigint,
    last_failed_at bigint,
    last_failure text COLLATE "C" CHECK (octet_length(last_failure) <= 4096),
    -- The numbers of waiting and of parked deliveries; kept by triggers.
    undelivered bigint NOT NULL DEFAULT 0 CHECK (undelivered >= 0),
    parked bigint NOT NULL DEFAULT 0 CHECK (parked >= 0)
) WITH (fillfactor = 10);

-- One row for each event that a webhook has not received. Delivery removes the row.
--
-- A lane holds one merchant's events, or the events without a merchant. Events of a lane are delivered in sequence: only the
-- first that is not parked may be sent, and is_next marks it.
CREATE TABLE event_deliveries (
    webhook_id bigint NOT NULL REFERENCES event_webhooks (id),
    event_sequence bigint NOT NULL REFERENCES events (sequence) ON DELETE CASCADE,
    lane text COLLATE "C" NOT NULL,
    is_parked boolean NOT NULL DEFAULT false,
    is_next boolean NOT NULL,
    failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
    first_failed_at bigint,
    -- The earliest time of the next attempt; 0 for immediately.
    due_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (webhook_id, event_sequence),
    CHECK (NOT is_parked OR NOT is_next)
);

CREATE INDEX event_deliveries_of_event ON event_deliveries (event_sequence);

CREATE INDEX event_deliveries_undelivered ON event_deliveries (webhook_id, event_sequence) WHERE NOT is_parked;

CREATE INDEX event_deliveries_parked ON event_deliveries (webhook_id, event_sequence) WHERE is_parked;

CREATE INDEX event_deliveries_in_lane ON event_deliveries (webhook_id, lane, event_sequence) WHERE NOT is_parked;

CREATE UNIQUE INDEX event_deliveries_one_next ON event_deliveries (webhook_id, lane) WHERE is_next;

CREATE INDEX event_deliveries_due ON event_deliveries (webhook_id, due_at, event_sequence) WHERE is_next;

-- The statement that inserts an event inserts its deliveries, so no program can store one without the other.
CREATE FUNCTION send_event() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    INSERT INTO event_deliveries (webhook_id, event_sequence, lane, is_next)
    SELECT id, NEW.sequence, coalesce(NEW.merchant_identifier, ''), NOT EXISTS (
        SELECT 1 FROM event_deliveries AS earlier
        WHERE earlier.webhook_id = event_webhooks.id AND earlier.lane = coalesce(NEW.merchant_identifier, '')
            AND NOT earlier.is_parked
    )
    FROM event_webhooks
    WHERE removed_at IS NULL AND (kinds IS NULL OR strpos(kinds, ',' || NEW.kind || ',') > 0);
    RETURN NULL;
END $$;

CREATE TRIGGER events_go_out AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION send_event();

CREATE FUNCTION count_delivery() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE event_webhooks SET undelivered = undelivered + 1 WHERE id = NEW.webhook_id;
    RETURN NULL;
END $$;

CREATE TRIGGER event_deliveries_counted AFTER INSERT ON event_deliveries
    FOR EACH ROW EXECUTE FUNCTION count_delivery();

-- Marks the first delivery of a lane that is not parked.
CREATE FUNCTION mark_next_delivery(webhook bigint, lane_of_delivery text) RETURNS void LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE event_deliveries SET is_next = true
    WHERE webhook_id = webhook AND event_sequence = (
        SELECT min(event_sequence) FROM event_deliveries
        WHERE webhook_id = webhook AND lane = lane_of_delivery AND NOT is_parked
    );
END $$;

CREATE FUNCTION discount_delivery() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE event_webhooks
        SET undelivered = undelivered - (NOT OLD.is_parked)::integer, parked = parked - OLD.is_parked::integer
        WHERE id = OLD.webhook_id;
    IF OLD.is_next THEN
        PERFORM mark_next_delivery(OLD.webhook_id, OLD.lane);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER event_deliveries_gone AFTER DELETE ON event_deliveries
    FOR EACH ROW EXECUTE FUNCTION discount_delivery();

-- Parked, or put back into its place in the lane.
CREATE FUNCTION recount_delivery() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE event_webhooks
        SET undelivered = undelivered + OLD.is_parked::integer - NEW.is_parked::integer,
            parked = parked + NEW.is_parked::integer - OLD.is_parked::integer
        WHERE id = NEW.webhook_id;
    UPDATE event_deliveries SET is_next = false
        WHERE webhook_id = NEW.webhook_id AND lane = NEW.lane AND is_next;
    PERFORM mark_next_delivery(NEW.webhook_id, NEW.lane);
    RETURN NULL;
END $$;

CREATE TRIGGER event_deliveries_parked_or_not AFTER UPDATE OF is_parked ON event_deliveries
    FOR EACH ROW WHEN (OLD.is_parked <> NEW.is_parked) EXECUTE FUNCTION recount_delivery();

-- --------------------------------------------------------------------------------------------- merchant tokens

-- The last known state of each merchant token (MPAN). Only `sealed_mpans` holds account numbers, sealed: `identifier` is
-- Apple's merchantTokenIdentifier, `card` describes the card and has at most the last 4 digits of the card's own number, and
-- an event in `events` names a new account number only by Apple's mpanId.
CREATE TABLE merchant_tokens (
    identifier text COLLATE "C" NOT NULL PRIMARY KEY CHECK (identifier ~ '^[-a-zA-Z0-9._~+=:]{1,64}$'),
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    state text COLLATE "C" NOT NULL CHECK (state IN ('linked', 'unlinked')),
    first_seen_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    -- The last event that was fetched from Apple; all four are NULL without one.
    event_id text COLLATE "C" CHECK (event_id ~ '^[-a-zA-Z0-9._~]{1,128}$'),
    event_type text COLLATE "C" CHECK (octet_length(event_type) <= 1024),
    event_reason text COLLATE "C" CHECK (octet_length(event_reason) <= 1024),
    event_received_at bigint,
    -- Apple's description of the card, as JSON.
    card text COLLATE "C" CHECK (octet_length(card) BETWEEN 2 AND 65536),
    -- The URL for notifications that the daemon last gave Apple; NULL if it never gave one.
    notification_url text COLLATE "C" CHECK (octet_length(notification_url) BETWEEN 1 AND 2048),
    CHECK (first_seen_at <= last_seen_at),
    CHECK (
        (event_id IS NULL) = (event_type IS NULL) AND (event_id IS NULL) = (event_reason IS NULL)
        AND (event_id IS NULL) = (event_received_at IS NULL)
    )
);

CREATE INDEX merchant_tokens_by_state ON merchant_tokens (state, identifier);

CREATE INDEX merchant_tokens_of_merchant ON merchant_tokens (merchant_identifier, state, identifier);

CREATE TRIGGER merchant_tokens_keep_their_identity
    BEFORE UPDATE OF identifier, merchant_identifier, first_seen_at ON merchant_tokens
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a merchant token never changes');

-- The account numbers of merchant tokens, sealed by the key custodian. The table is empty unless the setting
-- merchant-tokens.store-mpan is true. An account number is erased by overwriting its bytes with zeros. Another account
-- number of the same token is stored in the same row.
CREATE TABLE sealed_mpans (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_token_identifier text COLLATE "C" NOT NULL UNIQUE REFERENCES merchant_tokens (identifier),
    seal_version bigint NOT NULL CHECK (seal_version > 0),
    data_key_id bigint NOT NULL REFERENCES data_keys (id),
    sealed_bytes bytea NOT NULL CHECK (octet_length(sealed_bytes) = 48),
    -- When the notification of the event arrived that contained the account number.
    received_at bigint NOT NULL,
    erased boolean NOT NULL DEFAULT false,
    CHECK (NOT erased OR sealed_bytes = decode(repeat('00', 48), 'hex'))
);

-- The account numbers that a rotation must still re-encrypt.
CREATE INDEX sealed_mpans_by_data_key ON sealed_mpans (data_key_id, id) WHERE NOT erased;

CREATE TRIGGER sealed_mpans_are_kept BEFORE DELETE ON sealed_mpans
    FOR EACH ROW EXECUTE FUNCTION refuse('a sealed account number is erased in place, never deleted');

CREATE TRIGGER sealed_mpans_are_not_truncated BEFORE TRUNCATE ON sealed_mpans
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a sealed account number is erased in place, never deleted');

CREATE FUNCTION erase_mpan() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    UPDATE sealed_mpans SET sealed_bytes = zeros(48), erased = true
    WHERE merchant_token_identifier = NEW.identifier AND NOT erased;
    RETURN NULL;
END $$;

CREATE TRIGGER sealed_mpans_erased_when_unlinked AFTER UPDATE OF state ON merchant_tokens
    FOR EACH ROW WHEN (NEW.state = 'unlinked') EXECUTE FUNCTION erase_mpan();

CREATE TRIGGER sealed_mpans_have_a_data_key BEFORE INSERT ON sealed_mpans
    FOR EACH ROW WHEN (NOT NEW.erased) EXECUTE FUNCTION require_data_key();

CREATE TRIGGER sealed_mpans_move_to_a_data_key BEFORE UPDATE OF data_key_id, erased ON sealed_mpans
    FOR EACH ROW WHEN (NOT NEW.erased) EXECUTE FUNCTION require_data_key();

-- --------------------------------------------------------------------------- notifications of merchant tokens

-- The secret parts of notification URLs. They are stored as they are, because admins read the URLs again. A secret lets
-- its holder send notifications for one merchant, and nothing else.
CREATE TABLE token_notification_paths (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret text COLLATE "C" NOT NULL UNIQUE CHECK (secret ~ '^[a-zA-Z0-9]{32}$'),
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    created_at bigint NOT NULL
);

CREATE INDEX token_notification_paths_of_merchant ON token_notification_paths (merchant_identifier, id);

CREATE FUNCTION bound_notification_paths() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (SELECT count(*) FROM token_notification_paths WHERE merchant_identifier = NEW.merchant_identifier) >= 100 THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a merchant has at most 100 notification paths';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER token_notification_paths_are_bounded BEFORE INSERT ON token_notification_paths
    FOR EACH ROW EXECUTE FUNCTION bound_notification_paths();

CREATE TRIGGER token_notification_paths_are_kept BEFORE DELETE ON token_notification_paths
    FOR EACH ROW EXECUTE FUNCTION refuse('a notification path is kept: Apple may still send notifications to it');

CREATE TRIGGER token_notification_paths_are_not_truncated BEFORE TRUNCATE ON token_notification_paths
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('a notification path is kept: Apple may still send notifications to it');

CREATE TRIGGER token_notification_paths_never_change BEFORE UPDATE ON token_notification_paths
    FOR EACH ROW EXECUTE FUNCTION refuse('a notification path never changes');

-- The notifications that Apple, or any other client, has sent. A notification names only an event, which the daemon
-- fetches from Apple. Rows that no longer wait serve to recognize repeated notifications, and are removed by age.
--
-- A lane holds one merchant's notifications from one address. The events of a lane are fetched in the order of arrival. A
-- notification that fails delays its lane for at most 10 minutes (600,000 ms) after its first failure: if its next attempt
-- is not before that time, later notifications overtake it.
CREATE TABLE token_notifications (
    -- A sequence is never reused, and writing transactions run one after another, so the sequences of a lane have the order
    -- of arrival.
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (sequence > 0),
    event_id text COLLATE "C" NOT NULL CHECK (event_id ~ '^[-a-zA-Z0-9._~]{1,128}$'),
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    -- The address of the client, such as '17.58.0.1'.
    source text COLLATE "C" NOT NULL CHECK (char_length(source) BETWEEN 1 AND 64),
    received_at bigint NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'done', 'unknown', 'failed')),
    failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
    first_failed_at bigint,
    -- The earliest time of the next attempt.
    due_at bigint NOT NULL,
    -- Why the last attempt failed.
    finding text COLLATE "C" CHECK (octet_length(finding) <= 4096),
    -- When the daemon last attempted to fetch the event; NULL before the first attempt.
    attempted_at bigint,
    is_overtaken boolean NOT NULL
        GENERATED ALWAYS AS (first_failed_at IS NOT NULL AND due_at >= first_failed_at + 600000) STORED,
    UNIQUE (event_id, merchant_identifier),
    CHECK ((failures = 0) = (first_failed_at IS NULL))
);

CREATE INDEX token_notifications_by_state ON token_notifications (state, received_at);

CREATE INDEX token_notifications_in_order ON token_notifications (merchant_identifier, source, sequence)
    WHERE state = 'waiting' AND NOT is_overtaken;

CREATE INDEX token_notifications_overtaken ON token_notifications (merchant_identifier, source, due_at, sequence)
    WHERE state = 'waiting' AND is_overtaken;

-- How many notifications of each address wait. Kept by triggers; an address without waiting notifications has no row.
CREATE TABLE token_notification_sources (
    source text COLLATE "C" NOT NULL PRIMARY KEY,
    waiting bigint NOT NULL CHECK (waiting >= 0)
) WITH (fillfactor = 50);

-- The lanes with waiting notifications, and which notification of each lane is fetched next. Kept by triggers.
CREATE TABLE token_notification_lanes (
    merchant_identifier text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    waiting bigint NOT NULL CHECK (waiting >= 0),
    -- The last attempt in the lane; before the first one, when the lane began. The lanes take turns in this order.
    attempted_at bigint NOT NULL,
    -- Until when notifications that failed delay the later ones.
    delayed_until bigint NOT NULL DEFAULT 0,
    next_sequence bigint NOT NULL,
    -- When the next notification is due; 0 for immediately.
    next_due_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (merchant_identifier, source)
) WITH (fillfactor = 50);

CREATE INDEX token_notification_lanes_due ON token_notification_lanes (next_due_at, attempted_at, next_sequence);

-- Removes a lane without waiting notifications. Chooses the next notification of another lane: the first one in order or
-- the first overtaken one, whichever has been due for longer. A notification that has not failed is due from its arrival, or
-- from the lane's last attempt if that is earlier: so a clock that was set back does not delay it.
CREATE FUNCTION choose_next_notification() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF NEW.waiting = 0 THEN
        DELETE FROM token_notification_lanes
            WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
        RETURN NULL;
    END IF;
    UPDATE token_notification_lanes
    SET (next_sequence, next_due_at) = (
        SELECT sequence, candidate.next_due_at FROM (
            (
                SELECT sequence, greatest(CASE failures WHEN 0 THEN 0 ELSE due_at END, NEW.delayed_until) AS next_due_at,
                    greatest(
                        CASE failures WHEN 0 THEN least(received_at, NEW.attempted_at) ELSE due_at END,
                        NEW.delayed_until) AS due_since
                FROM token_notifications
                WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source
                    AND state = 'waiting' AND NOT is_overtaken
                ORDER BY sequence LIMIT 1
            )
            UNION ALL
            (
                SELECT sequence, due_at AS next_due_at, due_at AS due_since
                FROM token_notifications
                WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source
                    AND state = 'waiting' AND is_overtaken
                ORDER BY due_at, sequence LIMIT 1
            )
        ) AS candidate
        ORDER BY due_since, sequence LIMIT 1
    )
    WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
    RETURN NULL;
END $$;

CREATE TRIGGER token_notification_lanes_next AFTER UPDATE OF waiting ON token_notification_lanes
    FOR EACH ROW EXECUTE FUNCTION choose_next_notification();

CREATE FUNCTION end_notification_source() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    DELETE FROM token_notification_sources WHERE source = NEW.source;
    RETURN NULL;
END $$;

CREATE TRIGGER token_notification_sources_end AFTER UPDATE OF waiting ON token_notification_sources
    FOR EACH ROW WHEN (NEW.waiting = 0) EXECUTE FUNCTION end_notification_source();

CREATE TRIGGER token_notifications_begin_waiting BEFORE INSERT ON token_notifications
    FOR EACH ROW WHEN (NEW.state <> 'waiting' OR NEW.failures <> 0)
    EXECUTE FUNCTION refuse('a new notification waits');

CREATE FUNCTION count_notification() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    PERFORM add_to_total('tokenNotificationsWaiting', 1);
    INSERT INTO token_notification_sources AS stored (source, waiting) VALUES (NEW.source, 1)
        ON CONFLICT (source) DO UPDATE SET waiting = stored.waiting + 1;
    INSERT INTO token_notification_lanes AS stored (merchant_identifier, source, waiting, attempted_at, next_sequence)
        VALUES (NEW.merchant_identifier, NEW.source, 1, NEW.received_at, NEW.sequence)
        ON CONFLICT (merchant_identifier, source) DO UPDATE SET waiting = stored.waiting + 1;
    RETURN NULL;
END $$;

CREATE TRIGGER token_notifications_counted AFTER INSERT ON token_notifications
    FOR EACH ROW EXECUTE FUNCTION count_notification();

CREATE TRIGGER token_notifications_keep_their_identity
    BEFORE UPDATE OF sequence, event_id, merchant_identifier, source, received_at ON token_notifications
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a notification never changes');

CREATE TRIGGER token_notifications_stay_closed BEFORE UPDATE ON token_notifications
    FOR EACH ROW WHEN (OLD.state <> 'waiting')
    EXECUTE FUNCTION refuse('a notification that no longer waits never changes');

CREATE FUNCTION note_attempt() RETURNS trigger LANGUAGE plpgsql SET search_path = merchantkeyd, pg_temp AS $$
DECLARE
    is_closed boolean := NEW.state <> 'waiting';
BEGIN
    PERFORM add_to_total('tokenNotificationsWaiting', -is_closed::integer);
    UPDATE token_notification_sources SET waiting = waiting - 1 WHERE source = NEW.source AND is_closed;
    UPDATE token_notification_lanes
    SET waiting = waiting - is_closed::integer,
        attempted_at = coalesce(NEW.attempted_at, attempted_at),
        delayed_until = CASE
            WHEN NOT is_closed AND NEW.is_overtaken AND NEW.first_failed_at + 600000 > NEW.attempted_at
                THEN greatest(delayed_until, NEW.first_failed_at + 600000)
            WHEN delayed_until > NEW.attempted_at THEN delayed_until
            ELSE 0 END
    WHERE merchant_identifier = NEW.merchant_identifier AND source = NEW.source;
    RETURN NULL;
END $$;

CREATE TRIGGER token_notifications_attempted AFTER UPDATE ON token_notifications
    FOR EACH ROW EXECUTE FUNCTION note_attempt();

CREATE TRIGGER token_notifications_waiting_are_kept BEFORE DELETE ON token_notifications
    FOR EACH ROW WHEN (OLD.state = 'waiting')
    EXECUTE FUNCTION refuse('a waiting notification is kept: Apple does not send it again');

-- --------------------------------------------------------------------------------------- access to the portal

-- The secrets of the portal have 8 characters that name them (secret_identifier) and are not secret. Of the secret itself
-- only the SHA-256 is stored (secret_digest), so this database opens no access and no session.

-- A machine that may call the portal, by an access token or by a client certificate.
CREATE TABLE accesses (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
        CHECK (char_length(name) BETWEEN 1 AND 64 AND name ~ '^[a-zA-Z0-9][-a-zA-Z0-9._]*$'),
    permits text COLLATE "C" NOT NULL CHECK (permits IN (
        'onboard', 'read', 'merchantSession', 'onboard,read', 'merchantSession,onboard', 'merchantSession,read',
        'merchantSession,onboard,read'
    )),
    -- One identifier on each line; NULL: every merchant.
    merchants text COLLATE "C" CHECK (char_length(merchants) BETWEEN 1 AND 1048576),
    -- The SHA-256 of the client certificate; NULL: the machine has an access token.
    certificate_fingerprint bytea CHECK (octet_length(certificate_fingerprint) = 32),
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint
);

CREATE UNIQUE INDEX accesses_by_certificate ON accesses (certificate_fingerprint)
    WHERE certificate_fingerprint IS NOT NULL AND revoked_at IS NULL;

CREATE TRIGGER accesses_are_kept BEFORE DELETE ON accesses
    FOR EACH ROW EXECUTE FUNCTION refuse('an access is kept as history');

CREATE TRIGGER accesses_are_not_truncated BEFORE TRUNCATE ON accesses
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('an access is kept as history');

CREATE TRIGGER accesses_keep_their_identity
    BEFORE UPDATE OF id, name, permits, merchants, certificate_fingerprint, created_at ON accesses
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of an access never changes');

CREATE TRIGGER accesses_stay_revoked BEFORE UPDATE OF revoked_at ON accesses
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION refuse('a revoked access stays revoked');

-- The access tokens: one for each access, or two during a rotation.
CREATE TABLE access_secrets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    access_id bigint NOT NULL REFERENCES accesses (id),
    secret_identifier text COLLATE "C" NOT NULL UNIQUE CHECK (secret_identifier ~ '^[a-zA-Z0-9]{8}$'),
    secret_digest bytea NOT NULL UNIQUE CHECK (octet_length(secret_digest) = 32),
    created_at bigint NOT NULL,
    expires_at bigint
);

CREATE INDEX access_secrets_of_access ON access_secrets (access_id, id);

CREATE FUNCTION require_access_for_secret() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (SELECT count(*) FROM access_secrets WHERE access_id = NEW.access_id) >= 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'an access has at most two secrets';
    END IF;
    IF (SELECT revoked_at IS NOT NULL OR certificate_fingerprint IS NOT NULL FROM accesses WHERE id = NEW.access_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a revoked access, or one by client certificate, gets no secret';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER access_secrets_of_a_valid_access BEFORE INSERT ON access_secrets
    FOR EACH ROW EXECUTE FUNCTION require_access_for_secret();

CREATE TRIGGER access_secrets_keep_their_identity
    BEFORE UPDATE OF id, access_id, secret_identifier, secret_digest, created_at ON access_secrets
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a secret never changes');

-- Lets a person at a merchant begin one session.
CREATE TABLE invitations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    identifier text COLLATE "C" NOT NULL UNIQUE CHECK (identifier ~ '^[0-9a-f]{16}$'),
    merchant_identifier text COLLATE "C" NOT NULL REFERENCES merchants (identifier),
    secret_identifier text COLLATE "C" NOT NULL UNIQUE CHECK (secret_identifier ~ '^[a-zA-Z0-9]{8}$'),
    secret_digest bytea NOT NULL UNIQUE CHECK (octet_length(secret_digest) = 32),
    note text COLLATE "C" CHECK (octet_length(note) BETWEEN 1 AND 256),
    -- The caller's name, such as 'uid:1000' or 'access:shop'.
    created_by text COLLATE "C" NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 255),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    revoked_at bigint,
    CHECK (used_at IS NULL OR used_at <= expires_at)
);

CREATE INDEX invitations_of_merchant ON invitations (merchant_identifier, id);

CREATE INDEX invitations_by_creator ON invitations (created_by, expires_at);

CREATE TRIGGER invitations_are_kept BEFORE DELETE ON invitations
    FOR EACH ROW EXECUTE FUNCTION refuse('an invitation is kept as history');

CREATE TRIGGER invitations_are_not_truncated BEFORE TRUNCATE ON invitations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('an invitation is kept as history');

CREATE TRIGGER invitations_keep_their_identity
    BEFORE UPDATE OF id, identifier, merchant_identifier, secret_identifier, secret_digest, note, created_by, created_at,
        expires_at ON invitations
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of an invitation never changes');

CREATE TRIGGER invitations_are_used_once BEFORE UPDATE OF used_at ON invitations
    FOR EACH ROW
    WHEN (NEW.used_at IS DISTINCT FROM OLD.used_at AND (OLD.used_at IS NOT NULL OR OLD.revoked_at IS NOT NULL))
    EXECUTE FUNCTION refuse('an invitation is used at most once, and not after its revocation');

CREATE TRIGGER invitations_stay_revoked BEFORE UPDATE OF revoked_at ON invitations
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION refuse('a revoked invitation stays revoked');

-- The signed-in browsers. Rows of ended sessions are removed.
CREATE TABLE portal_sessions (
    secret_identifier text COLLATE "C" NOT NULL PRIMARY KEY CHECK (secret_identifier ~ '^[a-zA-Z0-9]{8}$'),
    secret_digest bytea NOT NULL UNIQUE CHECK (octet_length(secret_digest) = 32),
    -- The invitation of a person at a merchant; NULL for an operator.
    invitation_id bigint REFERENCES invitations (id),
    operator_uid bigint CHECK (operator_uid BETWEEN 0 AND 4294967295),
    -- Numbers between commas, sorted.
    operator_groups text COLLATE "C" CHECK (operator_groups ~ '^[0-9,]*$'),
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    CHECK ((invitation_id IS NULL) = (operator_uid IS NOT NULL)),
    CHECK ((operator_uid IS NULL) = (operator_groups IS NULL))
);

CREATE UNIQUE INDEX portal_sessions_of_invitation ON portal_sessions (invitation_id) WHERE invitation_id IS NOT NULL;

CREATE INDEX portal_sessions_of_operator ON portal_sessions (operator_uid) WHERE operator_uid IS NOT NULL;

CREATE INDEX portal_sessions_by_last_request ON portal_sessions (last_seen_at);

CREATE INDEX portal_sessions_by_age ON portal_sessions (created_at);

CREATE FUNCTION require_valid_invitation() RETURNS trigger LANGUAGE plpgsql
    SET search_path = merchantkeyd, pg_temp AS $$
BEGIN
    IF (SELECT revoked_at IS NOT NULL FROM invitations WHERE id = NEW.invitation_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a revoked invitation begins no session';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER portal_sessions_of_a_valid_invitation BEFORE INSERT ON portal_sessions
    FOR EACH ROW WHEN (NEW.invitation_id IS NOT NULL) EXECUTE FUNCTION require_valid_invitation();

CREATE TRIGGER portal_sessions_keep_their_identity
    BEFORE UPDATE OF secret_identifier, secret_digest, invitation_id, operator_uid, operator_groups, created_at
        ON portal_sessions
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a session never changes');

-- Lets an operator begin one session. Rows of old logins are removed.
CREATE TABLE operator_logins (
    secret_identifier text COLLATE "C" NOT NULL PRIMARY KEY CHECK (secret_identifier ~ '^[a-zA-Z0-9]{8}$'),
    secret_digest bytea NOT NULL UNIQUE CHECK (octet_length(secret_digest) = 32),
    operator_uid bigint NOT NULL CHECK (operator_uid BETWEEN 0 AND 4294967295),
    -- Numbers between commas, sorted.
    operator_groups text COLLATE "C" NOT NULL CHECK (operator_groups ~ '^[0-9,]*$'),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    CHECK (used_at IS NULL OR used_at <= expires_at)
);

CREATE INDEX operator_logins_by_age ON operator_logins (created_at);

CREATE TRIGGER operator_logins_are_used_once BEFORE UPDATE OF used_at ON operator_logins
    FOR EACH ROW WHEN (OLD.used_at IS NOT NULL AND NEW.used_at IS DISTINCT FROM OLD.used_at)
    EXECUTE FUNCTION refuse('a login is used at most once');

CREATE TRIGGER operator_logins_keep_their_identity
    BEFORE UPDATE OF secret_identifier, secret_digest, operator_uid, operator_groups, created_at, expires_at
        ON operator_logins
    FOR EACH ROW EXECUTE FUNCTION refuse('the identity of a login never changes');

-- ----------------------------------------------------------------------------------------------------- backups

-- Backups that this database created or verified. Their files may no longer exist.
CREATE TABLE backups (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The digest of the database in the file.
    sha256 bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
    path text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 4096),
    created_at bigint NOT NULL,
    -- The highest key pair id in the backup. Ids only grow, so the backup contains every key pair up to this id.
    newest_key_pair_id bigint NOT NULL CHECK (newest_key_pair_id >= 0),
    audit_sequence bigint NOT NULL CHECK (audit_sequence >= 0),
    -- When the last verification unsealed every key in it and found no fault; NULL if it found a fault.
    verified_at bigint
);

CREATE INDEX backups_verified ON backups (newest_key_pair_id) WHERE verified_at IS NOT NULL;

-- ------------------------------------------------------------------------------------------------------ claims

-- Claimed payment tokens. `id` grows with time, so expired claims have the lowest ids. New claims reuse the space of expired
-- ones. VACUUM does not return it to the disk, because it would lock the table against all claims meanwhile.
CREATE TABLE claims (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction_id bytea NOT NULL CHECK (octet_length(transaction_id) = 32),
    claimed_at bigint NOT NULL,
    -- The name of the caller, such as 'uid:1000'.
    caller text COLLATE "C" NOT NULL CHECK (char_length(caller) BETWEEN 1 AND 255),
    -- SHA-256 of the Idempotency-Key and of its request; both or neither.
    key_digest bytea CHECK (octet_length(key_digest) = 32),
    request_digest bytea CHECK (octet_length(request_digest) = 32),
    CHECK ((key_digest IS NULL) = (request_digest IS NULL))
) WITH (vacuum_truncate = off);

-- Exactly one of several simultaneous claims of a token wins.
CREATE UNIQUE INDEX claims_once ON claims (transaction_id);

-- A caller can use an Idempotency-Key for one request only.
CREATE UNIQUE INDEX claims_of_attempts ON claims (key_digest, caller) WHERE key_digest IS NOT NULL;

-- Finds the newest claim, which shows whether a clock is behind.
CREATE INDEX claims_by_time ON claims (claimed_at);

-- Claimed nonces of in-app provisioning. `id` grows with time, so expired claims have the lowest ids.
CREATE TABLE nonces (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the nonce and its nonceSignature.
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    claimed_at bigint NOT NULL,
    -- The name of the caller, such as 'uid:1000'.
    caller text COLLATE "C" NOT NULL CHECK (char_length(caller) BETWEEN 1 AND 255)
);

-- Exactly one of several simultaneous claims of a nonce wins.
CREATE UNIQUE INDEX nonces_once ON nonces (digest);

-- -------------------------------------------------------------------------------------------------------- nodes

-- The daemons that use this database. Each has a lease: only until its end, by the clock of this server, does the daemon use
-- what it has in memory. A daemon that changes a key pair waits until every other daemon with a lease has applied the change.
CREATE TABLE nodes (
    name text COLLATE "C" PRIMARY KEY CHECK (char_length(name) BETWEEN 1 AND 63),
    -- Random, another number for each run of the daemon.
    run bigint NOT NULL,
    version text COLLATE "C" NOT NULL,
    joined_at bigint NOT NULL,
    lease_end timestamptz NOT NULL,
    -- Until this time the daemon may use its caches although its lease has ended (the setting store.postgresql.serve-stale).
    -- The other daemons do not wait for this daemon.
    cache_end timestamptz NOT NULL,
    -- The last row of key_changes that the daemon has applied to what it has in memory.
    applied_change bigint NOT NULL CHECK (applied_change >= 0),
    -- The uses of keys that the daemon observed before this time are in the table key_uses.
    uses_stored_at timestamptz NOT NULL,
    -- What the daemon has in memory of the keys that seal private keys; 0 and '' until it has said so. The highest data key
    -- that it has, the one under which it seals, and the identifiers of the master keys that it can read, in hexadecimal.
    loaded_data_key bigint NOT NULL DEFAULT 0,
    sealing_data_key bigint NOT NULL DEFAULT 0,
    master_keys text COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 10);

-- The leader is the daemon that does the work that only one daemon may do at a time, such as the delivery of events. Another
-- daemon becomes the leader when this lease has ended.
CREATE TABLE leader (
    id smallint PRIMARY KEY CHECK (id = 1),
    name text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    lease_end timestamptz NOT NULL
) WITH (fillfactor = 10);

INSERT INTO leader (id, name, run, lease_end) VALUES (1, '', 0, '-infinity');

-- The key pairs that were changed in the last hour, without new pending key pairs. Each transaction that changes such key
-- pairs adds a row. These transactions run one after another, so the numbers grow in the order of the commits.
CREATE TABLE key_changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- One or several hashes of 32 bytes, one after another.
    public_key_hashes bytea NOT NULL
        CHECK (octet_length(public_key_hashes) > 0 AND octet_length(public_key_hashes) % 32 = 0),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX key_changes_by_time ON key_changes (changed_at);
