/// The path and the query of a request as they were sent: RFC 9112 section 3.2.1, origin form.
package struct RequestTarget: Sendable {
    package let path: Substring
    package let rawQuery: Substring

    package init(_ target: String) {
        let end = target.firstIndex(of: "?") ?? target.endIndex
        path = target[..<end]
        rawQuery = end == target.endIndex ? "" : target[target.index(after: end)...]
    }

    /// Whether the path starts with `/` and has no empty segment.
    ///
    /// A path with an empty segment is refused, because routers ignore empty segments: `//v1/keys` and `/v1/keys/`
    /// would be further names of `/v1/keys`.
    package var hasOnlyFullSegments: Bool {
        var previous: UInt8?
        for byte in path.utf8 {
            if previous == nil, byte != UInt8(ascii: "/") { return false }
            if previous == UInt8(ascii: "/"), byte == UInt8(ascii: "/") { return false }
            previous = byte
        }
        return previous != nil && (previous != UInt8(ascii: "/") || path.utf8.count == 1)
    }

    /// Removes the scheme and the authority from a target in absolute form. RFC 9112 section 3.2.2 requires a server to
    /// accept that form.
    package static func originForm(_ target: String) -> String {
        let scheme = "http://"
        guard target.hasPrefix(scheme) else { return target }
        let rest = target.dropFirst(scheme.count)
        guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
    }
}
