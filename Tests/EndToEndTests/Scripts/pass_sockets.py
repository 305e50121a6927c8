"""Create sockets, and become a program that inherits them, as systemd does it: pass_sockets.py SPEC... -- COMMAND...

A SPEC is NAME=TYPE=PATH. TYPE is `stream` (listens), `bound` (does not listen) or `datagram`.
"""
import os, socket, sys

separator = sys.argv.index("--")
specs, command = sys.argv[1:separator], sys.argv[separator + 1:]
names, passed = [], []
for spec in specs:
    name, kind, path = spec.split("=", 2)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
    made.bind(path)
    if kind == "stream":
        made.listen(16)
    names.append(name)
    passed.append(made)
# Descriptors above all that are passed, so that none of these is overwritten.
high = [os.dup2(made.fileno(), 100 + number, inheritable=False) for number, made in enumerate(passed)]
for number, descriptor in enumerate(high):
    os.dup2(descriptor, 3 + number, inheritable=True)
environment = {
    **os.environ, "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(high)), "LISTEN_FDNAMES": ":".join(names),
}
os.execvpe(command[0], command, environment)
