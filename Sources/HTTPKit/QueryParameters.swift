/// The decoded parameters of a request's query. The route declares each name, and no name occurs twice.
package struct QueryParameters: Sendable {
    private let values: [String: String]

    /// - Parameters:
    ///   - rawQuery: the percent-encoded text after the `?`.
    ///   - known: the names that the route declares.
    /// - Throws: ``HTTPFault/malformedTarget(_:)``, which names the parameter that is unknown, repeated or wrongly
    ///   encoded.
    package init(_ rawQuery: Substring, known: Set<String>) throws(HTTPFault) {
        var values: [String: String] = [:]
        guard !rawQuery.isEmpty else {
            self.values = values
            return
        }
        for pair in rawQuery.split(separator: "&", omittingEmptySubsequences: false) {
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            let name = try Self.decode(pair[..<end], "a query parameter's name")
            guard known.contains(name) else {
                let expected =
                    known.isEmpty ? "none" : "only \(known.sorted().map { "'\($0)'" }.joined(separator: ", "))"
                throw .malformedTarget("unknown query parameter '\(name.prefix(64))', expected \(expected)")
            }
            let value = try Self.decode(pair[end...].dropFirst(), "the query parameter '\(name)'")
            guard values.updateValue(value, forKey: name) == nil else {
                throw .malformedTarget("the query parameter '\(name)' occurs twice; send it once")
            }
        }
        self.values = values
    }

    package subscript(name: String) -> String? { values[name] }

    private static func decode(_ text: Substring, _ what: String) throws(HTTPFault) -> String {
        guard let decoded = PercentDecoding.decode(text) else { throw .malformedEncoding(of: what) }
        return decoded
    }
}

extension HTTPFault {
    /// - Parameter what: the part of the request target that cannot be decoded.
    package static func malformedEncoding(of what: String) -> HTTPFault {
        .malformedTarget("\(what) is not valid percent-encoded UTF-8, expected two hexadecimal digits after each '%'")
    }
}
