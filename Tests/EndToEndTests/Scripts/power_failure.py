"""Rebuilds the disk as it may be after a power failure, and checks that everything acknowledged is on it.

Usage: power_failure.py RECORD DIRECTORY ROUNDS. RECORD contains kind, file, offset, length and bytes of each event, as
the library in PowerFailureTests.swift wrote them. DIRECTORY is for the rebuilt files.
"""
import base64, json, os, random, sqlite3, struct, sys

SECTOR = 512
DATABASE, LOG = 1, 2


def events(path):
    data = open(path, "rb").read()
    place = 0
    while place + 18 <= len(data):
        kind, file = chr(data[place]), data[place + 1]
        offset, length = struct.unpack_from("<qq", data, place + 2)
        place += 18
        yield kind, file, offset, data[place:place + length]
        place += length


def apply(content, kind, offset, data):
    if kind == "t":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


def apply_some(content, writes, rng):
    """Applies a random part of the writes that were not synced. They may be reordered, and torn between sectors."""
    writes = list(writes)
    choice = rng.random()
    if choice < 0.2:
        return
    if choice < 0.4:
        writes = writes[:rng.randrange(len(writes) + 1)]
    else:
        writes = [write for write in writes if rng.random() < 0.5]
        # A file system keeps the order of a truncation and other writes, but not that of sectors.
        if not any(kind == "t" for kind, _, _ in writes):
            rng.shuffle(writes)
    for kind, offset, data in writes:
        if kind == "t" or rng.random() < 0.7:
            apply(content, kind, offset, data)
            continue
        for begin in range(0, len(data), SECTOR):
            if rng.random() < 0.5:
                apply(content, "w", offset + begin, data[begin:begin + SECTOR])


def acknowledged(reply):
    """What a response acknowledges: kind, identifier, state and number of certificates."""
    head, _, body = reply.partition(b"\r\n\r\n")
    try:
        document = json.loads(body)
    except ValueError:
        return
    if not isinstance(document, dict):
        return
    key = document.get("key", document)
    if "publicKeyHash" in key:
        yield "key", key["publicKeyHash"], key["state"], len(key["certificates"])
    elif "merchantIdentifier" in key:
        yield "merchant", key["merchantIdentifier"], None, 0


ORDER = ["pending", "standby", "current", "retiring", "revoked"]


def check(directory, files, acknowledged_keys, merchants):
    """Returns what is wrong with the database in these files."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "db")
    for suffix, file in (("", DATABASE), ("-wal", LOG)):
        with open(path + suffix, "wb") as out:
            out.write(files[file])
    if os.path.exists(path + "-shm"):
        os.unlink(path + "-shm")
    findings = []
    db = sqlite3.connect(path)
    try:
        found = db.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            findings.append(found)
        # Before the first acknowledgement there may not be a schema yet.
        if not acknowledged_keys and not merchants:
            return findings
        rows = {
            base64.b64encode(h).decode(): (state, count)
            for h, state, count in db.execute(
                "SELECT public_key_hash, state, (SELECT count(*) FROM certificates c WHERE c.public_key_hash ="
                " k.public_key_hash) FROM key_pairs k JOIN sealed_private_keys s ON s.id = k.id"
            )
        }
        for key, (state, certificates) in acknowledged_keys.items():
            found_row = rows.get(key)
            if found_row is None:
                findings.append(f"{key} was acknowledged as {state} and is missing")
            elif ORDER.index(found_row[0]) < ORDER.index(state) or found_row[1] < certificates:
                findings.append(f"{key} was acknowledged as {state} with {certificates} certificates, found {found_row}")
        names = {row[0] for row in db.execute("SELECT identifier FROM merchants")}
        findings += [f"{merchant} was acknowledged and is missing" for merchant in merchants - names]
        last, count = db.execute("SELECT max(sequence), count(*) FROM audit").fetchone()
        if last != count:
            findings.append(f"the audit has {count} records and ends with {last}")
        before = bytes(32)
        for previous, own in db.execute("SELECT previous_hash, hash FROM audit ORDER BY sequence"):
            if previous != before:
                findings.append("the audit's chain is broken")
                break
            before = own
    except sqlite3.Error as error:
        findings.append(f"the database cannot be read: {error}")
    finally:
        db.close()
    return findings


def main(record, directory, rounds):
    rng = random.Random(20261121)
    recorded = list(events(record))
    replies = sum(1 for event in recorded if event[0] == "a")
    failures = sorted(rng.randrange(1, len(recorded) + 1) for _ in range(rounds))
    synced = {DATABASE: bytearray(), LOG: bytearray()}
    pending = {DATABASE: [], LOG: []}
    acknowledged_keys, merchants = {}, set()
    bad, unsynced_writes, place = 0, 0, 0
    for failure in failures:
        for kind, file, offset, data in recorded[place:failure]:
            if kind == "s":
                for write in pending[file]:
                    apply(synced[file], *write)
                pending[file] = []
            elif kind == "a":
                for what, name, state, certificates in acknowledged(data):
                    if what == "merchant":
                        merchants.add(name)
                    elif name not in acknowledged_keys or ORDER.index(acknowledged_keys[name][0]) <= ORDER.index(state):
                        acknowledged_keys[name] = (state, certificates)
            else:
                pending[file].append((kind, offset, data))
        place = failure
        files = {}
        for file in (DATABASE, LOG):
            files[file] = bytearray(synced[file])
            unsynced_writes += len(pending[file])
            if pending[file]:
                apply_some(files[file], pending[file], rng)
        findings = check(directory, files, acknowledged_keys, merchants)
        if findings:
            bad += 1
            print(f"power failure after event {failure} of {len(recorded)}: {findings[:3]}")
    print(f"power failure: {rounds} rounds, {replies} replies, {len(acknowledged_keys)} key pairs acknowledged,"
          f" {unsynced_writes} unsynced writes, {bad} rounds with a finding")
    # Without writes at risk the test would not test anything.
    sys.exit(1 if bad or replies < 100 or unsynced_writes < rounds else 0)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
