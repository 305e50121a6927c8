import DecryptorServer

/// The state of the daemon's process: what systemd passed to it, which signals arrive, and whether its servers are
/// ready.
struct Lifecycle: Sendable {
    let systemd: SystemdEnvironment
    let signals: DaemonSignals
    let servers = ServerReadiness()
    let loopProbe = EventLoopProbe()
}
