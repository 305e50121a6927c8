"""Sends junk notifications of merchant tokens from one address, and real ones from another at the same time.

usage: notification_flood.py CONTROL CA_FILE RECEIVED REPORT JUNK REAL URL MERCHANT

CONTROL is the sandbox's control socket, on which the real events are created. RECEIVED is the file in which the
receiver of webhooks records deliveries. JUNK and REAL are the numbers of notifications of each sort. URL is a
tokenNotificationURL of MERCHANT with a secret. The sender of junk knows the URL, too: junk consists of valid
identifiers that Apple does not know, with and without the secret, and of invalid identifiers and secrets. Junk comes
from 127.0.0.2, real notifications from 127.0.0.3 while the junk arrives. A real notification without a 200 is repeated
at once, at most three times, as Apple does.

Writes REPORT: {"junk": {status or error: number}, "junkSeconds", "refused": [event, ...], "delays": [seconds from the
first attempt to the delivery, ...], "missing": [event, ...]}.
"""
import collections
import http.client
import json
import os
import re
import secrets
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

control_path, ca_file, received_path, report_path = sys.argv[1:5]
junk_count, real_count = int(sys.argv[5]), int(sys.argv[6])
url, merchant = urllib.parse.urlsplit(sys.argv[7]), sys.argv[8]
JUNK_THREADS, BATCH = 8, 25
LONGEST_DELAY = 60

context = ssl.create_default_context(cafile=ca_file)
base = url.path.rsplit("/", 1)[0]
sent_junk, statuses, lock = 0, collections.Counter(), threading.Lock()
junk_ended = threading.Event()


def connect(source):
    plain = socket.create_connection((url.hostname, url.port), 30, (source, 0))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname=url.hostname)


def junk_path(number):
    kind = number % 10
    if kind < 6:
        return f"{url.path}/notification/merchantToken/{uuid.uuid4()}"
    if kind < 8:
        return f"{base}/notification/merchantToken/{uuid.uuid4()}"
    if kind == 8:
        return f"{base}/{secrets.token_hex(16)}/notification/merchantToken/{uuid.uuid4()}"
    return f"{base}/notification/merchantToken/%20{'x' * 200}"


class Junk(threading.Thread):
    """Sends batches of pipelined requests on one connection."""

    def run(self):
        global sent_junk
        connection = None
        while True:
            with lock:
                first = sent_junk
                count = min(BATCH, junk_count - first)
                sent_junk += count
            if count <= 0:
                return
            requests = "".join(
                f"GET {junk_path(n)} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n" for n in range(first, first + count))
            try:
                connection = connection or connect("127.0.0.2")
                connection.sendall(requests.encode())
                found = self.read(connection, count)
            except OSError as error:
                found, connection = [type(error).__name__] * count, None
            with lock:
                statuses.update(found)

    @staticmethod
    def read(connection, count):
        found, buffer = [], b""
        while len(found) < count:
            end = buffer.find(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", buffer[:end]) if end >= 0 else None
            size = end + 4 + int(length[1]) if length else None
            if size is not None and len(buffer) >= size:
                found.append(buffer[9:12].decode())
                buffer = buffer[size:]
                continue
            part = connection.recv(65536)
            if not part:
                raise ConnectionResetError
            buffer += part
        return found


class ControlConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(control_path)


def notify(event):
    """Sends a notification up to four times. Returns whether the daemon answered 200."""
    for _ in range(4):
        try:
            connection = http.client.HTTPSConnection(
                url.hostname, url.port, timeout=20, context=context, source_address=("127.0.0.3", 0))
            connection.request("GET", f"{url.path}/notification/merchantToken/{event}")
            status = connection.getresponse().status
            connection.close()
            if status == 200:
                return True
        except (OSError, http.client.HTTPException):
            pass
    return False


def send_real():
    control = ControlConnection("localhost", timeout=30)
    sent, refused = {}, []
    for number in range(real_count):
        # The real notifications are spread over the whole flood.
        while sent_junk < number * junk_count / real_count and not junk_ended.is_set():
            time.sleep(0.005)
        order = {"eventType": "UPDATED_CARD_ART", "merchantIdentifier": merchant, "notify": False,
                 "merchantTokenIdentifier": f"token-{number}"}
        control.request("POST", "/merchant-tokens/events", json.dumps(order))
        event = json.load(control.getresponse())["eventId"]
        sent[event] = time.monotonic()
        if not notify(event):
            refused.append(event)
    return sent, refused


class Deliveries(threading.Thread):
    """Records when each event was first delivered."""

    def __init__(self):
        super().__init__(daemon=True)
        self.at = {}

    def run(self):
        while not os.path.exists(received_path):
            time.sleep(0.01)
        with open(received_path) as file:
            rest = ""
            while True:
                rest += file.read()
                *lines, rest = rest.split("\n")
                for line in lines:
                    report = json.loads(line)["event"].get("merchantToken", {})
                    self.at.setdefault(report.get("eventIdentifier"), time.monotonic())
                time.sleep(0.01)


deliveries = Deliveries()
deliveries.start()
threads = [Junk() for _ in range(JUNK_THREADS)]
start = time.monotonic()


def wait_for_junk():
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    junk_ended.set()


flood = threading.Thread(target=wait_for_junk)
flood.start()
real, refused = send_real()
flood.join()
junk_seconds = time.monotonic() - start
end = max(real.values()) + LONGEST_DELAY
while time.monotonic() < end and not set(real) <= set(deliveries.at):
    time.sleep(0.05)
delays = sorted(deliveries.at[event] - time_sent for event, time_sent in real.items() if event in deliveries.at)
with open(report_path, "w") as file:
    json.dump({"junk": dict(statuses), "junkSeconds": round(junk_seconds, 1), "refused": refused,
               "delays": [round(delay, 3) for delay in delays],
               "missing": sorted(set(real) - set(deliveries.at))}, file)
