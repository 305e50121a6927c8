import HTTPKit
import Hummingbird
import LocalSocket
import Logging
import MerchantCore
import NIOCore
import ServerKit

/// The values that all requests of one connection share.
struct AdminConnection: RequestContextSource, Sendable {
    let peer: Peer
    let channel: any Channel
    /// The memory that is reserved for the current request and its response.
    let reservedMemory: BufferBudget.Reservation
    let logger: Logger
}

/// The values of one request that Hummingbird passes to middleware and to the route.
struct AdminRequestContext: RequestContext {
    typealias Source = AdminConnection

    var coreContext: CoreRequestContextStorage
    let connection: AdminConnection
    let requestId = RequestId.make()

    init(source: AdminConnection) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source
    }

    var peer: Peer { connection.peer }

    /// Reserves memory for the body of a request or response. Does nothing for a body of up to 64 KiB: such bodies need
    /// little memory in total, because the number of connections is limited.
    ///
    /// - Throws: `overloaded` if large requests and responses already use as much memory as they may.
    func reserve(_ bytes: Int) throws(MerchantError) {
        guard bytes > AdminRoute.ordinaryBodyLimit else { return }
        do throws(UserQuotas.Exhausted) { try connection.reservedMemory.reserve(bytes) } catch {
            throw MerchantError(
                .overloaded,
                error == .total
                    ? "large requests and responses use all the memory that is reserved for them; try again later"
                    : "your large requests and responses use all the memory for one user; read the responses and retry"
            )
        }
    }
}
