import HTTPKit
import HTTPTypes
import Hummingbird
import HummingbirdRouter
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

/// The values of one request that middleware passes on to the handler.
struct AdminRequestContext: RouterRequestContext {
    typealias Source = AdminConnection

    var coreContext: CoreRequestContextStorage
    var routerContext = RouterBuilderContext()
    let connection: AdminConnection
    let requestId = RequestId.make()
    /// Set by ``RequestInput``.
    var headers = HTTPFields()
    /// Set by ``PermitCheck``, so that no handler can be called before the permit was checked.
    var handler: AdminRoute.AuthorizedHandler?
    /// Set by ``RequestInput``.
    var query: QueryParameters?
    var body: [UInt8] = []

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
