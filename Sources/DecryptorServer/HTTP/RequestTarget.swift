import HTTPKit
import MerchantCore
import NIOHTTP1
import Vocabulary

/// Which route a request names, and with what.
struct RequestTarget: Sendable {
    let route: Route
    /// Of routes with a key in their path.
    let publicKeyHash: PublicKeyHash?
    let includesPrivateKey: Bool

    /// - Parameter permits: whether the caller may use the route; asked before anything of the target is judged; `key` is
    ///   the one in the path, where it can be read.
    /// - Throws: ``HTTPFault`` or ``MerchantError``: `notFound`, `forbidden` from `permits`, `malformed`.
    init(
        _ method: HTTPMethod, _ uri: String, in table: [Route] = Route.table,
        permits: (_ route: Route, _ key: () -> PublicKeyHash?) throws -> Void
    ) throws {
        let text = uri.utf8Span.span
        let path = Self.path(in: text)
        var allowed: [String] = []
        for route in table {
            guard case .some(let captured) = Self.match(text, path, route) else { continue }
            guard route.answers(method) else {
                allowed.append(route.allowed)
                continue
            }
            try permits(route) { captured.flatMap { try? Self.publicKeyHash(in: uri, $0) } }
            self.route = route
            publicKeyHash = try captured.map { try Self.publicKeyHash(in: uri, $0) }
            let query = Self.slice(uri, min(path.upperBound + 1, text.count)..<text.count)
            includesPrivateKey = try Self.includesPrivateKey(query, route)
            return
        }
        guard allowed.isEmpty else { throw HTTPFault.methodNotAllowed(allow: allowed.joined(separator: ", ")) }
        throw MerchantError(
            .notFound,
            "there is no such path, expected one of schema/openapi.yaml, a publicKeyHash in it as Base64url or hexadecimal"
        )
    }

    /// Where the path lies: before a query, and behind scheme and authority where a client sends them (RFC 9112 section 3.2.2).
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

    private static func hasPrefix(_ text: Span<UInt8>, from begin: Int, _ prefix: [UInt8]) -> Bool {
        guard text.count - begin >= prefix.count else { return false }
        for index in prefix.indices where text[begin + index] != prefix[index] { return false }
        return true
    }

    /// - Returns: nil where the path is another; otherwise what stands in the parameter's place, nil where it has none.
    private static func match(_ text: Span<UInt8>, _ path: Range<Int>, _ route: Route) -> Range<Int>?? {
        let before = route.literals.before
        guard path.count >= before.count, hasPrefix(text, from: path.lowerBound, before) else { return .none }
        let begin = path.lowerBound + before.count
        guard let after = route.literals.after else { return begin == path.upperBound ? .some(nil) : .none }
        var end = begin
        while end < path.upperBound, text[end] != UInt8(ascii: "/") { end += 1 }
        guard path.upperBound - end == after.count, hasPrefix(text, from: end, after) else { return .none }
        return .some(begin..<end)
    }

    private static func slice(_ uri: String, _ range: Range<Int>) -> Substring.UTF8View {
        uri.utf8.dropFirst(range.lowerBound).prefix(range.count)
    }

    private static func publicKeyHash(in uri: String, _ segment: Range<Int>) throws(MerchantError) -> PublicKeyHash {
        if let hash = PublicKeyHash(base64URL: uri.utf8Span.span.extracting(segment)) { return hash }
        guard let text = PercentEncoding.decode(slice(uri, segment)), let hash = PublicKeyHash(anySpelling: text) else {
            throw MerchantError(
                .malformed,
                "the path holds no publicKeyHash, expected 43 characters of Base64url, 44 of Base64 (percent-encoded) or 64 hexadecimal digits"
            )
        }
        return hash
    }

    private static func includesPrivateKey(
        _ query: Substring.UTF8View, _ route: Route
    ) throws(MerchantError) -> Bool {
        guard !query.isEmpty else { return false }
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
