"""Many processes claim the same payment tokens at the same time, over HTTP on the decryptor sockets of one or several daemons.

usage: claim_tokens.py TOKENS MERCHANT PROCESSES REPORT_AFTER SOCKET...
TOKENS contains one complete payment token on each line. Every process claims each token with an Idempotency-Key of its
own, and uses one socket. When a connection fails, the process repeats the request with the same key for at most 30
seconds. A request that gets 503 is also repeated. After REPORT_AFTER responses the script prints a line to standard
error, so that a test can kill the daemon in the middle of the work. At the end it prints one JSON object: "tokens" is
the number of tokens, "tokensByClaims" says how many tokens were claimed 0, 1, 2 or more times, "refused" counts
the refusals by code, and "repeated" counts the claims that had succeeded in an earlier attempt whose response was not
received.
"""
import collections
import json
import multiprocessing
import socket
import sys
import time

tokens_file, merchant, processes, report_after, *paths = sys.argv[1:]
processes, report_after = int(processes), int(report_after)
expected = b',"expected":{"merchantIdentifier":"%s"}}' % merchant.encode()
bodies = []
for line in open(tokens_file):
    bodies.append(b'{"paymentData":' + json.dumps(json.loads(line)["paymentData"]).encode() + expected)


class Client:
    def __init__(self, path):
        self.path = path
        self.connection = None

    def claim(self, body, key):
        """Returns the status and body of the response. Repeats the request with the same key if the connection fails."""
        request = (b"POST /v1/payment-tokens/decrypt HTTP/1.1\r\nHost: test\r\nIdempotency-Key: %s\r\n"
                   b"Content-Length: %d\r\n\r\n" % (key.encode(), len(body))) + body
        end = time.monotonic() + 30
        while True:
            try:
                if self.connection is None:
                    self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    self.connection.settimeout(30)
                    self.connection.connect(self.path)
                self.connection.sendall(request)
                return self.response()
            except OSError:
                self.connection.close()
                self.connection = None
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def response(self):
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.receive()
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split(b":")[1])
        while len(body) < length:
            body += self.receive()
        return int(head.split(b" ")[1]), body

    def receive(self):
        data = self.connection.recv(65536)
        if not data:
            raise ConnectionResetError
        return data


def claim_all(number, start, response_count, results):
    client = Client(paths[number % len(paths)])
    start.wait()
    claimed, repeated, refusals = [], 0, collections.Counter()
    for index, body in enumerate(bodies):
        while True:
            status, response = client.claim(body, f"process {number} token {index}")
            if status != 503:
                break
            time.sleep(0.05)
        if status == 200:
            claimed.append(index)
            repeated += b"by an earlier attempt" in response
        else:
            refusals[json.loads(response)["code"]] += 1
        with response_count.get_lock():
            response_count.value += 1
    results.put((claimed, repeated, refusals))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    start, results, response_count = context.Event(), context.Queue(), context.Value("q", 0)
    workers = [context.Process(target=claim_all, args=(number, start, response_count, results)) for number in range(processes)]
    for worker in workers:
        worker.start()
    start.set()
    while report_after and response_count.value < report_after and any(worker.is_alive() for worker in workers):
        time.sleep(0.01)
    print(f"{report_after} responses", file=sys.stderr, flush=True)
    claims, refusals, repeated = collections.Counter({index: 0 for index in range(len(bodies))}), collections.Counter(), 0
    for _ in workers:
        claimed, again, refused = results.get(timeout=240)
        claims.update(claimed)
        refusals.update(refused)
        repeated += again
    for worker in workers:
        worker.join()
    counts = collections.Counter(claims.values())
    print(json.dumps({"tokens": len(bodies), "tokensByClaims": counts, "refused": refusals, "repeated": repeated}))
