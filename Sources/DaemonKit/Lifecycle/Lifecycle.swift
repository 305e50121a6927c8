import DecryptorServer

/// What the daemon knows about its process from the start to the end: what systemd passed to it, which signals arrive,
/// and whether its servers serve.
struct Lifecycle: Sendable {
    let systemd: SystemdEnvironment
    let signals: DaemonSignals
    let servers = ServerReadiness()
    let loopProbe = EventLoopProbe()
}
