-- The schema of the claims database. Times are milliseconds since 1970-01-01T00:00:00Z; ids and digests are raw bytes. An
-- operator can replace this database by an empty one: then the daemon no longer knows which tokens were claimed.

-- The migrations that created this database, with the SHA-256 of each migration's text. A program whose migrations differ
-- from these is refused.
CREATE TABLE migrations (
    version INTEGER PRIMARY KEY CHECK (version > 0),
    name TEXT NOT NULL UNIQUE,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    applied_at INTEGER NOT NULL
) STRICT;

-- Claimed payment tokens. `id` grows with time, so expired claims have the lowest ids.
CREATE TABLE claims (
    id INTEGER PRIMARY KEY,
    transaction_id BLOB NOT NULL CHECK (length(transaction_id) = 32),
    claimed_at INTEGER NOT NULL,
    -- The name of the caller, such as 'uid:1000'.
    caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 255),
    -- SHA-256 of the Idempotency-Key and of its request; both or neither.
    key_digest BLOB CHECK (length(key_digest) = 32),
    request_digest BLOB CHECK (length(request_digest) = 32),
    CHECK ((key_digest IS NULL) = (request_digest IS NULL))
) STRICT;

-- Exactly one of several simultaneous claims of a token wins.
CREATE UNIQUE INDEX claims_once ON claims (transaction_id);

-- A caller can use an Idempotency-Key for one request only.
CREATE UNIQUE INDEX claims_of_attempts ON claims (key_digest, caller) WHERE key_digest IS NOT NULL;
