import HTTPTypes
import ServerKit

/// Reads the header fields in which proxies report the addresses that a request came from.
///
/// Each proxy appends the address from which it received the request, so the last element is the most trustworthy. An
/// element that is not an IP address is nil.
enum ForwardedHeaders {
    /// The elements of `X-Forwarded-For`; nil if the request does not have this field.
    static func xForwardedFor(_ headers: HTTPFields) -> [RemoteAddress?]? {
        let values = headers[values: .xForwardedFor]
        guard !values.isEmpty else { return nil }
        return values.flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map { read(trimmed($0)) }
        }
    }

    /// The parameters `for` of the elements of `Forwarded` (RFC 7239); nil if the request does not have this field.
    static func forwarded(_ headers: HTTPFields) -> [RemoteAddress?]? {
        let values = headers[values: .forwarded]
        guard !values.isEmpty else { return nil }
        return values.flatMap { value -> [RemoteAddress?] in
            // If the value is malformed, it is unclear where its last element begins.
            guard let elements = split(value[...], at: ",") else { return [nil] }
            return elements.map(addressOfElement)
        }
    }

    /// - Parameter element: pairs `name=value`, separated by `;`.
    private static func addressOfElement(_ element: Substring) -> RemoteAddress? {
        var found: RemoteAddress?
        for pair in split(element, at: ";") ?? [] {
            let parts = trimmed(pair).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == "for" else { continue }
            // The parameter may occur only once.
            guard found == nil, let address = read(unquoted(parts[1])) else { return nil }
            found = address
        }
        return found
    }

    /// Splits a text at each separator outside of quoted strings.
    ///
    /// - Returns: nil if a quoted string has no closing quote.
    private static func split(_ text: Substring, at separator: Character) -> [Substring]? {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, character == separator {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        guard !isQuoted else { return nil }
        return parts + [text[start...]]
    }

    /// Removes the quotes of a quoted string. No address contains a character that needs an escape.
    private static func unquoted(_ text: Substring) -> Substring {
        guard text.utf8.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        return text.dropFirst().dropLast()
    }

    /// Reads an address with an optional port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or
    /// `[2001:db8::1]:4711`.
    private static func read(_ text: Substring) -> RemoteAddress? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let inner = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard inner.contains(":"), rest.isEmpty || (rest.first == ":" && isPort(rest.dropFirst())) else {
                return nil
            }
            return RemoteAddress(String(inner))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard isPort(parts[1]), parts[0].contains(".") else { return nil }
            return RemoteAddress(String(parts[0]))
        }
        return RemoteAddress(String(text))
    }

    private static func isPort(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Removes spaces and tabs at both ends.
    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return text
    }
}

extension HTTPField.Name {
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    // swift-format-ignore: NeverForceUnwrap
    fileprivate static let forwarded = HTTPField.Name("Forwarded")!
}
