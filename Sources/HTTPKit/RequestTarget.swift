/// The path and the query of a request, still percent-encoded: RFC 9112 section 3.2.1, origin form.
package struct RequestTarget: Sendable {
    package let path: Substring
    package let rawQuery: Substring

    package init(_ target: String) {
        let end = target.firstIndex(of: "?") ?? target.endIndex
        path = target[..<end]
        rawQuery = end == target.endIndex ? "" : target[target.index(after: end)...]
    }

    /// Whether the path starts with `/` and has no empty segment. The path `/` is valid.
    ///
    /// The servers refuse a path with an empty segment. Routers ignore empty segments, so they would treat `//v1/keys`
    /// and `/v1/keys/` like `/v1/keys`.
    package var hasNoEmptySegments: Bool {
        var previous: UInt8?
        for byte in path.utf8 {
            if previous == nil, byte != UInt8(ascii: "/") { return false }
            if previous == UInt8(ascii: "/"), byte == UInt8(ascii: "/") { return false }
            previous = byte
        }
        return previous != nil && (previous != UInt8(ascii: "/") || path.utf8.count == 1)
    }

    /// Removes the scheme (`http` or `https`) and the authority from a target in absolute form, and returns any other
    /// target unchanged. RFC 9112 section 3.2.2 requires a server to accept the absolute form.
    package static func originForm(_ target: String) -> String {
        // A scheme may be in upper case: RFC 3986 section 3.1.
        let begin = target.prefix(8).lowercased()
        guard let scheme = ["http://", "https://"].first(where: { begin.hasPrefix($0) }) else { return target }
        let rest = target.dropFirst(scheme.count)
        guard let authorityEnd = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        let pathAndQuery = rest[authorityEnd...]
        return pathAndQuery.first == "/" ? String(pathAndQuery) : "/" + pathAndQuery
    }
}
