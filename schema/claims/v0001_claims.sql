-- The first schema of the claims' own database. Times are milliseconds since 1970-01-01T00:00:00Z; ids and digests are raw
-- bytes. It can be rebuilt empty: what is lost then is the memory of which tokens were taken.

-- Which migrations made this database, and the SHA-256 of each one's text: an edited one is refused.
CREATE TABLE migrations (
    version INTEGER PRIMARY KEY CHECK (version > 0),
    name TEXT NOT NULL UNIQUE,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    applied_at INTEGER NOT NULL
) STRICT;

-- Payment tokens that were taken. `id` grows with time: expired claims are found at its lower end.
CREATE TABLE claims (
    id INTEGER PRIMARY KEY,
    transaction_id BLOB NOT NULL CHECK (length(transaction_id) = 32),
    claimed_at INTEGER NOT NULL,
    caller_uid INTEGER NOT NULL,
    -- SHA-256 of the Idempotency-Key and of the request it came with; absent together.
    key_digest BLOB CHECK (length(key_digest) = 32),
    request_digest BLOB CHECK (length(request_digest) = 32),
    CHECK ((key_digest IS NULL) = (request_digest IS NULL))
) STRICT;

-- What makes exactly one of many simultaneous claims win.
CREATE UNIQUE INDEX claims_once ON claims (transaction_id);

-- One Idempotency-Key of a caller names one request.
CREATE UNIQUE INDEX claims_of_attempts ON claims (key_digest, caller_uid) WHERE key_digest IS NOT NULL;
