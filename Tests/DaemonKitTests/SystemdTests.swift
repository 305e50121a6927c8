import DaemonKit
import Logging
import MerchantTestSupport
import ServiceLifecycle
import Testing
import WireAPI

/// What the daemon reports to systemd.
@Suite(.timeLimit(.minutes(1))) struct SystemdTests {
    private let scratch: Scratch
    private let socket: NotifySocket
    private let notifier: SystemdNotifier

    init() throws {
        scratch = try Scratch()
        socket = NotifySocket(scratch.path("notify"))
        notifier = SystemdNotifier(address: socket.path)
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `each message has the assignments that systemd reads`() {
        notifier.send(.ready(status: "serving\nREADY=0"))
        #expect(socket.next(within: 1) == "READY=1\nSTATUS=serving READY=0")
        notifier.send(.starting(status: "opening", longest: .seconds(90)))
        #expect(socket.next(within: 1) == "EXTEND_TIMEOUT_USEC=90000000\nSTATUS=opening")
        notifier.send(.watchdog)
        #expect(socket.next(within: 1) == "WATCHDOG=1")
        notifier.send(.reloading)
        let message = socket.next(within: 1)
        #expect(message?.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=[0-9]+/) != nil, "\(message ?? "none")")
    }

    @Test func `without systemd nothing is sent, and a socket that does not exist is reported`() {
        #expect(SystemdNotifier(address: nil).send(.watchdog) == nil)
        #expect(SystemdNotifier(address: "relative").send(.watchdog) == nil)
        #expect(SystemdNotifier(address: scratch.path("nowhere")).send(.watchdog) != nil)
    }

    @Test func `the interval of the watchdog counts if WATCHDOG_PID is this process or not set`() {
        func interval(_ variables: [String: String]) -> Duration? {
            SystemdEnvironment(variables, process: 7).watchdogInterval
        }
        #expect(interval(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        for invalid in ["0", "-1", "", "x"] { #expect(interval(["WATCHDOG_USEC": invalid]) == nil, "\(invalid)") }
        #expect(interval([:]) == nil)
    }

    @Test func `the daemon is ready when both servers listen, and stops with the shutdown`() async throws {
        let servers = ServerReadiness()
        let service = ServiceNotifications(
            notifier: notifier, servers: servers, health: { HealthDocument(reasons: []) }, logger: Self.quiet)
        let group = ServiceGroup(services: [service], logger: Self.quiet)
        async let end: Void = group.run()
        servers.didStartListening(.decryptor)
        #expect(await message(within: 0) == nil)
        servers.didStartListening(.admin)
        #expect(await message(within: 10) == "READY=1\nSTATUS=serving; 0 findings")
        await group.triggerGracefulShutdown()
        #expect(await message(within: 10)?.hasPrefix("STOPPING=1\n") == true)
        try await end
    }

    @Test func `a shutdown before the servers listen is reported, and the daemon was never ready`() async throws {
        let service = ServiceNotifications(
            notifier: notifier, servers: ServerReadiness(), health: { HealthDocument(reasons: []) }, logger: Self.quiet)
        let group = ServiceGroup(services: [service], logger: Self.quiet)
        await group.triggerGracefulShutdown()
        try await group.run()
        #expect(await message(within: 1)?.hasPrefix("STOPPING=1\n") == true)
    }

    /// Receives on a thread that may block.
    private func message(within seconds: Int) async -> String? {
        await withCheckedContinuation { continuation in
            BlockingThread.run { [socket] in continuation.resume(returning: socket.next(within: seconds)) }
        }
    }
}
