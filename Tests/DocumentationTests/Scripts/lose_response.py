"""Stands between a client and the decryptor socket, and loses the response on the first connection.

usage: lose_response.py LISTEN DAEMON
"""
import socket
import sys
import threading

listen, daemon = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.bind(listen)
server.listen()
print("listening", flush=True)


def copy(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # The other side has closed the connection.


is_first = True
while True:
    client, _ = server.accept()
    upstream = socket.socket(socket.AF_UNIX)
    upstream.connect(daemon)
    threading.Thread(target=copy, args=(client, upstream), daemon=True).start()
    if is_first:
        # The daemon has answered, so it has claimed the payment.
        upstream.recv(65536)
        # Not close() alone: the other thread's read would keep the connection open.
        client.shutdown(socket.SHUT_RDWR)
        is_first = False
    else:
        threading.Thread(target=copy, args=(upstream, client), daemon=True).start()
