"""Many processes claim the same payment tokens at once, over raw HTTP on the decryptor's socket.

usage: claim_tokens.py SOCKET TOKENS MERCHANT PROCESSES WAITS_FOR
TOKENS has a whole payment token a line. Every process asks for each of them, with an Idempotency-Key of its own for each; when
a connection breaks or nobody listens, it asks again with the same key, for half a minute at most. After WAITS_FOR answers it
says so on standard error, so that somebody can kill the daemon in the middle.
Prints one JSON object: how many tokens there are, how often each count of winners occurred, refusals by code, and how
many answers were repeats of a claim whose first answer was lost.
"""
import collections
import json
import multiprocessing
import socket
import sys
import time

path, tokens_file, merchant, processes, waits_for = sys.argv[1:6]
processes, waits_for = int(processes), int(waits_for)
expected = b',"expected":{"merchantIdentifier":"%s"}}' % merchant.encode()
bodies = []
for line in open(tokens_file):
    bodies.append(b'{"paymentData":' + json.dumps(json.loads(line)["paymentData"]).encode() + expected)


class Client:
    def __init__(self):
        self.connection = None

    def ask(self, body, key):
        """The answer's status and body; whatever breaks is asked again with the same key."""
        request = (b"POST /v1/payment-tokens/decrypt HTTP/1.1\r\nHost: test\r\nIdempotency-Key: %s\r\n"
                   b"Content-Length: %d\r\n\r\n" % (key.encode(), len(body))) + body
        patience = time.monotonic() + 30
        while True:
            try:
                if self.connection is None:
                    self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    self.connection.settimeout(30)
                    self.connection.connect(path)
                self.connection.sendall(request)
                return self.answer()
            except OSError:
                self.connection.close()
                self.connection = None
                if time.monotonic() > patience:
                    raise
                time.sleep(0.02)

    def answer(self):
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.some()
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split(b":")[1])
        while len(body) < length:
            body += self.some()
        return int(head.split(b" ")[1]), body

    def some(self):
        data = self.connection.recv(65536)
        if not data:
            raise ConnectionResetError
        return data


def claim_all(number, start, answered, results):
    client = Client()
    start.wait()
    won, repeated, refusals = [], 0, collections.Counter()
    for index, body in enumerate(bodies):
        while True:
            status, answer = client.ask(body, f"process {number} token {index}")
            if status != 503:
                break
            time.sleep(0.05)
        if status == 200:
            won.append(index)
            repeated += b"by an earlier attempt" in answer
        else:
            refusals[json.loads(answer)["code"]] += 1
        with answered.get_lock():
            answered.value += 1
    results.put((won, repeated, refusals))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    start, results, answered = context.Event(), context.Queue(), context.Value("q", 0)
    workers = [context.Process(target=claim_all, args=(number, start, answered, results)) for number in range(processes)]
    for worker in workers:
        worker.start()
    start.set()
    while waits_for and answered.value < waits_for and any(worker.is_alive() for worker in workers):
        time.sleep(0.01)
    print("in the middle", file=sys.stderr, flush=True)
    winners, refusals, repeated = collections.Counter({index: 0 for index in range(len(bodies))}), collections.Counter(), 0
    for _ in workers:
        won, again, refused = results.get(timeout=120)
        winners.update(won)
        refusals.update(refused)
        repeated += again
    for worker in workers:
        worker.join()
    counts = collections.Counter(winners.values())
    print(json.dumps({"tokens": len(bodies), "wonTimes": counts, "refused": refusals, "repeated": repeated}))
