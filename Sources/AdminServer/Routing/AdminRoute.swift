import HTTPKit
package import HTTPTypes
package import MerchantCore
import ServerKit

/// One route of the admin socket: its method and path, the permit that it needs, its limits, and its handler.
///
/// Each route is declared beside its handler, in the file of its resource. ``all`` contains every route: the router is
/// built from this list, and tests compare it with `schema/openapi.yaml`.
package struct AdminRoute: Sendable {
    package enum Effect: String, Sendable, CaseIterable {
        case reads, writes, destroys
    }

    /// The merchants for which the caller needs the route's permit.
    package enum Scope: Hashable, Sendable {
        /// Every merchant: a permit for some of them is not enough.
        case everyMerchant
        /// The merchant that the path's parameter belongs to: ``PathParameter/owner(_:)``.
        case pathParameter
        /// The merchants that the query or the body names. The handler checks the permit for them.
        case checkedByHandler
    }

    typealias Handler = @Sendable (AdminHandlers) -> (AdminCall) async throws -> AdminResponse
    typealias ParameterHandler<Parameter> =
        @Sendable (AdminHandlers) -> (AdminCall, Parameter) async throws -> AdminResponse
    /// A handler for which the permit was checked.
    typealias AuthorizedHandler = @Sendable (AdminCall) async throws -> AdminResponse

    package let method: HTTPRequest.Method
    /// The path's template, as in `schema/openapi.yaml`. It has at most one parameter.
    package let path: String
    /// nil if the route is for every caller who can connect.
    package let permit: Permit?
    package let scope: Scope
    package let effect: Effect
    /// The message that is logged after the action; nil for routes that change nothing.
    package let action: String?
    /// The parameters that the query may have. A request with any other parameter is refused.
    package let query: Set<String>
    /// The largest body of a request, in bytes. A route with 0 accepts no body.
    let mostBytes: Int
    /// Checks the permit, and then returns a function that calls the handler.
    let authorize: @Sendable (_ peer: Peer, _ parameter: Substring?, AdminHandlers) async throws -> AuthorizedHandler

    static let ordinaryBody = 65_536
    static let importBody = 1_048_576

    package static let all: [AdminRoute] =
        merchants + keys + keyTransitions + registrations + domains + rolls + audit + backups + masterKey + events
        + monitoring
}

// MARK: Declarations

extension AdminRoute {
    /// Declares a route with `GET` that has no parameter in its path.
    ///
    /// - Parameter permit: nil if the response is for every caller who can connect.
    static func reads(
        _ path: String, permit: Permit? = .read, scope: Scope = .everyMerchant, query: Set<String> = [],
        _ handler: @escaping Handler
    ) -> AdminRoute {
        AdminRoute(
            method: .get, path: path, permit: permit, scope: scope, effect: .reads, action: nil, query: query,
            mostBytes: 0, authorize: authorizing(permit, scope, handler))
    }

    /// Declares a route with `GET` that has a parameter in its path. It needs the permit `read`.
    static func reads<Parameter: PathParameter>(
        _ path: String, query: Set<String> = [], _ handler: @escaping ParameterHandler<Parameter>
    ) -> AdminRoute {
        AdminRoute(
            method: .get, path: path, permit: .read, scope: .pathParameter, effect: .reads, action: nil, query: query,
            mostBytes: 0, authorize: authorizing(.read, handler))
    }

    /// Declares a route that changes something and has no parameter in its path. It needs the permit `administer`.
    static func changes(
        _ method: HTTPRequest.Method, _ path: String, action: String, effect: Effect = .writes,
        scope: Scope = .everyMerchant, query: Set<String> = [], _ handler: @escaping Handler
    ) -> AdminRoute {
        AdminRoute(
            method: method, path: path, permit: .administer, scope: scope, effect: effect, action: action,
            query: query, mostBytes: ordinaryBody, authorize: authorizing(.administer, scope, handler))
    }

    /// Declares a route that changes something and has a parameter in its path. It needs the permit `administer`.
    static func changes<Parameter: PathParameter>(
        _ method: HTTPRequest.Method, _ path: String, action: String, effect: Effect = .writes,
        query: Set<String> = [], mostBytes: Int = ordinaryBody, _ handler: @escaping ParameterHandler<Parameter>
    ) -> AdminRoute {
        AdminRoute(
            method: method, path: path, permit: .administer, scope: .pathParameter, effect: effect, action: action,
            query: query, mostBytes: mostBytes, authorize: authorizing(.administer, handler))
    }
}

// MARK: Permits

extension AdminRoute {
    private static func authorizing(
        _ permit: Permit?, _ scope: Scope, _ handler: @escaping Handler
    ) -> @Sendable (Peer, Substring?, AdminHandlers) async throws -> AuthorizedHandler {
        { peer, _, handlers in
            if let permit {
                switch scope {
                case .everyMerchant: try peer.requireEveryMerchant(permit)
                case .checkedByHandler: try peer.require(permit)
                case .pathParameter:
                    preconditionFailure("routes with a parameter in their path are declared with its handler")
                }
            }
            return { try await handler(handlers)($0) }
        }
    }

    /// Checks the permit in two steps. A caller who does not have the permit for any merchant is refused first, before
    /// the path's parameter is read; then the permit for the parameter's merchant is checked.
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
