-- Claimed nonces of in-app provisioning. `id` grows with time, so expired claims have the lowest ids.
CREATE TABLE nonces (
    id INTEGER PRIMARY KEY,
    -- SHA-256 of the nonce and its nonceSignature.
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    claimed_at INTEGER NOT NULL,
    -- The name of the caller, such as 'uid:1000'.
    caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 255)
) STRICT;

-- Exactly one of several simultaneous claims of a nonce wins.
CREATE UNIQUE INDEX nonces_once ON nonces (digest);
