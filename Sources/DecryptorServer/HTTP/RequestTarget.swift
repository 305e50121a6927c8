import MerchantCore
import NIOHTTP1
import Vocabulary

/// Which route a request names, and with what.
struct RequestTarget: Sendable {
    let route: Route
    /// Of routes with a key in their path.
    let publicKeyHash: PublicKeyHash?
    let includesPrivateKey: Bool

    /// A request's target in its parts, as sent.
    private struct Parts {
        var path: Substring.UTF8View
        var query: Substring.UTF8View?
    }

    /// - Parameter permits: whether the caller may use the route; asked before anything of the target is judged; `key` is
    ///   the one in the path, where it can be read.
    /// - Throws: ``HTTPRefusal`` or ``MerchantError``: `notFound`, `forbidden` from `permits`, `malformed`.
    init(
        _ method: HTTPMethod, _ uri: String, in table: [Route] = Route.table,
        permits: (_ route: Route, _ key: () -> PublicKeyHash?) throws -> Void
    ) throws {
        let parts = Self.parts(of: uri)
        var allowed: [String] = []
        for route in table {
            guard case .some(let captured) = Self.match(parts.path, route.path.utf8) else { continue }
            guard route.answers(method) else {
                allowed.append(route.allowed)
                continue
            }
            try permits(route) { captured.flatMap { try? Self.publicKeyHash($0) } }
            self.route = route
            publicKeyHash = try captured.map(Self.publicKeyHash)
            includesPrivateKey = try Self.includesPrivateKey(parts.query, route)
            return
        }
        guard allowed.isEmpty else { throw HTTPRefusal.methodNotAllowed(allow: allowed.joined(separator: ", ")) }
        throw MerchantError(.notFound, "there is no such path, expected one of schema/openapi.yaml")
    }

    /// Splits the query off, and scheme and authority where a client sends them (RFC 9112 section 3.2.2).
    private static func parts(of uri: String) -> Parts {
        var rest = uri[...].utf8
        if rest.first != UInt8(ascii: "/"), uri.hasPrefix("http://") {
            rest = rest.dropFirst("http://".utf8.count)
            rest = rest.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] } ?? rest[rest.endIndex...]
        }
        guard let mark = rest.firstIndex(of: UInt8(ascii: "?")) else { return Parts(path: rest, query: nil) }
        return Parts(path: rest[..<mark], query: rest[rest.index(after: mark)...])
    }

    /// - Returns: nil where the path is another; otherwise what stands in the template's place, nil where it has none.
    private static func match(_ path: Substring.UTF8View, _ template: String.UTF8View) -> Substring.UTF8View?? {
        var position = path.startIndex
        var expected = template.startIndex
        var captured: Substring.UTF8View?
        while expected != template.endIndex {
            if template[expected] == UInt8(ascii: "{") {
                let end = path[position...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
                captured = path[position..<end]
                position = end
                while template[expected] != UInt8(ascii: "}") { template.formIndex(after: &expected) }
            } else {
                guard position != path.endIndex, path[position] == template[expected] else { return .none }
                path.formIndex(after: &position)
            }
            template.formIndex(after: &expected)
        }
        return position == path.endIndex ? .some(captured) : .none
    }

    private static func publicKeyHash(_ segment: Substring.UTF8View) throws(MerchantError) -> PublicKeyHash {
        if let hash = PublicKeyHash(base64URL: segment) { return hash }
        guard let text = PercentEncoding.decode(segment), let hash = PublicKeyHash(anySpelling: text) else {
            throw MerchantError(
                .malformed,
                "the path holds no publicKeyHash, expected 43 characters of Base64url, 44 of Base64 (percent-encoded) or 64 hexadecimal digits"
            )
        }
        return hash
    }

    private static func includesPrivateKey(
        _ query: Substring.UTF8View?, _ route: Route
    ) throws(MerchantError) -> Bool {
        guard let query, !query.isEmpty else { return false }
        var included = false
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(halves[0]), route.parameters.contains(name) else {
                let known = route.parameters.map { "'\($0)'" }.joined(separator: ", ")
                throw MerchantError(
                    .malformed,
                    "found an unknown query parameter, expected \(known.isEmpty ? "none" : "only \(known)")")
            }
            guard !included, halves.count == 2, PercentEncoding.decode(halves[1]) == "privateKey" else {
                throw MerchantError(.malformed, "found another value of 'include', expected 'privateKey', once")
            }
            included = true
        }
        return included
    }
}
