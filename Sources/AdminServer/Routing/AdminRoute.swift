import HTTPKit
package import HTTPTypes
package import MerchantCore
import ServerKit

/// One route of the admin socket: its method and path, the permit that it needs, its limits, and its handler.
///
/// Each route is declared in the same file as its handler. ``all`` lists every route. The router is built from this
/// list, and tests compare the list with `schema/openapi.yaml`.
package struct AdminRoute: Sendable {
    /// What a request to the route may do. `destroys` means that the request revokes, removes or erases something. In
    /// `schema/openapi.yaml`, `x-effect` has the same value.
    package enum Effect: String, Sendable, CaseIterable {
        case reads, writes, destroys
    }

    /// The merchants for which the caller needs the route's permit.
    package enum Scope: Hashable, Sendable {
        /// Every merchant. A permit that is limited to some merchants is not enough.
        case everyMerchant
        /// The merchant that owns the resource in the path's parameter: ``PathParameter/owner(_:)``.
        case pathParameter
        /// The merchants that the query or the body names. The route's handler checks the permit for these merchants.
        case checkedByHandler
    }

    typealias Handler = @Sendable (AdminHandlers) -> (AdminCall) async throws -> AdminResponse
    typealias ParameterHandler<Parameter> =
        @Sendable (AdminHandlers) -> (AdminCall, Parameter) async throws -> AdminResponse
    /// Calls the handler. ``authorize`` returns this function only if the caller has the permit.
    typealias AuthorizedHandler = @Sendable (AdminCall) async throws -> AdminResponse

    package let method: HTTPRequest.Method
    /// The path's template, as in `schema/openapi.yaml`. It has at most one parameter.
    package let path: String
    /// The permit that the caller needs; nil if every caller who can connect may use the route.
    package let permit: Permit?
    package let scope: Scope
    package let effect: Effect
    /// The message in the log after a successful request; nil for routes with `GET`.
    package let logMessage: String?
    /// The names of the permitted query parameters. A request with any other parameter is refused.
    package let query: Set<String>
    /// The largest body of a request, in bytes. A route with 0 accepts no body.
    let maximumBodyBytes: Int
    /// Checks the caller's permit, and then returns the function that calls the handler.
    let authorize: @Sendable (_ peer: Peer, _ parameter: Substring?, AdminHandlers) async throws -> AuthorizedHandler

    /// The largest body of most routes, in bytes.
    static let ordinaryBodyLimit = 65_536
    /// The largest body of a request that imports a key, in bytes.
    static let importBodyLimit = 1_048_576

    package static let all: [AdminRoute] =
        merchants + keys + keyTransitions + registrations + domains + rolls + audit + backups + masterKey + events
        + monitoring
}

// MARK: Declarations

extension AdminRoute {
    /// Declares a route with `GET` that has no parameter in its path.
    ///
    /// - Parameter permit: nil if every caller who can connect may use the route.
    static func reads(
        _ path: String, permit: Permit? = .read, scope: Scope = .everyMerchant, query: Set<String> = [],
        _ handler: @escaping Handler
    ) -> AdminRoute {
        AdminRoute(
            method: .get, path: path, permit: permit, scope: scope, effect: .reads, logMessage: nil, query: query,
            maximumBodyBytes: 0, authorize: authorizing(permit, scope, handler))
    }

    /// Declares a route with `GET` that has a parameter in its path. It needs the permit `read`.
    static func reads<Parameter: PathParameter>(
        _ path: String, query: Set<String> = [], _ handler: @escaping ParameterHandler<Parameter>
    ) -> AdminRoute {
        AdminRoute(
            method: .get, path: path, permit: .read, scope: .pathParameter, effect: .reads, logMessage: nil,
            query: query,
            maximumBodyBytes: 0, authorize: authorizing(.read, handler))
    }

    /// Declares a route that changes something and has no parameter in its path. It needs the permit `administer`.
    static func changes(
        _ method: HTTPRequest.Method, _ path: String, logMessage: String, effect: Effect = .writes,
        scope: Scope = .everyMerchant, query: Set<String> = [], _ handler: @escaping Handler
    ) -> AdminRoute {
        AdminRoute(
            method: method, path: path, permit: .administer, scope: scope, effect: effect, logMessage: logMessage,
            query: query, maximumBodyBytes: ordinaryBodyLimit, authorize: authorizing(.administer, scope, handler))
    }

    /// Declares a route that changes something and has a parameter in its path. It needs the permit `administer`.
    static func changes<Parameter: PathParameter>(
        _ method: HTTPRequest.Method, _ path: String, logMessage: String, effect: Effect = .writes,
        query: Set<String> = [], maximumBodyBytes: Int = ordinaryBodyLimit,
        _ handler: @escaping ParameterHandler<Parameter>
    ) -> AdminRoute {
        AdminRoute(
            method: method, path: path, permit: .administer, scope: .pathParameter, effect: effect,
            logMessage: logMessage,
            query: query, maximumBodyBytes: maximumBodyBytes, authorize: authorizing(.administer, handler))
    }
}

// MARK: Permits

extension AdminRoute {
    /// Returns the value of ``authorize`` for a route without a parameter in its path.
    private static func authorizing(
        _ permit: Permit?, _ scope: Scope, _ handler: @escaping Handler
    ) -> @Sendable (Peer, Substring?, AdminHandlers) async throws -> AuthorizedHandler {
        { peer, _, handlers in
            if let permit {
                switch scope {
                case .everyMerchant: try peer.requireEveryMerchant(permit)
                case .checkedByHandler: try peer.require(permit)
                case .pathParameter:
                    preconditionFailure("the scope 'pathParameter' needs a handler with a parameter")
                }
            }
            return { try await handler(handlers)($0) }
        }
    }

    /// Returns the value of ``authorize`` for a route with a parameter in its path. The returned function checks the
    /// permit in two steps. Before it reads the parameter, it refuses a caller who has the permit for no merchant. Then it
    /// checks the permit for the merchant that owns the resource which the parameter identifies.
    private static func authorizing<Parameter: PathParameter>(
        _ permit: Permit, _ handler: @escaping ParameterHandler<Parameter>
    ) -> @Sendable (Peer, Substring?, AdminHandlers) async throws -> AuthorizedHandler {
        { peer, text, handlers in
            try peer.require(permit)
            guard let text = PercentDecoding.decode(text ?? "") else {
                throw HTTPFault.malformedEncoding(of: "the path")
            }
            let parameter = try Parameter(text, named: Parameter.name)
            if !peer.grants.allowsEveryMerchant(permit) {
                if let owner = try await parameter.owner(handlers) {
                    try peer.require(permit, for: owner)
                } else {
                    try peer.requireEveryMerchant(permit)
                }
            }
            return { try await handler(handlers)($0, parameter) }
        }
    }
}
