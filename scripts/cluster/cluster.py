"""Three daemons, a primary database server with a synchronous standby, and a webhook; and the faults of a round."""
import os, random, signal, threading, time

from apple import Apple
from daemons import Daemon
from database import NAME, PASSWORD, Server, make_certificates
from network import Machine
from webhook import Webhook

FAULTS = ["kill", "freeze", "cut", "failover"]


class Fault:
    """What fails in a round. The clients wait for `begun` and `repaired`, to ask for changes at these times."""

    def __init__(self, kind, victim, healthy):
        """- Parameter victim: the daemon that fails; None if a server fails."""
        self.kind, self.victim, self.healthy = kind, victim, healthy
        self.begun, self.repaired = threading.Event(), threading.Event()


class Cluster:
    def __init__(self, programs, work, lease):
        self.work, self.lease, self.rebuilding = work, lease, None
        certificates = os.path.join(work, "tls")
        receiver = Machine("webhook", 21)
        make_certificates(certificates, receiver.address)
        os.chmod(certificates, 0o755)
        self.primary, self.standby = (Server(Machine(f"db{n}", n), f"db{n}", work, certificates) for n in (1, 2))
        self.servers = [self.primary, self.standby]
        self.primary.create()
        self.standby.become_standby(self.primary)
        self.apple = Apple(programs, work)
        machines = [Machine(f"node{n}", 10 + n) for n in (1, 2, 3)]
        self.webhook = Webhook(receiver, work, certificates, {machine.address: machine.name for machine in machines})
        self.password = os.path.join(work, "password")
        with open(self.password, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(PASSWORD + "\n")
        self.connection = (
            f"host={','.join(server.host for server in self.servers)} "
            f"hostaddr={','.join(server.machine.address for server in self.servers)} user={NAME} dbname={NAME} "
            f"target_session_attrs=read-write connect_timeout=2 sslmode=verify-full sslrootcert={certificates}/ca.pem")
        self.daemons = [Daemon(machine, programs, work, self.settings) for machine in machines]
        for index, daemon in enumerate(self.daemons):
            if index > 0:
                daemon.copy_master_key(self.daemons[0])
            daemon.start()
            daemon.wait_until_healthy()

    def settings(self, daemon):
        # At its next start, a daemon that was killed compares the database with the last audit head, also after a
        # failover.
        return f"""
environment: sandbox
trust: {{token-roots: ["{self.apple.directory}/root.pem"]}}
store:
  kind: postgresql
  postgresql:
    connection: {self.connection}
    password-file: {self.password}
    node: {daemon.name}
    lease: {self.lease}s
audit: {{head: {{file: "{daemon.directory}/heads", every: 1s, event-every: 1s}}}}
events:
  webhooks:
    - name: receiver
      url: "{self.webhook.url}"
      secret-file: "{self.webhook.secret}"
      trust-roots: ["{self.webhook.root}"]
      allow-internal-addresses: true
"""

    def choose_fault(self, kind, chance):
        """- Parameter chance: the random numbers that choose the daemon. In at least half of the cases, the daemon is
        the leader."""
        victim, leads = chance.choice(self.daemons), chance.random() < 0.5
        if kind == "failover":
            return Fault(kind, None, self.daemons)
        if leads:
            names = [node["name"] for node in self.daemons[0].admin("/v1/nodes")["items"] if node["isLeader"]]
            victim = next((daemon for daemon in self.daemons if daemon.name in names), victim)
        return Fault(kind, victim, [daemon for daemon in self.daemons if daemon is not victim])

    def break_and_repair(self, fault):
        # A change on another daemon waits for at most a second more than the lease. So some changes are acknowledged
        # while the failed daemon is still frozen or cut off.
        longer_than_lease = self.lease + random.uniform(0.5, 2)
        if fault.kind == "kill":
            fault.victim.signal(signal.SIGKILL)
            fault.begun.set()
            time.sleep(random.uniform(0, longer_than_lease))
            fault.victim.start()
        elif fault.kind == "freeze":
            fault.victim.signal(signal.SIGSTOP)
            fault.begun.set()
            time.sleep(longer_than_lease)
            fault.victim.signal(signal.SIGCONT)
        elif fault.kind == "cut":
            fault.victim.machine.set_link(False)
            fault.begun.set()
            time.sleep(longer_than_lease)
            fault.victim.machine.set_link(True)
        else:
            self.primary.kill()
            fault.begun.set()
            time.sleep(random.uniform(0, 1))
            self.standby.promote()
            self.primary, self.standby = self.standby, self.primary
            self.rebuilding = Rebuilding(self.standby, self.primary)
        fault.repaired.set()

    def wait_for_standby(self):
        """Waits until the standby is synchronous, so that each acknowledged change is on the standby too."""
        if self.rebuilding:
            self.rebuilding.finish()
            self.rebuilding = None

    def wait_until_healthy(self):
        for daemon in self.daemons:
            daemon.wait_until_healthy()

    def close(self):
        self.wait_for_standby()
        for daemon in self.daemons:
            if daemon.process and daemon.process.poll() is None:
                daemon.signal(signal.SIGCONT)
                daemon.signal(signal.SIGKILL)
        for server in self.servers:
            if server.process and server.process.poll() is None:
                server.kill()
        self.webhook.close()


class Rebuilding(threading.Thread):
    """Makes a server the standby, while the clients use the primary."""

    def __init__(self, standby, primary):
        super().__init__()
        self.standby, self.primary, self.error = standby, primary, None
        self.start()

    def run(self):
        try:
            self.standby.become_standby(self.primary)
        except RuntimeError as error:
            self.error = error

    def finish(self):
        self.join()
        if self.error:
            raise self.error
