"""Forwards connections from a TCP port of 127.0.0.1 to a Unix socket, which schemathesis itself cannot use."""
import socket
import threading


class UnixProxy:
    """`with UnixProxy(path) as port`: forwards the port's connections to the socket until the end of the block."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self.listener.getsockname()[1]

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.path)
            except OSError:
                client.close()
                server.close()
                continue
            ends = threading.Semaphore(0)
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, target, ends), daemon=True).start()
            threading.Thread(target=self._close, args=(client, server, ends), daemon=True).start()

    @staticmethod
    def _copy(source, target, ends):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One side has closed the connection, so the other direction ends too.
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        ends.release()

    @staticmethod
    def _close(client, server, ends):
        ends.acquire()
        ends.acquire()
        client.close()
        server.close()
