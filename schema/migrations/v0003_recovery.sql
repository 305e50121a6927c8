-- What recovery and accountability need: audit records by caller and time, and what is known of backups.

CREATE INDEX audit_of_caller ON audit (caller_uid, sequence);

CREATE INDEX audit_by_time ON audit (at, sequence);

-- Backups that were made or verified here. The files are elsewhere, and may be gone.
CREATE TABLE backups (
    id INTEGER PRIMARY KEY,
    -- Over the database in the file.
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    path TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 4096),
    created_at INTEGER NOT NULL,
    -- The highest id of a key pair in it: ids only grow, so it holds every key pair up to that one.
    newest_key_pair_id INTEGER NOT NULL CHECK (newest_key_pair_id >= 0),
    audit_sequence INTEGER NOT NULL CHECK (audit_sequence >= 0),
    -- When a verification last opened it, unsealed every key and found nothing wrong.
    verified_at INTEGER
) STRICT;

CREATE INDEX backups_verified ON backups (newest_key_pair_id) WHERE verified_at IS NOT NULL;
