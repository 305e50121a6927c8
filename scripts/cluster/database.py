"""A primary PostgreSQL server with a synchronous standby, each on a machine of its own."""
import os, shutil, time

from network import kill, run

PROGRAMS = "/usr/lib/postgresql/15/bin"
USER = "postgres"
PASSWORD = "cluster-test"
NAME = "merchantkeyd"


def as_user(*command):
    return ["env", "--chdir=/", "HOME=/nonexistent", "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
            *map(str, command)]


def make_certificates(directory, address):
    """A certificate authority, and one certificate for both servers and for the webhook, which has the address."""
    os.makedirs(directory)
    path = lambda name: os.path.join(directory, name)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
        "-subj", "/CN=Cluster Test", "-keyout", path("ca.key"), "-out", path("ca.pem"))
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=db1",
        "-keyout", path("server.key"), "-out", path("server.csr"))
    with open(path("names"), "w") as names:
        names.write(f"subjectAltName=DNS:db1,DNS:db2,IP:{address}\n")
    run("openssl", "x509", "-req", "-in", path("server.csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
        "-days", "30", "-extfile", path("names"), "-out", path("server.pem"))
    for name in ("server.key", "server.pem"):
        shutil.chown(path(name), USER, USER)
    os.chmod(path("server.key"), 0o600)


class Server:
    def __init__(self, machine, host, work, certificates):
        self.machine, self.host, self.certificates = machine, host, certificates
        self.data, self.log = os.path.join(work, host), os.path.join(work, f"{host}.log")
        self.sockets = os.path.join(work, f"{host}.sockets")
        os.makedirs(self.sockets)
        shutil.chown(self.sockets, USER, USER)
        self.process = None

    def create(self):
        """Creates an empty database cluster, and the database for the daemons."""
        self.make_directory()
        password = f"{self.data}.password"
        with open(password, "w") as file:
            file.write(PASSWORD)
        os.chmod(password, 0o644)
        run(*as_user(f"{PROGRAMS}/initdb", "-D", self.data, "-U", NAME, f"--pwfile={password}", "-E", "UTF8",
                     "--auth=scram-sha-256", "--wal-segsize=1", "--no-sync"))
        with open(f"{self.data}/pg_hba.conf", "w") as rules:
            rules.write("local all all trust\nhostssl replication all 10.77.0.0/24 scram-sha-256\n"
                        "hostssl all all 10.77.0.0/24 scram-sha-256\n")
        self.start()
        self.sql(f"CREATE DATABASE {NAME}", database="postgres")

    def make_directory(self):
        shutil.rmtree(self.data, ignore_errors=True)
        os.makedirs(self.data, mode=0o700)
        shutil.chown(self.data, USER, USER)

    def start(self):
        settings = {
            "listen_addresses": self.machine.address, "unix_socket_directories": self.sockets, "ssl": "on",
            "ssl_cert_file": f"{self.certificates}/server.pem", "ssl_key_file": f"{self.certificates}/server.key",
            "max_connections": "100", "shared_buffers": "32MB", "wal_keep_size": "64MB", "hot_standby": "on",
            "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self.process = self.machine.start(self.log, *as_user(f"{PROGRAMS}/postgres", "-D", self.data, *options))
        deadline = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.host} did not start, see {self.log}")
            time.sleep(0.05)

    def answers(self):
        try:
            return self.sql("SELECT 1", database="postgres") == "1"
        except RuntimeError:
            return False

    def sql(self, statement, database=NAME):
        return run(*as_user(f"{PROGRAMS}/psql", "-h", self.sockets, "-U", NAME, "-d", database, "-XAtqc",
                             statement)).strip()

    def kill(self):
        """Ends every process of the server at once, with kill -9."""
        kill(self.process)
        # The server's other processes have process groups of their own, and would end by themselves some time later.
        self.machine.kill_all()

    def become_standby(self, primary):
        """Replaces the data with a copy of the primary's, and follows the primary."""
        self.make_directory()
        source = (f"host={primary.host} hostaddr={primary.machine.address} user={NAME} password={PASSWORD} "
                  f"sslmode=verify-full sslrootcert={self.certificates}/ca.pem application_name={self.host}")
        run(*self.machine.command(*as_user(f"{PROGRAMS}/pg_basebackup", "-d", source, "-D", self.data, "-R", "-X",
                                           "stream", "-c", "fast", "--no-sync")))
        with open(f"{self.data}/postgresql.auto.conf", "a") as settings:
            settings.write("synchronous_standby_names = ''\n")
        self.start()
        primary.require_standby(self.host)

    def require_standby(self, name):
        """Makes each commit wait for the standby. Returns when the standby is synchronous."""
        self.set("synchronous_standby_names", name)
        deadline = time.monotonic() + 60
        while self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.host} has no synchronous standby, see {self.log}")
            time.sleep(0.05)

    def set(self, name, value):
        self.sql(f"ALTER SYSTEM SET {name} = '{value}'", database="postgres")
        self.sql("SELECT pg_reload_conf()", database="postgres")

    def promote(self):
        run(*as_user(f"{PROGRAMS}/pg_ctl", "promote", "-D", self.data, "-w"))
