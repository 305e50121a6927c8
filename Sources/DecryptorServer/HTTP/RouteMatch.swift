import HTTPKit
import MerchantCore
import NIOHTTP1
import ServerKit
import Vocabulary

/// The route that a request's method and path select, with the values in the path and query.
struct RouteMatch: Sendable {
    let route: DecryptorRoute
    /// The publicKeyHash in the path; nil if the route's path has no publicKeyHash.
    let publicKeyHash: PublicKeyHash?
    /// The merchant token identifier in the path; nil if the route's path has none.
    let merchantTokenIdentifier: MerchantTokenIdentifier?
    /// Whether the query is `include=privateKey`.
    let includesPrivateKey: Bool

    /// - Parameter authorize: checks the caller's permit. This initializer calls `authorize` before it validates the
    ///   query and the publicKeyHash in the path, so that a caller without the permit always gets `forbidden`. The
    ///   arguments are the route, the route's index in the table, and a function that returns the publicKeyHash, or nil
    ///   if the path has no valid publicKeyHash.
    /// - Throws: ``HTTPFault``; ``MerchantError`` with `notFound` or `malformed`; an error of `authorize`.
    init(
        _ method: HTTPMethod, _ uri: String, in table: [DecryptorRoute] = DecryptorRoute.table,
        authorize: (_ route: DecryptorRoute, _ index: Int, _ publicKeyHash: () -> PublicKeyHash?) throws -> Void
    ) throws {
        let text = uri.utf8Span.span
        let path = Self.path(in: text)
        /// The methods of the routes whose path matches.
        var allowed: [String] = []
        for (index, route) in table.enumerated() {
            guard case .some(let captured) = Self.match(text, path, route) else { continue }
            guard route.answers(method) else {
                allowed.append(route.allowed)
                continue
            }
            let hash = route.parameter == .publicKeyHash ? captured : nil
            let token = route.parameter == .merchantTokenIdentifier ? captured : nil
            try authorize(route, index) { hash.flatMap { try? Self.publicKeyHash(in: uri, $0) } }
            self.route = route
            publicKeyHash = try hash.map { try Self.publicKeyHash(in: uri, $0) }
            merchantTokenIdentifier = try token.map { try Self.merchantTokenIdentifier(in: uri, $0) }
            let query = Substring(uri.utf8.dropFirst(path.upperBound + 1))
            includesPrivateKey = try Self.includesPrivateKey(query, route)
            return
        }
        guard allowed.isEmpty else { throw HTTPFault.methodNotAllowed(allow: allowed.joined(separator: ", ")) }
        let pathText = Substring(uri.utf8.dropFirst(path.lowerBound).prefix(path.count))
        if let error = DaemonSocket.decryptor.misdirected(pathText) { throw error }
        guard !Self.hasPrefix(text, from: path.lowerBound, Self.keys) else {
            throw MerchantError(
                .malformed,
                "there is no such path below /v1/keys/: write the publicKeyHash as Base64url, with '-' and '_' instead "
                    + "of '+' and '/', as in /v1/keys/{publicKeyHash}/symmetric-key")
        }
        throw MerchantError(
            .notFound,
            "this is the decryptor socket, which has no such path; check its spelling. GET /v1/openapi.yaml lists the "
                + "paths of every socket")
    }

    /// The range of the path in the request's target. The path begins after the scheme and authority, if the client
    /// sends them (RFC 9112 section 3.2.2), and ends before the query.
    private static func path(in text: Span<UInt8>) -> Range<Int> {
        func index(of character: Unicode.Scalar, from begin: Int) -> Int {
            var index = begin
            while index < text.count, text[index] != UInt8(ascii: character) { index += 1 }
            return index
        }
        let begin = hasPrefix(text, from: 0, scheme) ? index(of: "/", from: scheme.count) : 0
        return begin..<index(of: "?", from: begin)
    }

    private static let scheme = Array("http://".utf8)
    private static let keys = Array("/v1/keys/".utf8)

    private static func hasPrefix(_ text: Span<UInt8>, from begin: Int, _ prefix: [UInt8]) -> Bool {
        guard text.count - begin >= prefix.count else { return false }
        for index in prefix.indices where text[begin + index] != prefix[index] { return false }
        return true
    }

    /// - Returns: nil if the path does not match the route. Otherwise the range of the path's parameter, which is
    ///   itself nil if the route has no parameter.
    private static func match(_ text: Span<UInt8>, _ path: Range<Int>, _ route: DecryptorRoute) -> Range<Int>?? {
        let before = route.literals.before
        guard path.count >= before.count, hasPrefix(text, from: path.lowerBound, before) else { return .none }
        let begin = path.lowerBound + before.count
        guard let after = route.literals.after else { return begin == path.upperBound ? .some(nil) : .none }
        var end = begin
        while end < path.upperBound, text[end] != UInt8(ascii: "/") { end += 1 }
        guard path.upperBound - end == after.count, hasPrefix(text, from: end, after) else { return .none }
        return .some(begin..<end)
    }

    private static func publicKeyHash(in uri: String, _ segment: Range<Int>) throws(MerchantError) -> PublicKeyHash {
        if let hash = PublicKeyHash(base64URL: uri.utf8Span.span.extracting(segment)) { return hash }
        let encoded = Substring(uri.utf8.dropFirst(segment.lowerBound).prefix(segment.count))
        guard let text = PercentDecoding.decode(encoded), let hash = PublicKeyHash(anySpelling: text) else {
            throw MerchantError(
                .malformed,
                "the path has no valid publicKeyHash, expected 43 characters of Base64url, "
                    + "44 characters of percent-encoded Base64, or 64 hexadecimal digits")
        }
        return hash
    }

    private static func merchantTokenIdentifier(
        in uri: String, _ segment: Range<Int>
    ) throws(MerchantError) -> MerchantTokenIdentifier {
        let encoded = Substring(uri.utf8.dropFirst(segment.lowerBound).prefix(segment.count))
        guard let text = PercentDecoding.decode(encoded) else {
            throw MerchantError(.malformed, "the merchantTokenIdentifier in the path is not valid percent-encoding")
        }
        guard let identifier = MerchantTokenIdentifier(text: text) else {
            throw MerchantError(
                .malformed,
                "the merchantTokenIdentifier in the path \(MerchantTokenIdentifier.refusal(of: text))")
        }
        return identifier
    }

    private static func includesPrivateKey(_ query: Substring, _ route: DecryptorRoute) throws -> Bool {
        guard !query.isEmpty else { return false }
        guard let value = try QueryParameters(query, known: route.queryParameters)["include"] else { return false }
        guard value == "privateKey" else {
            throw MerchantError(.malformed, "'include' is '\(value.prefix(64))', expected 'privateKey'")
        }
        return true
    }
}
