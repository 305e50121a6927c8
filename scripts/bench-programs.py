"""The parts of scripts/bench and scripts/bench-postgresql that insert rows, send requests and calculate figures.

The functions of scripts/bench-lib.sh run this program. Its first argument is the name of a function below. Each figure
is a line of the file RATES: its name, a tab and its value.
"""
import base64
import hashlib
import os
import random
import select
import socket
import sqlite3
import statistics
import sys
import time

MERCHANT = "merchant.com.example.bench"
# What the tokens of applepay-sandbox contain.
EXPECTED = b'{"merchantIdentifier":"%s","currencyCode":"840","transactionAmount":1000}' % MERCHANT.encode()
DETAIL = "something happened to a key of this merchant"
# The number of merchants in one transaction. A larger transaction needs a larger write-ahead log.
CHUNK = 10000


# ------------------------------------------------------------------------------------------------------------ figures

def record(rates, name, value):
    with open(rates, "a", encoding="utf-8") as file:
        file.write(f"{name}\t{value}\n")


def show(rates, name, times, seconds, refused):
    """Prints and records the rate of the successful requests, whose durations are in microseconds."""
    times.sort()
    rate = len(times) / seconds
    p50, p99 = (times[min(len(times) - 1, int(len(times) * part))] if times else 0 for part in (0.5, 0.99))
    end = f"   refused {refused}" if refused else ""
    print(f"{name:<44} {rate:>10,.0f}/s   p50 {p50:>6.0f} us   p99 {p99:>6.0f} us{end}")
    record(rates, name, rate)


def report(name, seconds, rates, *logs):
    """Shows the figures of one or several logs of h2load."""
    times, refused = [], 0
    for log in logs:
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                _, status, micros = line.split("\t")[:3]
                if status.startswith("2"):
                    times.append(int(micros))
                else:
                    refused += 1
    show(rates, name, times, float(seconds), refused)


def compare(rates, title, base, other, unit, aim):
    """Prints the medians of the figures 'TITLE, BASE' and 'TITLE, OTHER', and the ratio. Each round has recorded one
    line of each figure. The ratio is the median of the ratios of the rounds, because a slow machine affects both
    figures of a round."""
    values = {base: [], other: []}
    with open(rates, encoding="utf-8") as lines:
        for line in lines:
            name, value = line.rstrip("\n").split("\t")
            for side, found in values.items():
                if name == f"{title}, {side}":
                    found.append(float(value))
    ratio = statistics.median(b / a if a else 0 for a, b in zip(values[base], values[other]))
    sides = ", ".join(f"{side} {statistics.median(found):,.0f}{unit}" for side, found in values.items())
    print(f"=> {title}: {sides}, ratio {ratio:.2f}" + (f" (aim {aim})" if aim else ""))
    record(rates, f"{title}, {other} / {base}", ratio)


# --------------------------------------------------------------------------------------------------------------- load

def send(name, rates, file, kind, seconds, connections, *sockets):
    """Sends the requests of the file over Unix sockets, each once: for SECONDS seconds, or all of them if SECONDS is 0.
    KIND is 'uris', or for payment tokens 'true' or 'false': whether to claim them."""
    requests = []
    with open(file, "rb") as lines:
        for line in lines:
            if kind == "uris":
                path = line.strip().removeprefix(b"http://localhost")
                requests.append(b"GET %s HTTP/1.1\r\nHost: bench\r\n\r\n" % path)
            else:
                data = line[len(b'{"paymentData":'):line.index(b',"paymentMethod"')]
                body = b'{"paymentData":%s,"expected":%s,"claim":%s}' % (data, EXPECTED, kind.encode())
                head = b"POST /v1/payment-tokens/decrypt HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n"
                requests.append(head % len(body) + body)
    limit = float(seconds) or float("inf")
    epoll, opened, asked, times, refused = select.epoll(), {}, {}, [], 0
    for number in range(min(int(connections), len(requests))):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sockets[number % len(sockets)])
        epoll.register(connection, select.EPOLLIN)
        opened[connection.fileno()] = connection
    start, used = time.perf_counter(), 0
    for number, connection in opened.items():
        asked[number] = time.perf_counter()
        connection.sendall(requests[used])
        used += 1
    waiting = len(opened)
    while waiting:
        for number, _ in epoll.poll():
            # A response is smaller than the socket's buffer, so one read returns all of it.
            answer, now = opened[number].recv(65536), time.perf_counter()
            if not answer:
                sys.exit(f"error: {name}: the daemon closed a connection")
            if answer.startswith(b"HTTP/1.1 200"):
                times.append(1e6 * (now - asked[number]))
            else:
                refused += 1
            if now - start < limit and used < len(requests):
                asked[number] = now
                opened[number].sendall(requests[used])
                used += 1
            else:
                waiting -= 1
    show(rates, name, times, time.perf_counter() - start, refused)


