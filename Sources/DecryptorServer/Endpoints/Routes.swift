package import MerchantCore
package import NIOHTTP1

/// What a caller needs before a route is even looked at.
package enum RoutePermit: Hashable, Sendable {
    case permit(Permit)
    /// Whichever: the caller is known to the daemon.
    case any
}

/// One line of the decryptor's interface.
package struct Route: Sendable {
    /// What answers.
    package enum Endpoint: CaseIterable, Sendable {
        case resolve, symmetricKey, verifyToken, decryptToken, health
    }

    /// `GET` answers `HEAD` too.
    package let method: HTTPMethod
    package let path: String
    package let permit: RoutePermit
    package let endpoint: Endpoint
    /// Query parameters that the route reads; any other is refused.
    let parameters: [String]
    /// What stands before and after a parameter in the path; without one, all of it stands before.
    let literals: (before: [UInt8], after: [UInt8]?)

    private init(
        method: HTTPMethod, path: String, permit: RoutePermit, endpoint: Endpoint, parameters: [String] = []
    ) {
        self.method = method
        self.path = path
        self.permit = permit
        self.endpoint = endpoint
        self.parameters = parameters
        let parts = path.utf8.split(separator: UInt8(ascii: "{"), maxSplits: 1)
        let after = parts.dropFirst().first.map { $0.drop { $0 != UInt8(ascii: "}") }.dropFirst() }
        literals = (Array(parts[0]), after.map(Array.init))
    }

    /// Every route there is: requests are matched by it, and tests list it.
    package static let table: [Route] = [
        Route(
            method: .GET, path: "/v1/keys/{publicKeyHash}", permit: .permit(.resolve), endpoint: .resolve,
            parameters: ["include"]),
        Route(
            method: .POST, path: "/v1/keys/{publicKeyHash}/symmetric-key", permit: .permit(.symmetricKey),
            endpoint: .symmetricKey),
        Route(
            method: .POST, path: "/v1/payment-tokens/verify", permit: .permit(.decrypt), endpoint: .verifyToken),
        Route(
            method: .POST, path: "/v1/payment-tokens/decrypt", permit: .permit(.decrypt), endpoint: .decryptToken),
        Route(method: .GET, path: "/v1/health", permit: .any, endpoint: .health),
    ]

    /// Methods as `Allow` lists them.
    var allowed: String { method == .GET ? "GET, HEAD" : method.rawValue }

    func answers(_ asked: HTTPMethod) -> Bool { asked == method || (asked == .HEAD && method == .GET) }
}
