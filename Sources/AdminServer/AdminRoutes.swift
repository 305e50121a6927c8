package import RESTKit

/// One route of the admin socket.
package typealias AdminRoute = RESTRoute<AdminHandlers>

/// The routes of the admin socket. Each route is declared in the same file as its handler.
package enum AdminRoutes {
    package static let all: [AdminRoute] = [
        merchants, keys, keyTransitions, registrations, domains, rolls, merchantTokens, access, invitations, operators,
        audit, backups,
        masterKey, reload, events, webhooks, nodes, monitoring,
    ].flatMap(\.self)

    /// The largest body of a request that imports a key, in bytes.
    static let importBodyLimit = 1_048_576
}
