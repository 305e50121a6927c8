import HTTPKit
package import MerchantCore
package import NIOHTTP1

/// The permit that a route needs.
package enum RoutePermit: Hashable, Sendable {
    case permit(Permit)
    /// At least one permit of any kind.
    case any
}

/// One route of the decryptor socket.
package struct DecryptorRoute: Sendable {
    /// The function of ``Endpoints`` that handles a request.
    package enum Endpoint: CaseIterable, Sendable {
        case findKey, symmetricKey, verifyToken, decryptToken, readMPAN, requestSession, health, openAPI
    }

    /// The parameter in a route's path. The raw value is the name that stands in braces in the path.
    package enum Parameter: String, Sendable {
        case publicKeyHash, merchantTokenIdentifier
    }

    /// `GET` or `POST`. A route with `GET` also answers `HEAD`.
    package let method: HTTPMethod
    package let path: String
    package let permit: RoutePermit
    package let endpoint: Endpoint
    /// The query parameters that a request may have. A request with any other parameter is refused.
    package let queryParameters: Set<String>
    /// nil if the path has no parameter.
    let parameter: Parameter?
    /// The text of the path before and after the parameter in braces. `after` is nil if the path has no parameter.
    let literals: (before: [UInt8], after: [UInt8]?)

    private init(
        method: HTTPMethod, path: String, permit: RoutePermit, endpoint: Endpoint,
        queryParameters: Set<String> = []
    ) {
        self.method = method
        self.path = path
        self.permit = permit
        self.endpoint = endpoint
        self.queryParameters = queryParameters
        let parts = path.utf8.split(separator: UInt8(ascii: "{"), maxSplits: 1)
        let after = parts.dropFirst().first.map { $0.drop { $0 != UInt8(ascii: "}") }.dropFirst() }
        literals = (Array(parts[0]), after.map(Array.init))
        parameter = parts.dropFirst().first.flatMap { rest in
            Parameter(rawValue: String(Substring(rest.prefix { $0 != UInt8(ascii: "}") })))
        }
    }

    /// All routes. Requests are matched in this order. Tests compare the table with `schema/openapi.yaml`.
    package static let table: [DecryptorRoute] = [
        DecryptorRoute(
            method: .GET, path: "/v1/keys/{publicKeyHash}", permit: .permit(.resolve), endpoint: .findKey,
            queryParameters: ["include"]),
        DecryptorRoute(
            method: .POST, path: "/v1/keys/{publicKeyHash}/symmetric-key", permit: .permit(.symmetricKey),
            endpoint: .symmetricKey),
        DecryptorRoute(
            method: .POST, path: "/v1/payment-tokens/verify", permit: .permit(.decrypt), endpoint: .verifyToken),
        DecryptorRoute(
            method: .POST, path: "/v1/payment-tokens/decrypt", permit: .permit(.decrypt), endpoint: .decryptToken),
        DecryptorRoute(
            method: .GET, path: "/v1/merchant-tokens/{merchantTokenIdentifier}/mpan", permit: .permit(.decrypt),
            endpoint: .readMPAN),
        DecryptorRoute(
            method: .POST, path: "/v1/merchant-sessions", permit: .permit(.merchantSession),
            endpoint: .requestSession),
        DecryptorRoute(method: .GET, path: "/v1/health", permit: .any, endpoint: .health),
        DecryptorRoute(method: .GET, path: "/v1/openapi.yaml", permit: .any, endpoint: .openAPI),
    ]

    /// The method and the path's template, such as `GET /v1/health`.
    var name: String { "\(method.rawValue) \(path)" }

    /// The value of the header field `Allow`.
    var allowed: String { method.isGET ? "GET, HEAD" : method.rawValue }

    /// Whether the route handles requests with this method.
    func answers(_ requested: HTTPMethod) -> Bool {
        method.isPOST ? requested.isPOST : requested.isGET || requested.isHEAD
    }
}
