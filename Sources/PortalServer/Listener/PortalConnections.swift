import NIOCore
import ServerKit
import Synchronization

/// Limits the open connections and the open HTTP/2 streams, in all and for each address, and keeps a list of the open
/// connections.
final class PortalConnections: Sendable {
    /// What the caller of ``admit(_:from:)`` must do with a new connection.
    enum Decision: Hashable, Sendable {
        case admitted
        /// Close the connection. `isFirst` is true for the first refusal after an admitted connection: only that
        /// refusal is logged.
        case refused(reason: String, isFirst: Bool)
        /// Close the connection, because the server is shutting down.
        case draining
    }

    private struct State: Sendable {
        var connections: AddressQuota
        var streams: AddressQuota
        var open: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
        var isRefusing = false
    }

    private let trustedProxies: TrustedProxies
    private let state: Mutex<State>

    init(_ limits: PortalLimits, trustedProxies: TrustedProxies) {
        self.trustedProxies = trustedProxies
        state = Mutex(
            State(connections: AddressQuota(limits.connections), streams: AddressQuota(limits.streams)))
    }

    /// Counts a new connection until it closes.
    func admit(_ channel: any Channel, from address: RemoteAddress) -> Decision {
        let counted = block(of: address)
        let id = ObjectIdentifier(channel)
        let decision: Decision = state.withLock { state in
            guard !state.isDraining else { return .draining }
            if let reason = state.connections.take(counted) {
                defer { state.isRefusing = true }
                return .refused(reason: reason, isFirst: !state.isRefusing)
            }
            state.isRefusing = false
            state.open[id] = channel
            return .admitted
        }
        if decision == .admitted {
            channel.closeFuture.whenComplete { _ in
                self.state.withLock { state in
                    state.open[id] = nil
                    state.connections.giveBack(counted)
                }
            }
        }
        return decision
    }

    /// Counts a new stream until it closes.
    ///
    /// - Returns: whether the stream may be used.
    func admitStream(_ stream: any Channel, from address: RemoteAddress) -> Bool {
        let counted = block(of: address)
        let isAdmitted: Bool = state.withLock { $0.streams.take(counted) == nil }
        if isAdmitted {
            stream.closeFuture.whenComplete { _ in
                self.state.withLock { $0.streams.giveBack(counted) }
            }
        }
        return isAdmitted
    }

    /// Begins the shutdown: from now on, ``admit(_:from:)`` returns `draining` for every new connection.
    ///
    /// - Returns: every open connection.
    func beginDrain() -> [any Channel] {
        state.withLock { state in
            state.isDraining = true
            return Array(state.open.values)
        }
    }

    /// - Returns: nil for a trusted proxy, for which only the total limit applies.
    private func block(of address: RemoteAddress) -> AddressBlock? {
        trustedProxies.contains(address) ? nil : address.block
    }
}

/// Counts the connections or streams of each address.
private struct AddressQuota: Sendable {
    private let limits: PortalLimits.Quota
    private var total = 0
    private var countByBlock: [AddressBlock: Int] = [:]

    init(_ limits: PortalLimits.Quota) { self.limits = limits }

    /// - Parameter block: nil if only the total limit applies.
    /// - Returns: nil if the limits permit one more connection or stream, which is then counted; otherwise the limit
    ///   that was reached.
    mutating func take(_ block: AddressBlock?) -> String? {
        guard total < limits.total else { return "\(limits.total) are already open" }
        if let block {
            let count = countByBlock[block, default: 0]
            guard count < limits.perAddress else {
                return "one address already has \(limits.perAddress)"
            }
            countByBlock[block] = count + 1
        }
        total += 1
        return nil
    }

    mutating func giveBack(_ block: AddressBlock?) {
        total -= 1
        guard let block, let count = countByBlock[block] else { return }
        countByBlock[block] = count > 1 ? count - 1 : nil
    }
}
