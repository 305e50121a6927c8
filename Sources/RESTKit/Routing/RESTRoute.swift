import HTTPKit
package import HTTPTypes
package import MerchantCore
import ServerKit

/// What a request to a route may do. In `schema/openapi.yaml`, `x-effect` has the same value. Without `x-effect`, a
/// `GET` has the effect `reads`, and any other method has the effect `writes`.
package enum RouteEffect: String, Sendable, CaseIterable {
    /// Changes nothing.
    case reads
    /// May change something, but revokes, removes and erases nothing.
    case writes
    /// May revoke, remove or erase something.
    case destroys
}

/// The merchants for which the caller needs a route's permit.
package enum RouteScope: Hashable, Sendable {
    /// Every merchant. A permit that is limited to some merchants is not enough.
    case everyMerchant
    /// The merchant that owns the resource in the path's parameter: ``PathParameter/owner(_:)``.
    case pathParameter
    /// The merchants that the query or the body names. The route's handler checks the permit for these merchants.
    case checkedByHandler
}

/// One route of a REST server: its method and path, the permit that it needs, its limits, and its handler.
///
/// Each route is declared in the same file as its handler. A server has one list of all its routes. The router is built
/// from this list, and tests compare the list with `schema/openapi.yaml`.
package struct RESTRoute<Handlers: RESTHandlers>: Sendable {
    package typealias Handler = @Sendable (Handlers) -> (RESTCall) async throws -> RESTResponse
    package typealias ParameterHandler<Parameter> =
        @Sendable (Handlers) -> (RESTCall, Parameter) async throws -> RESTResponse
    /// Calls the handler. ``authorize`` returns this function only if the caller has the permit.
    typealias AuthorizedHandler = @Sendable (RESTCall) async throws -> RESTResponse

    package let method: HTTPRequest.Method
    /// The path's template, as in `schema/openapi.yaml`. It has at most one parameter.
    package let path: String
    /// The permit that the caller needs; nil if every caller who can connect may use the route.
    package let permit: Permit?
    package let scope: RouteScope
    package let effect: RouteEffect
    /// The message in the log after a successful request that is not a dry run; nil for routes with `GET`.
    package let logMessage: String?
    /// The names of the permitted query parameters. A request with any other parameter is refused.
    package let query: Set<String>
    /// The largest body of a request, in bytes. A route with 0 accepts no body.
    let maximumBodyBytes: Int
    /// Checks the caller's permit, and then returns the function that calls the handler.
    let authorize: @Sendable (_ peer: Peer, _ parameter: Substring?, Handlers) async throws -> AuthorizedHandler

    /// The method and the path's template, such as `GET /v1/status`.
    package var name: String { "\(method.rawValue) \(path)" }
}

// MARK: Declarations

extension RESTRoute {
    /// Declares a route with `GET` that has no parameter in its path.
    ///
    /// - Parameter permit: nil if every caller who can connect may use the route.
    package static func reads(
        _ path: String, permit: Permit? = Handlers.permitToRead, scope: RouteScope = .everyMerchant,
        query: Set<String> = [], _ handler: @escaping Handler
    ) -> RESTRoute {
        RESTRoute(
            method: .get, path: path, permit: permit, scope: scope, effect: .reads, logMessage: nil, query: query,
            maximumBodyBytes: 0, authorize: makeAuthorize(permit, scope, handler))
    }

    /// Declares a route with `GET` that has a parameter in its path.
    package static func reads<Parameter: PathParameter>(
        _ path: String, permit: Permit = Handlers.permitToRead, query: Set<String> = [],
        _ handler: @escaping ParameterHandler<Parameter>
    ) -> RESTRoute {
        RESTRoute(
            method: .get, path: path, permit: permit, scope: .pathParameter, effect: .reads, logMessage: nil,
            query: query, maximumBodyBytes: 0, authorize: makeAuthorize(permit, handler))
    }

    /// Declares a route that changes something, with the effect `writes` or `destroys`, and has no parameter in its
    /// path.
    package static func changes(
        _ method: HTTPRequest.Method, _ path: String, logMessage: String,
        permit: Permit = Handlers.permitToChange, effect: RouteEffect = .writes, scope: RouteScope = .everyMerchant,
        query: Set<String> = [], maximumBodyBytes: Int = BodyLimit.ordinary, _ handler: @escaping Handler
    ) -> RESTRoute {
        RESTRoute(
            method: method, path: path, permit: permit, scope: scope, effect: effect, logMessage: logMessage,
            query: query, maximumBodyBytes: maximumBodyBytes, authorize: makeAuthorize(permit, scope, handler))
    }

    /// Declares a route that changes something, with the effect `writes` or `destroys`, and has a parameter in its
    /// path.
    package static func changes<Parameter: PathParameter>(
        _ method: HTTPRequest.Method, _ path: String, logMessage: String,
        permit: Permit = Handlers.permitToChange, effect: RouteEffect = .writes, query: Set<String> = [],
        maximumBodyBytes: Int = BodyLimit.ordinary, _ handler: @escaping ParameterHandler<Parameter>
    ) -> RESTRoute {
        RESTRoute(
            method: method, path: path, permit: permit, scope: .pathParameter, effect: effect, logMessage: logMessage,
            query: query, maximumBodyBytes: maximumBodyBytes, authorize: makeAuthorize(permit, handler))
    }
}

// MARK: Permits

extension RESTRoute {
    /// Returns the value of ``authorize`` for a route without a parameter in its path.
    private static func makeAuthorize(
        _ permit: Permit?, _ scope: RouteScope, _ handler: @escaping Handler
    ) -> @Sendable (Peer, Substring?, Handlers) async throws -> AuthorizedHandler {
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
    /// permit in two steps. First, it refuses a caller who has the permit for no merchant. Then it reads the parameter.
    /// Unless the caller has the permit for every merchant, it checks the permit for the resource's merchant.
    private static func makeAuthorize<Parameter: PathParameter>(
        _ permit: Permit, _ handler: @escaping ParameterHandler<Parameter>
    ) -> @Sendable (Peer, Substring?, Handlers) async throws -> AuthorizedHandler {
        { peer, text, handlers in
            try peer.require(permit)
            guard let text = PercentDecoding.decode(text ?? "") else {
                throw HTTPFault.malformedEncoding(of: "the path")
            }
            let parameter = try Parameter(text, named: Parameter.name)
            if !peer.grants.allowsEveryMerchant(permit) {
                let owner = try await parameter.owner(handlers)
                try Handlers.outOfScope.check(permit, of: peer, for: owner, notFound: parameter.notFoundError)
            }
            return { try await handler(handlers)($0, parameter) }
        }
    }
}
