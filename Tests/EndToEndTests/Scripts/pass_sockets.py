"""Create sockets, and become a program that inherits them, as systemd does: pass_sockets.py SPEC... -- COMMAND...

A SPEC is NAME=TYPE=PATH. TYPE is `stream` (listens), `bound` (does not listen) or `datagram`.
"""
import os, socket, sys

separator = sys.argv.index("--")
specs, command = sys.argv[1:separator], sys.argv[separator + 1:]
names, passed = [], []
for spec in specs:
    name, kind, path = spec.split("=", 2)
    unix_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
    unix_socket.bind(path)
    if kind == "stream":
        unix_socket.listen(16)
    names.append(name)
    passed.append(unix_socket)
# Copies with high numbers, so that the copies from number 3 on overwrite no socket that must still be copied.
high = [os.dup2(passed_socket.fileno(), 100 + number, inheritable=False) for number, passed_socket in enumerate(passed)]
for number, descriptor in enumerate(high):
    os.dup2(descriptor, 3 + number, inheritable=True)
environment = {
    **os.environ, "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(high)), "LISTEN_FDNAMES": ":".join(names),
}
os.execvpe(command[0], command, environment)