# --------------------------------------------------------------------------------------------------------------- rows

def open_quickly(path):
    """Opens the database of a stopped daemon to insert many rows, without a sync for each transaction: if the machine
    fails, the bench is started again."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -500000")
    return database


def close_durably(database):
    """Writes everything to stable storage, so that this work is not part of a later measurement."""
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    os.sync()


def insert(path, count, resolve, generate):
    """Inserts merchants with two key pairs each, as copies of the rows of the one real key. Writes the URIs of at most
    100,000 keys into the file RESOLVE, in random order, and URIs at which key pairs are generated into the file
    GENERATE."""
    count = int(count)
    db = open_quickly(path)
    one = lambda sql: db.execute(sql).fetchone()
    seal = one("SELECT seal_version, data_key_id, sealed_bytes FROM sealed_private_keys WHERE erased = 0 LIMIT 1")
    spki, csr, created = one("SELECT subject_public_key_info, certificate_signing_request, created_at FROM key_pairs LIMIT 1")
    der, serial, subject, issuer, before, after = one("SELECT der, serial_number, subject, issuer, not_before, not_after FROM certificates LIMIT 1")
    next_id = one("SELECT max(id) FROM sealed_private_keys")[0] + 1
    hashes = []
    for number in range(count):
        name = f"{MERCHANT}.m{number:07d}"
        db.execute("INSERT INTO merchants (identifier, name, target_active_key_pairs, created_at) VALUES (?, ?, 2, ?)", (name, None, created))
        for state in ("current", "standby"):
            key = os.urandom(32)
            hashes.append(key)
            # Each row needs a different certificate: its fingerprint must be unique, and the daemon checks it.
            own = der[:-8] + os.urandom(8)
            db.execute("INSERT INTO sealed_private_keys (id, seal_version, data_key_id, sealed_bytes) VALUES (?, ?, ?, ?)", (next_id, *seal))
            db.execute("INSERT INTO key_pairs (id, public_key_hash, merchant_identifier, algorithm, purpose, origin, state, created_at, state_since, subject_public_key_info, certificate_signing_request) VALUES (?, ?, ?, 'EC_v1', 'paymentProcessing', 'generated', ?, ?, ?, ?, ?)", (next_id, key, name, state, created, created, spki, csr))
            db.execute("INSERT INTO certificates (fingerprint, public_key_hash, der, serial_number, subject, issuer, not_before, not_after, issuer_verified, stored_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)", (hashlib.sha256(own).digest(), key, own, serial, subject, issuer, before, after, created))
            next_id += 1
        if number % CHUNK == CHUNK - 1:
            db.commit()
    close_durably(db)
    random.shuffle(hashes)
    with open(resolve, "w", encoding="utf-8") as out:
        for key in hashes[:100000]:
            out.write("http://localhost/v1/keys/" + base64.urlsafe_b64encode(key).decode().rstrip("=") + "\n")
    with open(generate, "w", encoding="utf-8") as out:
        for number in range(min(count, 20000)):
            out.write(f"http://localhost/v1/merchants/{MERCHANT}.m{number:07d}/keys\n")


def history(path):
    """Adds the uses, rolls and events of several years to the merchants."""
    db = open_quickly(path)
    day = 86400000
    now = db.execute("SELECT max(created_at) FROM key_pairs").fetchone()[0]
    keys = {}
    for number, key, name, state in db.execute("SELECT id, public_key_hash, merchant_identifier, state FROM key_pairs WHERE state IN ('current', 'standby') AND expires_at IS NOT NULL"):
        keys.setdefault(name, {})[state] = (number, key)
    names = [name for name in sorted(keys) if len(keys[name]) == 2]
    for index, name in enumerate(names):
        current, standby = keys[name]["current"], keys[name]["standby"]
        # Certificates expire spread over 25 months; merchants inside the renewal window have an open roll.
        ends = now + (2 + index % 760) * day
        is_open = ends < now + 75 * day
        db.execute("UPDATE certificates SET not_after = ? WHERE public_key_hash = ?", (ends, current[1]))
        db.execute("UPDATE key_pairs SET expires_at = ? WHERE id = ?", (ends, current[0]))
        db.execute("UPDATE key_watches SET due_at = ? WHERE key_pair_id IN (?, ?)", (now + 20 * day, current[0], standby[0]))
        db.execute("INSERT INTO key_uses (key_pair_id, requests_count, requests_first, requests_last) VALUES (?, 7, ?, ?) ON CONFLICT DO NOTHING", (current[0], now - day, now))
        if is_open or index % 4 == 0:
            db.execute("INSERT INTO rolls (merchant_identifier, algorithm, from_key, to_key, started_at, ended_at, reason, step, since, has_next_pair) VALUES (?, 'EC_v1', ?, ?, ?, ?, ?, ?, ?, 1)",
                (name, current[1], standby[1], now - 9 * day, None if is_open else now, None if is_open else "rolled", "certificateStored" if is_open else "finished", now - index % 9 * day))
        if index % CHUNK == CHUNK - 1:
            db.commit()
    kinds = ["certificateStored", "keyPromoted", "certificateExpiringSoon", "rollFinished"]
    for index in range(3 * len(names)):
        name = names[index * 7919 % len(names)]
        db.execute("INSERT INTO events (id, kind, severity, occurred_at, merchant_identifier, public_key_hash, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (os.urandom(16), kinds[index % 4], ["notice", "warning"][index % 5 == 0], now - day + index, name, keys[name]["current"][1], DETAIL))
        if index % (10 * CHUNK) == 0:
            db.commit()
    close_durably(db)


def postgresql(path):
    """Prints a script for psql that inserts the rows of 'insert' and 'history' from a SQLite database into the
    PostgreSQL database of a stopped daemon, which must contain the same real key. The totals and derived columns come
    from SQLite, so the script turns the triggers off: they would change the same few rows for each row that is
    inserted."""
    db = sqlite3.connect(path)
    first, = db.execute("SELECT min(id) FROM key_pairs WHERE merchant_identifier <> ?", (MERCHANT,)).fetchone()
    real, = db.execute("SELECT public_key_hash FROM key_pairs WHERE merchant_identifier = ?", (MERCHANT,)).fetchone()
    # For each table: the condition and value that select the rows, and the column whose values PostgreSQL generates.
    tables = [
        ("merchants", "identifier <> ?", MERCHANT, None), ("sealed_private_keys", "id >= ?", first, None),
        ("key_pairs", "id >= ?", first, None), ("certificates", "public_key_hash <> ?", real, "id"),
        ("key_watches", "key_pair_id >= ?", first, None), ("key_uses", "key_pair_id >= ?", first, None),
        ("rolls", "merchant_identifier <> ?", MERCHANT, "id"), ("events", "detail = ?", DETAIL, "sequence")]
    encode = {
        type(None): lambda _: "\\N", int: str, bytes: lambda value: "\\\\x" + value.hex(),
        str: lambda value: value.translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"})}
    out = sys.stdout
    out.write("SET search_path = merchantkeyd;\nSET session_replication_role = replica;\n")
    for table, condition, value, given in tables:
        columns = ", ".join(column for _, column, *_ in db.execute(f"PRAGMA table_info({table})") if column != given)
        out.write(f"COPY {table} ({columns}) FROM STDIN;\n")
        for row in db.execute(f"SELECT {columns} FROM {table} WHERE {condition}", (value,)):
            out.write("\t".join([encode[type(field)](field) for field in row]) + "\n")
        out.write("\\.\n")
    for name, value in db.execute("SELECT name, value FROM totals"):
        out.write(f"UPDATE totals SET value = {value} WHERE name = '{name}';\n")
    out.write("SELECT setval(pg_get_serial_sequence('sealed_private_keys', 'id'), max(id)) FROM sealed_private_keys;\n")
    # Autovacuum would do this later, during the measurements.
    out.write("VACUUM (ANALYZE);\nCHECKPOINT;\n")


if __name__ == "__main__":
    functions = [report, compare, record, send, insert, history, postgresql]
    {function.__name__: function for function in functions}[sys.argv[1]](*sys.argv[2:])
