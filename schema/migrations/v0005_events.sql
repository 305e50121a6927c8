-- Events for operators, and which of them each webhook has yet to get.

CREATE TABLE events (
    -- AUTOINCREMENT: a sequence is never given twice, also once the last events were removed.
    sequence INTEGER PRIMARY KEY AUTOINCREMENT CHECK (sequence > 0),
    -- Random: tells events apart that two copies of one database gave the same sequence.
    id BLOB NOT NULL CHECK (length(id) = 16),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    severity TEXT NOT NULL CHECK (severity IN ('notice', 'warning', 'critical')),
    occurred_at INTEGER NOT NULL,
    merchant_identifier TEXT,
    public_key_hash BLOB CHECK (length(public_key_hash) = 32),
    roll_id TEXT CHECK (length(roll_id) BETWEEN 1 AND 255),
    detail TEXT NOT NULL CHECK (length(CAST(detail AS BLOB)) BETWEEN 1 AND 4096)
) STRICT;

CREATE INDEX events_of_merchant ON events (merchant_identifier, sequence) WHERE merchant_identifier IS NOT NULL;

CREATE INDEX events_of_kind ON events (kind, sequence);

CREATE INDEX events_of_severity ON events (severity, sequence);

CREATE INDEX events_by_age ON events (occurred_at);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'an event is never changed');
END;

-- --------------------------------------------------------------------------------------------------- webhooks

-- The webhooks that the settings name, or named before. Their addresses and secrets stay in the settings.
CREATE TABLE event_webhooks (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255),
    -- Between commas: ',keyPromoted,keyRevoked,'. NULL: every kind.
    kinds TEXT CHECK (kinds LIKE ',%,'),
    registered_at INTEGER NOT NULL,
    -- Since when the settings do not name it. What it has not got by then waits for its return.
    removed_at INTEGER,
    last_delivered_at INTEGER,
    last_failed_at INTEGER,
    last_failure TEXT CHECK (length(CAST(last_failure AS BLOB)) <= 4096),
    -- How many of its deliveries wait and how many are parked; kept by triggers.
    undelivered INTEGER NOT NULL DEFAULT 0 CHECK (undelivered >= 0),
    parked INTEGER NOT NULL DEFAULT 0 CHECK (parked >= 0)
) STRICT;

-- One row for each event that a webhook has not got: it goes when the event was delivered.
--
-- A lane is a merchant's events (or those of no merchant), which are delivered in order: only the first of a lane that
-- is not parked may be sent, and is_next marks it.
CREATE TABLE event_deliveries (
    webhook_id INTEGER NOT NULL REFERENCES event_webhooks (id),
    event_sequence INTEGER NOT NULL REFERENCES events (sequence) ON DELETE CASCADE,
    lane TEXT NOT NULL,
    is_parked INTEGER NOT NULL DEFAULT 0 CHECK (is_parked IN (0, 1)),
    is_next INTEGER NOT NULL CHECK (is_next IN (0, 1)),
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    first_failed_at INTEGER,
    -- Not to be sent before; 0 for at once.
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

-- An event and its outgoing work are one statement, so no program can store the one without the other.
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

-- Parked, or taken back into its place in the lane.
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

-- --------------------------------------------------------------------------------------------------- key pairs

-- For lists of the key pairs in one state, in the order they were made.
CREATE INDEX key_pairs_by_state ON key_pairs (state, id);
