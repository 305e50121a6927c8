import Glibc
import UnixSignals

/// The signals that must not end the daemon: SIGHUP, SIGUSR1 and SIGUSR2. Each of them ends a process that does not
/// handle it.
///
/// Create this value as early as possible. A signal that arrives before ``SignalHandling`` runs is kept.
struct DaemonSignals: Sendable {
    let received: UnixSignalsSequence

    init() async {
        // Without this, a write to a closed connection or pipe would end the daemon.
        signal(SIGPIPE, SIG_IGN)
        received = await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
    }
}
