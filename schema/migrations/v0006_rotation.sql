-- Rotation of the data key, and of the master key that seals it.

-- Each private key is sealed anew over its old seal. An old data key's row becomes zeros of the same length once nothing is
-- sealed under it: it is kept, because destroyed private keys refer to it.
CREATE TABLE key_rotations (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('sealing', 'erasing', 'finished')),
    -- The fresh one, under which everything is to be sealed.
    data_key_id INTEGER NOT NULL UNIQUE REFERENCES data_keys (id),
    replaces_master_key INTEGER NOT NULL CHECK (replaces_master_key IN (0, 1)),
    -- How many private keys there were to seal anew, and how many are.
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
WHEN EXISTS (SELECT 1 FROM sealed_private_keys WHERE data_key_id = OLD.id AND erased = 0) BEGIN
    SELECT RAISE(ABORT, 'a data key is erased when nothing is sealed under it any more');
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
