import Glibc
import UnixSignals

/// The signals that must not terminate the daemon: SIGHUP, SIGUSR1 and SIGUSR2. Each of them terminates a process that
/// does not handle it.
///
/// Create this value as early as possible. A signal that arrives before ``SignalHandling`` runs is handled later.
struct DaemonSignals: Sendable {
    let received: UnixSignalsSequence

    init() async {
        // Without this, a write to a closed connection or pipe would terminate the daemon.
        signal(SIGPIPE, SIG_IGN)
        received = await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
    }
}
