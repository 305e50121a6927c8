-- What status asks of each merchant, kept beside it: counted over the key pairs it would take longer the more there are.
-- Indexes over what ends, apart for current key pairs, because their end is more urgent.

-- Its youngest key pair: whether a backup holds all of the merchant's keys.
ALTER TABLE merchants ADD COLUMN newest_key_pair_id INTEGER NOT NULL DEFAULT 0;

-- When the certificate of its current payment processing key pair ends, of several the first; NULL while there is none.
ALTER TABLE merchants ADD COLUMN current_ends_at INTEGER;

UPDATE merchants SET
    newest_key_pair_id =
        coalesce((SELECT max(id) FROM key_pairs INDEXED BY key_pairs_of_merchant
            WHERE merchant_identifier = merchants.identifier), 0),
    current_ends_at = (
        SELECT min(expires_at) FROM key_pairs INDEXED BY key_pairs_one_current
        WHERE merchant_identifier = merchants.identifier AND purpose = 'paymentProcessing' AND state = 'current'
    );

CREATE INDEX merchants_by_newest_key_pair ON merchants (newest_key_pair_id);

-- Whether it ever had an active payment processing key pair: a merchant that lost the last one is not a new merchant.
ALTER TABLE merchants ADD COLUMN had_active_key_pair INTEGER NOT NULL DEFAULT 0 CHECK (had_active_key_pair IN (0, 1));

UPDATE merchants SET had_active_key_pair = 1 WHERE EXISTS (
    SELECT 1 FROM key_pairs INDEXED BY key_pairs_of_merchant
    WHERE merchant_identifier = merchants.identifier AND purpose = 'paymentProcessing' AND expires_at IS NOT NULL
);

-- The columns after the first let a count read the index alone.
CREATE INDEX merchants_below_target_ending
    ON merchants (current_ends_at, active_key_pairs, target_active_key_pairs, removed_at)
    WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND current_ends_at IS NOT NULL;

CREATE INDEX merchants_without_active_key_pair
    ON merchants (identifier, active_key_pairs, had_active_key_pair, removed_at)
    WHERE removed_at IS NULL AND active_key_pairs = 0 AND had_active_key_pair = 1;

CREATE INDEX key_pairs_current_ending ON key_pairs (expires_at, id) WHERE state = 'current';

CREATE INDEX key_pairs_not_current_ending ON key_pairs (expires_at, id) WHERE state IN ('standby', 'retiring');

CREATE TRIGGER merchants_had_active_key_pair AFTER UPDATE OF active_key_pairs ON merchants
WHEN NEW.active_key_pairs > 0 AND NEW.had_active_key_pair = 0 BEGIN
    UPDATE merchants SET had_active_key_pair = 1 WHERE identifier = NEW.identifier;
END;

CREATE TRIGGER merchants_newest_key_pair AFTER INSERT ON key_pairs BEGIN
    UPDATE merchants SET newest_key_pair_id = max(newest_key_pair_id, NEW.id)
        WHERE identifier = NEW.merchant_identifier;
END;

CREATE TRIGGER merchants_current_end AFTER UPDATE OF state, expires_at ON key_pairs
WHEN NEW.purpose = 'paymentProcessing' AND (OLD.state = 'current' OR NEW.state = 'current') BEGIN
    UPDATE merchants SET current_ends_at = (
        SELECT min(expires_at) FROM key_pairs INDEXED BY key_pairs_one_current
        WHERE merchant_identifier = NEW.merchant_identifier AND purpose = 'paymentProcessing' AND state = 'current'
    )
    WHERE identifier = NEW.merchant_identifier;
END;
