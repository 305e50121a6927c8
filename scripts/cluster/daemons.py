"""The daemons of the cluster, and what clients ask them over their Unix sockets."""
import http.client, json, os, shutil, signal, socket, subprocess, time

from network import kill, run


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, machine, programs, work, settings):
        self.machine, self.programs = machine, programs
        self.name, self.directory = machine.name, os.path.join(work, machine.name)
        self.state, self.log = os.path.join(self.directory, "state"), os.path.join(self.directory, "daemon.log")
        os.makedirs(self.state, mode=0o700)
        self.config = os.path.join(self.directory, "merchantkeyd.yaml")
        with open(self.config, "w") as file:
            file.write(settings(self.name))
        self.process = None

    def socket_path(self, name):
        return os.path.join(self.state, f"{name}.sock")

    def start(self):
        self.process = self.machine.start(self.log, f"{self.programs}/merchantkeyd", "--config", self.config,
                                          "--state-directory", self.state)

    def copy_master_key(self, other):
        shutil.copy2(f"{other.state}/master.key", f"{self.state}/master.key")

    def wait_until_healthy(self, limit=90):
        deadline = time.monotonic() + limit
        while True:
            answers = [self.ask(name, "GET", "/v1/health", timeout=5)[0] for name in ("admin", "decryptor")]
            if answers == [200, 200]:
                return
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} has ended with {self.process.returncode}, see {self.log}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} is not healthy after {limit} s: {answers}, see {self.log}")
            time.sleep(0.05)

    def signal(self, number):
        kill(self.process, number)

    def ask(self, name, method, path, body=None, timeout=60):
        """Returns the status and the JSON of a response; None as the status if there was no response."""
        connection = UnixConnection(self.socket_path(name), timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError):
            return None, {}
        finally:
            connection.close()

    def control(self, *command):
        text = run(f"{self.programs}/merchantkeyctl", "--socket", self.socket_path("admin"), "--output", "json", *command)
        return json.loads(text) if text else {}


def outcome(status):
    """Whether the daemon did what it was asked: a status of 500 or more may mean that the outcome is not known."""
    if status is None or status >= 500:
        return "unknown"
    return "done" if status < 400 else "refused"
