package import HTTPKit
package import LocalSocket
import Logging
package import MerchantCore
package import MerchantOperations
package import NIOCore

/// Checks each new connection of a Unix socket: identifies the caller, determines the caller's permits, and decides
/// whether the connection may stay open.
package struct SocketGate: Sendable {
    private let policy: CurrentValue<CallerPolicy>
    private let admission: ConnectionAdmission
    private let refusals: RefusalLog
    private let log: LimitedLog
    private let lingerTime: TimeAmount

    /// - Parameters:
    ///   - limits: how many connections may be open at the same time. A further connection gets a response with the
    ///     status 503 and is closed; it gets no response if too many refused connections are still open.
    ///   - lingerTime: how long a refused client has to read its response before the connection is closed.
    package init(
        policy: CurrentValue<CallerPolicy>, limits: UserQuotas.Limits, refusals: RefusalLog, log: LimitedLog,
        lingerTime: TimeAmount
    ) {
        self.policy = policy
        admission = ConnectionAdmission(limits)
        self.refusals = refusals
        self.log = log
        self.lingerTime = lingerTime
    }

    /// Reads the caller's credentials from the kernel, and counts the connection until it closes. Call this on the
    /// channel's event loop.
    ///
    /// - Returns: the process at the other end; nil if this function refused or closed the connection. If the result is
    ///   nil, do not use the channel.
    package func admit(_ channel: any Channel) throws -> Peer? {
        guard let credentials = Self.credentials(of: channel) else {
            log.write(.error, "connection closed, because its peer's credentials cannot be read", metadata: [:])
            channel.close(promise: nil)
            return nil
        }
        let generation = policy.generation
        let grants = policy.value.grants(
            uid: credentials.uid, groups: credentials.supplementaryGroups.union([credentials.gid]))
        let holder: UserQuotas.Holder = grants.allowNothing ? .withoutPermit : .user(uid: credentials.uid)
        switch admission.admit(channel, of: holder) {
        case .dropped:
            channel.close(promise: nil)
            return nil
        case .refused(let reason, let isFirst):
            if isFirst {
                log.write(
                    .warning, "connections refused", source: "uid:\(credentials.uid)",
                    metadata: ["reason": "\(reason)"])
            }
            let problem = ProblemResponse(
                MerchantError(.overloaded, "\(reason); try again later"), requestId: RequestId.make())
            try channel.pipeline.syncOperations.addHandler(
                RefusalHandler(problem.closingMessage, lingerTime: lingerTime))
            return nil
        case .admitted:
            return Peer(
                caller: Caller(
                    uid: credentials.uid, gid: credentials.gid, supplementaryGroups: credentials.supplementaryGroups,
                    pid: credentials.pid, program: credentials.program),
                grants: grants, of: policy, generation: generation, holder: holder, refusals: refusals)
        }
    }

    /// Begins the shutdown: closes every new connection without a response, and sends ``DrainEvent`` to the open
    /// connections, which then close after their current requests.
    ///
    /// - Returns: every connection that is still open.
    package func beginDrain() -> [any Channel] {
        let openChannels = admission.beginDrain()
        for channel in openChannels { channel.pipeline.fireUserInboundEventTriggered(DrainEvent()) }
        return openChannels
    }

    /// - Returns: nil if the credentials cannot be read.
    private static func credentials(of channel: any Channel) -> PeerCredentials? {
        let credentials = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { try? PeerCredentials(of: $0) }
        // `withUnsafeTransportIfAvailable` wraps the closure's optional result in another optional.
        return credentials ?? nil
    }
}
