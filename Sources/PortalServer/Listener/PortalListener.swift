import Glibc
package import HTTPKit
package import HummingbirdCore
import LocalSocket
package import Logging
import MerchantOperations
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
package import Vocabulary

/// The TCP port of the portal: TLS with HTTP/1.1 and HTTP/2.
///
/// The listener has its own threads, and runs the tasks of all requests on them with a lower priority, so that a flood
/// of requests does not slow down the decryptors. During a graceful shutdown, the listener accepts no further
/// connection and answers the requests that have arrived.
package final class PortalListener: Service {
    /// Responds to a request. If it throws, the connection (HTTP/1.1) or the stream (HTTP/2) is closed without a
    /// response.
    package typealias Respond =
        @Sendable (HummingbirdCore.Request, consuming ResponseWriter, PortalConnection) async throws -> Void
    /// Returns the response to a request that violates a rule of HTTP. The second argument is the request's target; nil
    /// if it is not known.
    package typealias Refuse = @Sendable (HTTPFault, String?, PortalConnection) -> RequestGuard.Refusal

    private let settings: PortalListenerSettings
    private let certificates: PortalCertificates
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let refuse: Refuse
    private let respond: Respond
    private let onListening: @Sendable (Int) -> Void
    private let port = Mutex<Int?>(nil)

    /// - Parameters:
    ///   - now: the daemon's clock, which decides whether a client certificate has expired.
    ///   - onListening: called with the TCP port, as soon as clients can connect.
    ///   - refuse: called on the listener's threads, so it must not block.
    ///   - respond: runs on the listener's threads.
    package init(
        settings: PortalListenerSettings, certificates: PortalCertificates, logger: Logger,
        now: @escaping @Sendable () -> Timestamp, onListening: @escaping @Sendable (Int) -> Void = { _ in },
        refuse: @escaping Refuse, respond: @escaping Respond
    ) {
        self.settings = settings
        self.certificates = certificates
        self.logger = logger
        self.now = now
        self.refuse = refuse
        self.respond = respond
        self.onListening = onListening
    }

    /// The TCP port; nil while the listener is not open.
    package var boundPort: Int? { port.withLock { $0 } }

    /// Serves until a graceful shutdown or a cancellation.
    ///
    /// - Throws: ``PortalListenerError`` if the address cannot be opened.
    package func run() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: PortalLimits.threads)
        lowerPriority(of: loops)
        let executors = EventLoopExecutors(loops)
        let (works, continuation) = AsyncStream.makeStream(of: ConnectionSetup.Work.self)
        let connections = PortalConnections(settings.limits, trustedProxies: settings.trustedProxies)
        let setup = ConnectionSetup(
            settings: settings, certificates: certificates, connections: connections,
            bufferBudget: BufferBudget(settings.limits.buffers), executors: executors, work: continuation,
            log: LimitedLog(logger), now: now, refuse: refuse, respond: respond)
        let server: any Channel
        do {
            server = try await bind(loops, setup)
        } catch {
            try? await loops.shutdownGracefully()
            throw PortalListenerError(
                description:
                    "'portal.listen': cannot listen on \(settings.listen): \(error); choose another address or port, or stop the program that uses it"
            )
        }
        let number = server.localAddress?.port ?? settings.listen.port
        port.withLock { $0 = number }
        onListening(number)
        logger.info("portal listening", metadata: ["address": "\(settings.listen)", "port": "\(number)"])

        // Not child tasks: a cancellation of this task must not interrupt the requests before they are drained.
        let serving = Task(executorPreference: executors[server.eventLoop]) {
            await withDiscardingTaskGroup { tasks in
                for await work in works { tasks.addTask(executorPreference: work.executor) { await work.run() } }
            }
        }
        let watching = Task { [certificates] in await WorkThreads.blocking.run { await certificates.watch() } }
        // gracefulShutdown() throws if the task is cancelled. A cancellation stops the listener in the same way.
        try? await gracefulShutdown()
        await drain(server, connections, loops)
        watching.cancel()
        continuation.finish()
        await serving.value
        await watching.value
        try await loops.shutdownGracefully()
        port.withLock { $0 = nil }
        logger.info("portal closed", metadata: ["address": "\(settings.listen)"])
    }

    private func bind(_ loops: MultiThreadedEventLoopGroup, _ setup: ConnectionSetup) async throws -> any Channel {
        try await ServerBootstrap(group: loops)
            .serverChannelOption(.backlog, value: PortalLimits.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Pauses accepting while no file descriptor is free. Otherwise the thread would retry in a loop.
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try setup.start(channel) }
            }
            // One read at a time, so that a connection that always has data cannot delay the other connections.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: PortalLimits.readBytes)
            )
            .bind(host: settings.listen.host, port: settings.listen.port)
            .get()
    }

    private func lowerPriority(of loops: MultiThreadedEventLoopGroup) {
        for loop in loops.makeIterator() {
            loop.execute { [logger] in
                // On Linux, process 0 means the calling thread: setpriority(2).
                if setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, PortalLimits.niceness) != 0 {
                    logger.debug("the portal's threads keep the process's priority")
                }
            }
        }
    }

    /// Accepts no further connection, waits until the open connections have finished their requests, and after the
    /// drain time closes the connections that are still open.
    private func drain(
        _ server: any Channel, _ connections: PortalConnections, _ loops: MultiThreadedEventLoopGroup
    ) async {
        await server.stopAccepting(connectionsOn: loops)
        let open = connections.beginDrain()
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(DrainEvent()) }
        let timeout = server.eventLoop.scheduleTask(in: settings.limits.drainTime) {
            for channel in open { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: server.eventLoop).get()
        timeout.cancel()
    }
}

/// Why the portal's address cannot be opened.
package struct PortalListenerError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
