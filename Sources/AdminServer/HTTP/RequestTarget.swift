package import MerchantCore

/// The path and the query of a request, as they were sent: RFC 9112 section 3.2.1, origin form.
package struct RequestTarget {
    let path: Substring
    private let rawQuery: Substring

    init(_ target: String) {
        let cut = target.firstIndex(of: "?") ?? target.endIndex
        path = target[..<cut]
        rawQuery = cut == target.endIndex ? "" : target[target.index(after: cut)...]
    }

    /// - Throws: `malformed` naming a parameter that is not `known`, or comes twice.
    func query(known: Set<String>) throws(MerchantError) -> [String: String] {
        guard !rawQuery.isEmpty else { return [:] }
        var parameters: [String: String] = [:]
        for pair in rawQuery.split(separator: "&", omittingEmptySubsequences: false) {
            let cut = pair.firstIndex(of: "=") ?? pair.endIndex
            let name = try Self.decode(pair[..<cut], as: "a query parameter's name")
            guard known.contains(name) else {
                let expected =
                    known.isEmpty ? "none" : "only \(known.sorted().map { "'\($0)'" }.joined(separator: ", "))"
                throw MerchantError(.malformed, "unknown query parameter '\(name.prefix(64))', expected \(expected)")
            }
            let value = try Self.decode(pair[cut...].dropFirst(), as: "the query parameter '\(name)'")
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw MerchantError(.malformed, "the query parameter '\(name)' is there twice, expected it once")
            }
        }
        return parameters
    }

    /// Undoes percent-encoding, RFC 3986 section 2.1. A `+` is a `+`: Base64 has them.
    package static func decode(_ text: Substring, as what: String) throws(MerchantError) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw MerchantError(.malformed, "\(what) has a '%' without two hexadecimal digits after it")
            }
            bytes.append(high << 4 | low)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw MerchantError(.malformed, "\(what) is not UTF-8 once percent-decoded")
        }
        return decoded
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        Character(Unicode.Scalar(character)).hexDigitValue.map { UInt8($0) }
    }
}
