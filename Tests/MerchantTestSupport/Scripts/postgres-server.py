#!/usr/bin/env python3
"""Runs a PostgreSQL server for tests in a new directory, until standard input ends. Then stops it and removes the directory.

usage: postgres-server.py [SETTING=VALUE ...]

Prints the directory of the Unix socket and the path of psql once the server accepts connections. Standard input accepts two commands, one on each
line: 'crash' stops the server as a crash does, 'start' starts it again. Each prints 'done'. root cannot run PostgreSQL, so
if the user is root, the server runs as the user nobody.
"""
import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

# A signal to the group of the test process, such as Ctrl-C, must not end this process before it stopped the server.
os.setsid()


def program(name):
    """The path of a program of the newest PostgreSQL; Debian does not put these programs on PATH."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    path = found[-1] if found else shutil.which(name)
    if not path:
        sys.exit(f"there is no program {name}: install PostgreSQL, for example with apt-get install postgresql")
    return path


directory = tempfile.mkdtemp(prefix="mkd-pg-", dir="/tmp")
data = f"{directory}/data"
identity = {}
if os.getuid() == 0:
    nobody = pwd.getpwnam("nobody")
    os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def run(*command):
    with open(f"{directory}/commands.log", "ab") as log:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **identity)


def start():
    settings = ["listen_addresses=", f"unix_socket_directories={directory}", *sys.argv[1:]]
    options = " ".join(f"-c {setting}" for setting in settings)
    run(program("pg_ctl"), "start", "-w", "-t", "60", "-D", data, "-l", f"{directory}/server.log", "-o", options)


def stop():
    run(program("pg_ctl"), "stop", "-w", "-m", "immediate", "-D", data)


try:
    run(program("initdb"), "-D", data, "-U", "merchantkeyd", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    start()
    print(directory, program("psql"), flush=True)
    for line in sys.stdin:
        {"crash": stop, "start": start}[line.strip()]()
        print("done", flush=True)
except subprocess.CalledProcessError as error:
    for name in ("commands.log", "server.log"):
        if os.path.exists(f"{directory}/{name}"):
            sys.stderr.write(open(f"{directory}/{name}", encoding="utf-8").read())
    sys.exit(str(error))
finally:
    subprocess.run(
        [program("pg_ctl"), "stop", "-w", "-m", "immediate", "-D", data], cwd="/", stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **identity)
    shutil.rmtree(directory, ignore_errors=True)
