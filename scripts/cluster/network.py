"""A network of its own for each machine of the cluster: a network namespace with one link to a common switch."""
import os, signal, subprocess

ADDRESS = "10.77.0."
SWITCH = "switch0"


def run(*command, **options):
    """Runs a program, and raises an error with its output if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}')
    return done.stdout


def make_switch():
    """Call this once, in a new network and mount namespace."""
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", SWITCH, "type", "bridge")
    run("ip", "addr", "add", f"{ADDRESS}254/24", "dev", SWITCH)
    run("ip", "link", "set", SWITCH, "up")


class Machine:
    """A machine with an address. Its processes run in its network namespace."""

    def __init__(self, name, number):
        self.name, self.address = name, f"{ADDRESS}{number}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", SWITCH, "up")
        for command in (["addr", "add", f"{self.address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                        ["link", "set", "lo", "up"]):
            run("ip", "-n", name, *command)

    def set_link(self, is_up):
        run("ip", "link", "set", f"to-{self.name}", "up" if is_up else "down")

    def command(self, *command):
        return ["ip", "netns", "exec", self.name, *map(str, command)]

    def start(self, log, *command):
        """Starts a program in a process group of its own, which `kill` ends as a whole."""
        with open(log, "ab") as output:
            return subprocess.Popen(self.command(*command), stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                    start_new_session=True)

    def kill_all(self):
        """Kills every process of the machine."""
        while processes := run("ip", "netns", "pids", self.name).split():
            for process in processes:
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass


def kill(process, number=signal.SIGKILL):
    """Sends a signal to every process of the group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
    if number == signal.SIGKILL:
        process.wait()
