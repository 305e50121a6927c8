"""Sends notifications of merchant tokens to a daemon that is killed repeatedly, until SIGTERM.

usage: notification_stream.py CONTROL CA_FILE REPORT URL MERCHANT [URL MERCHANT ...]

CONTROL is the sandbox's control socket, on which the events are created. URL is a tokenNotificationURL of MERCHANT. Some
notifications are sent twice, as Apple does when it gets no response. A notification without a 200 is sent again later.
After SIGTERM, sends every notification that has no 200 yet again, for at most 60 seconds, and writes REPORT:
{"acknowledged": [event, ...], "unacknowledged": [event, ...], "repeated": number, "failures": number}. "repeated"
counts the notifications that were sent again after a 200, "failures" the attempts without a 200.
"""
import http.client
import json
import random
import signal
import socket
import ssl
import sys
import threading
import time
import urllib.parse

control_path, ca_file, report_path = sys.argv[1:4]
merchants = list(zip(sys.argv[4::2], sys.argv[5::2]))
THREADS = 4
LONGEST_PAUSE = 0.08
LAST_SECONDS = 60

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
context = ssl.create_default_context(cafile=ca_file)
lock = threading.Lock()
acknowledged, failures, repeated = set(), 0, 0


class ControlConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(control_path)


class Sender(threading.Thread):
    """Creates events and sends their notifications over one connection, which is replaced after a failure."""

    def __init__(self, number):
        super().__init__()
        self.number = number
        self.control = ControlConnection("localhost", timeout=30)
        self.connection = None
        self.pending = []  # notifications without a 200: (URL, event)

    def create_event(self):
        url, merchant = random.choice(merchants)
        order = {"eventType": random.choice(["UNLINK", "UPDATED_METADATA"]), "merchantIdentifier": merchant,
                 "merchantTokenIdentifier": f"{merchant[-8:]}-{random.randrange(50)}", "notify": False}
        self.control.request("POST", "/merchant-tokens/events", json.dumps(order))
        return url, json.load(self.control.getresponse())["eventId"]

    def send(self, url, event):
        """Sends a notification once. Returns whether the daemon answered 200."""
        parts = urllib.parse.urlsplit(url)
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=10, context=context)
            self.connection.request("GET", f"{parts.path}/notification/merchantToken/{event}")
            response = self.connection.getresponse()
            response.read()
            return response.status == 200
        except (OSError, http.client.HTTPException):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return False

    def notify(self, url, event):
        global failures, repeated
        for attempt in range(4):
            if self.send(url, event):
                with lock:
                    acknowledged.add(event)
                # Apple repeats a notification whose response it did not receive.
                if random.random() < 0.2:
                    self.send(url, event)
                    with lock:
                        repeated += 1
                return
            with lock:
                failures += 1
        self.pending.append((url, event))

    def run(self):
        while not stop.is_set():
            if self.pending and random.random() < 0.5:
                self.notify(*self.pending.pop(0))
            else:
                self.notify(*self.create_event())
            time.sleep(random.uniform(0, LONGEST_PAUSE))
        end = time.monotonic() + LAST_SECONDS
        while self.pending and time.monotonic() < end:
            self.notify(*self.pending.pop(0))
            if self.pending:
                time.sleep(0.01)


senders = [Sender(number) for number in range(THREADS)]
for sender in senders:
    sender.start()
print("started", flush=True)
for sender in senders:
    while sender.is_alive():
        sender.join(0.1)
report = {"acknowledged": sorted(acknowledged), "repeated": repeated, "failures": failures,
          "unacknowledged": [event for sender in senders for _, event in sender.pending]}
with open(report_path, "w") as file:
    json.dump(report, file)
