import HTTPKit
import HTTPTypes
import Hummingbird
import HummingbirdRouter
import LocalSocket
import Logging
import MerchantCore
import NIOCore
import ServerKit

/// What all requests of one connection share.
struct AdminConnection: RequestContextSource, Sendable {
    let peer: Peer
    let channel: any Channel
    /// The memory of the current request and of its response.
    let buffered: BufferedBytes.Reservation
    let logger: Logger
}

/// What middleware and handlers know about one request.
struct AdminRequestContext: RouterRequestContext {
    typealias Source = AdminConnection

    var coreContext: CoreRequestContextStorage
    var routerContext = RouterBuilderContext()
    let connection: AdminConnection
    let requestId = RequestId.make()
    /// Set by ``RequestInput``.
    var headers = HTTPFields()
    /// Set by ``PermitCheck``: without it there is nothing to call.
    var handler: AdminRoute.AuthorizedHandler?
    /// Set by ``RequestInput``.
    var query: QueryParameters?
    var body: [UInt8] = []

    init(source: AdminConnection) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source
    }

    var peer: Peer { connection.peer }

    /// Reserves memory for a body. Sizes up to 64 KiB do not count: the limit on connections bounds them.
    ///
    /// - Throws: `overloaded` where large requests and responses already hold as much memory as they may.
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
