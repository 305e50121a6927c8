-- Rolls, what is seen of keys' uses, and what the schedule has to look at.

-- ------------------------------------------------------------------------------------------------------- rolls

CREATE TABLE rolls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    merchant_identifier TEXT NOT NULL REFERENCES merchants (identifier),
    algorithm TEXT NOT NULL CHECK (algorithm IN ('EC_v1', 'RSA_v1')),
    from_key BLOB REFERENCES key_pairs (public_key_hash),
    to_key BLOB NOT NULL REFERENCES key_pairs (public_key_hash),
    started_at INTEGER NOT NULL,
    -- Since when nobody asked for the old key; NULL while more than time is missing.
    idle_since INTEGER,
    remind_at INTEGER,
    ended_at INTEGER,
    reason TEXT CHECK (length(CAST(reason AS BLOB)) <= 4096),
    has_next_pair INTEGER NOT NULL DEFAULT 0 CHECK (has_next_pair IN (0, 1)),
    -- Of an open roll: what its new key's state says, kept by a trigger. Of an ended one: how it ended.
    step TEXT NOT NULL CHECK (step IN ('started', 'certificateStored', 'promoted', 'finished', 'abandoned')),
    -- Since when it is at this step.
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

INSERT INTO totals (name) VALUES
    ('rolls.started'), ('rolls.certificateStored'), ('rolls.promoted'), ('rolls.finished'), ('rolls.abandoned');

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
    SELECT RAISE(ABORT, 'what a roll is about never changes');
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

-- ------------------------------------------------------------------------------------------------ observed uses

CREATE TABLE key_uses (
    key_pair_id INTEGER PRIMARY KEY REFERENCES key_pairs (id),
    requests_count INTEGER NOT NULL DEFAULT 0 CHECK (requests_count >= 0),
    requests_first INTEGER,
    requests_last INTEGER,
    decryptions_count INTEGER NOT NULL DEFAULT 0 CHECK (decryptions_count >= 0),
    decryptions_first INTEGER,
    decryptions_last INTEGER,
    -- The first successful decryption since the promotion of a current key pair, or the one that caused the promotion.
    promotion_confirmed_at INTEGER,
    alarmed_at INTEGER,
    CHECK ((requests_count = 0) = (requests_first IS NULL) AND (requests_count = 0) = (requests_last IS NULL)),
    CHECK ((decryptions_count = 0) = (decryptions_first IS NULL) AND (decryptions_count = 0) = (decryptions_last IS NULL)),
    CHECK (promotion_confirmed_at IS NULL OR decryptions_count > 0)
) STRICT;

-- A confirmation is for one promotion: when the key pair is promoted again, Apple may encrypt to another key.
CREATE TRIGGER key_uses_confirm_one_promotion AFTER UPDATE OF state ON key_pairs WHEN OLD.state <> NEW.state BEGIN
    UPDATE key_uses SET promotion_confirmed_at = NULL
        WHERE key_pair_id = NEW.id AND promotion_confirmed_at IS NOT NULL;
END;

-- ----------------------------------------------------------------------------------------------------- schedule

-- When the schedule has to look at an active key pair next; NULL: not before it or its certificates change.
CREATE TABLE key_watches (
    key_pair_id INTEGER PRIMARY KEY REFERENCES key_pairs (id),
    due_at INTEGER
) STRICT;

CREATE INDEX key_watches_due ON key_watches (due_at) WHERE due_at IS NOT NULL;

INSERT INTO key_watches (key_pair_id, due_at)
    SELECT id, 0 FROM key_pairs WHERE state IN ('standby', 'current', 'retiring') AND expires_at IS NOT NULL;

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

-- Which ends were warned of at which threshold: each once.
CREATE TABLE key_warnings (
    key_pair_id INTEGER NOT NULL REFERENCES key_pairs (id),
    expires_at INTEGER NOT NULL,
    days INTEGER NOT NULL CHECK (days >= 0),
    warned_at INTEGER NOT NULL,
    PRIMARY KEY (key_pair_id, expires_at, days)
) STRICT, WITHOUT ROWID;

INSERT INTO totals (name) SELECT 'awaitingDestruction';

UPDATE totals SET value = (SELECT count(*) FROM key_pairs WHERE destroy_after IS NOT NULL)
    WHERE name = 'awaitingDestruction';

CREATE TRIGGER destructions_counted AFTER UPDATE OF destroy_after ON key_pairs
WHEN (OLD.destroy_after IS NULL) <> (NEW.destroy_after IS NULL) BEGIN
    UPDATE totals SET value = value + (NEW.destroy_after IS NOT NULL) - (OLD.destroy_after IS NOT NULL)
        WHERE name = 'awaitingDestruction';
END;
