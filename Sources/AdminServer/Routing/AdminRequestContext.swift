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
    let buffered: BufferedBytes.Reservation
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

    /// Reserves memory for the body of a request or response. A body of up to 64 KiB does not count, because the limit
    /// on connections also limits the memory of such bodies.
    ///
    /// - Throws: `overloaded` if large requests and responses already use as much memory as they may.
    func reserve(_ bytes: Int) throws(MerchantError) {
        guard bytes > AdminRoute.ordinaryBody else { return }
        do throws(Shares.Exhausted) { try connection.buffered.take(bytes) } catch {
            throw MerchantError(
                .overloaded,
                error == .total
                    ? "large requests and responses use all the memory reserved for them; try again later"
                    : "your large requests and responses use all the memory reserved for them; read the responses, then try again"
            )
        }
    }
}
