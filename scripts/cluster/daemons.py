"""The daemons of the cluster, and what clients ask them over their Unix sockets."""
import http.client, json, os, shutil, socket, time, urllib.parse

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
            file.write(settings(self))
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
        """Returns the status and the JSON of a response; None as the status if there was no response.

        - Parameter body: bytes, or a value to send as JSON.
        """
        connection = UnixConnection(self.socket_path(name), timeout)
        try:
            connection.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body))
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError):
            return None, {}
        finally:
            connection.close()

    def admin(self, path):
        """The response to a request that must succeed."""
        status, answer = self.ask("admin", "GET", path)
        if status != 200:
            raise RuntimeError(f"GET {path} on {self.name}: {status} {answer}, see {self.log}")
        return answer

    def items(self, path, **query):
        """All items of a list."""
        found, cursor = [], {}
        while True:
            page = self.admin(f"{path}?{urllib.parse.urlencode({'limit': 1000, **query, **cursor})}")
            found += page["items"]
            if "nextCursor" not in page:
                return found
            # The parameter `after` only names the beginning of the first page.
            query.pop("after", None)
            cursor = {"cursor": page["nextCursor"]}

    def control(self, *command):
        text = run(f"{self.programs}/merchantkeyctl", "--socket", self.socket_path("admin"), "--output", "json",
                   *command)
        return json.loads(text) if text else {}


def outcome(status):
    """Whether the daemon executed the request. Without a response, or after a status of 500 or more, this is
    unknown."""
    if status is None or status >= 500:
        return "unknown"
    return "done" if status < 400 else "refused"
