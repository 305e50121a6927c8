import Glibc
import HTTPKit
import LocalSocket
package import Logging
package import MerchantCore
package import MerchantOperations
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
package import WireAPI

/// REST for decryptors on a Unix socket: resolve a publicKeyHash, restore a symmetric key, decrypt and check a token.
///
/// The socket has its mode from its first moment. A caller is who the kernel says it was when it connected, and may do
/// what the policy grants it. On graceful shutdown nothing new is accepted, what was asked is answered, and it ends.
package struct DecryptorServer: Service {
    private let socketPath: String
    private let socketMode: UInt32
    private let operations: PaymentTokenOperations
    private let refusals: RefusalLog
    private let integrity: IntegrityFindings
    private let policy: CallerPolicy
    private let health: @Sendable () -> HealthDocument
    private let answers: AnswerCache
    private let limits: Limits
    private let logger: Logger

    /// - Parameters:
    ///   - socketPath: replaced if a socket is there.
    ///   - health: called on an event loop: it must not wait.
    ///   - answers: told of key changes by the store.
    package init(
        socketPath: String, socketMode: UInt32, operations: PaymentTokenOperations, refusals: RefusalLog,
        integrity: IntegrityFindings, policy: CallerPolicy,
        health: @escaping @Sendable () -> HealthDocument, answers: AnswerCache, limits: Limits = Limits(),
        logger: Logger
    ) {
        self.socketPath = socketPath
        self.socketMode = socketMode
        self.operations = operations
        self.refusals = refusals
        self.integrity = integrity
        self.policy = policy
        self.health = health
        self.answers = answers
        self.limits = limits
        self.logger = logger
    }

    /// Serves until graceful shutdown or cancellation.
    package func run() async throws {
        let listener = try UnixListener.listen(path: socketPath, mode: socketMode, backlog: Limits.backlog)
        defer { listener.remove() }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
        // A flood of connections is accepted, and dropped, beside the work for those that are open.
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        preferThreads(of: loops)
        let pool = BlockingPool(threads: max(2, System.coreCount))
        let (jobs, jobsEnd) = AsyncStream.makeStream(of: OffLoopWork.Job.self)
        let connections = ConnectionAdmission(limits.connections)
        let environment = ConnectionHandler.Environment(
            endpoints: Endpoints(
                operations: operations, answers: answers, health: HealthResponses(health), blockingPool: pool),
            problems: Problems(log: LimitedLog(logger), damage: integrity),
            work: OffLoopWork(bound: limits.waitingRequests, pool: pool, jobs: jobsEnd), limits: limits)
        let turns = try await FairTurnsOfLoops(loops)
        let server = try await bootstrap(acceptor, loops, connections, environment, turns).withBoundSocket(
            listener.descriptor
        )
        .get()
        logger.info("decryptor socket open", metadata: ["path": "\(socketPath)"])
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                // Thrown where the service is cancelled: the end is the same.
                try? await gracefulShutdown()
                await drain(server, connections)
                jobsEnd.finish()
            }
            for await job in jobs { tasks.addTask { await job() } }
        }
        try await acceptor.shutdownGracefully()
        try await loops.shutdownGracefully()
        try await pool.shutDown()
        logger.info("decryptor socket closed", metadata: ["path": "\(socketPath)"])
    }

    /// Lets the event loops run before the rest of the daemon where the processor is contended, as far as the process may:
    /// RLIMIT_NICE, which the systemd unit sets, or CAP_SYS_NICE.
    private func preferThreads(of loops: MultiThreadedEventLoopGroup) {
        for loop in loops.makeIterator() {
            loop.execute {
                // On Linux, 0 is the calling thread: setpriority(2).
                if setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Limits.niceness) != 0 {
                    logger.debug("the decryptor socket's threads keep the process's priority")
                }
            }
        }
    }

    private func bootstrap(
        _ acceptor: MultiThreadedEventLoopGroup, _ loops: MultiThreadedEventLoopGroup,
        _ connections: ConnectionAdmission,
        _ environment: ConnectionHandler.Environment, _ turns: FairTurnsOfLoops
    ) -> ServerBootstrap {
        ServerBootstrap(group: acceptor, childGroup: loops)
            // Out of file descriptors, accepting pauses instead of spinning.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try begin(channel, connections, environment, turns) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Limits.readBytes))
    }

    private func begin(
        _ channel: any Channel, _ connections: ConnectionAdmission, _ environment: ConnectionHandler.Environment,
        _ turns: FairTurnsOfLoops
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        guard let credentials = try credentials(of: channel) else { return channel.close(promise: nil) }
        let grants = policy.grants(
            uid: credentials.uid, groups: credentials.supplementaryGroups.union([credentials.gid]))
        let holder: Shares.Holder = grants.allowNothing ? .withoutPermit : .user(uid: credentials.uid)
        switch connections.admit(channel, of: holder) {
        case .dropped: channel.close(promise: nil)
        case .refused(let reason, let isFirst):
            if isFirst {
                environment.problems.log.write(
                    .warning, "connections refused", uid: credentials.uid, metadata: ["reason": "\(reason)"])
            }
            let error = MerchantError(.overloaded, "\(reason); try again later")
            try pipeline.addHandler(
                RefusalHandler(
                    environment.problems.response(to: error).wireBytes(isHead: false, isLast: true),
                    lingerTime: limits.lingerTime))
        case .admitted:
            try pipeline.addHandler(
                ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: .server)))
            let caller = Caller(
                uid: credentials.uid, gid: credentials.gid, supplementaryGroups: credentials.supplementaryGroups,
                pid: credentials.pid, program: credentials.program)
            try pipeline.addHandler(
                ConnectionHandler(
                    environment,
                    peer: Peer(caller: caller, grants: grants, holder: holder, refusals: refusals),
                    turns: turns[channel.eventLoop]))
        }
    }

    private func credentials(of channel: any Channel) throws -> PeerCredentials? {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            try PeerCredentials(of: $0)
        }
    }

    /// Stops accepting, lets every connection end, and after the drain time ends those that did not.
    private func drain(_ server: any Channel, _ connections: ConnectionAdmission) async {
        logger.info("decryptor socket draining")
        // Fails where it is closed already.
        try? await server.close()
        let open = connections.beginDrain()
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(DrainEvent()) }
        let bound = server.eventLoop.scheduleTask(in: limits.drainTime) {
            for channel in open { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: server.eventLoop).get()
        bound.cancel()
    }
}
