import FoundationEssentials
import Vocabulary

/// Decodes the text of one value. It reports the common faults of the text, and continues with the repaired text if it
/// can repair a fault.
struct ValueText {
    let name: InspectedName
    /// The decoded bytes; nil if they cannot be determined.
    private(set) var bytes: [UInt8]?
    private(set) var findings: [PassDataFinding] = []
    /// The minimum number of hexadecimal digits. Fewer digits could be Base64 by chance. Also the minimum number of
    /// bytes for the check of damaged text.
    private static let shortestHex = 32
    /// The maximum number of encodings inside the outermost Base64 that are removed.
    private static let deepest = 3

    init(_ text: String, name: InspectedName) {
        self.name = name
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            add(.emptyValue, "'\(name.rawValue)' is empty")
            return
        }
        guard !isIncomplete(text) else { return }
        let plain = withoutTransportFaults(text)
        guard let decoded = decode(plain) else { return }
        bytes = withoutInnerEncodings(decoded)
    }

    private mutating func add(_ kind: PassDataFinding.Kind, _ message: String) {
        findings.append(PassDataFinding(kind, value: name, message))
    }

    // MARK: - Transport

    private mutating func isIncomplete(_ text: String) -> Bool {
        if text.contains("<private>") || text.contains("<redacted>") {
            add(.hiddenByLog, "the log shows a placeholder in place of '\(name.rawValue)'")
            return true
        }
        if text.contains("...") || text.contains("\u{2026}") {
            add(.truncatedValue, "'\(name.rawValue)' contains dots in place of a part that was left out")
            return true
        }
        return false
    }

    /// Removes what a log, a form or a second escaping added to the text.
    private mutating func withoutTransportFaults(_ given: String) -> String {
        var text = given
        if let body = Self.bodyOfPEM(text) {
            add(.pem, "'\(name.rawValue)' is PEM")
            text = body
        }
        if let digits = Self.digitsOfDescription(text) {
            add(.dataDescription, "'\(name.rawValue)' is the description of a data object")
            text = digits
        }
        if text.contains("\\") {
            add(.escapedTwice, "'\(name.rawValue)' contains backslashes")
            text = text.replacing("\\n", with: "").replacing("\\r", with: "").replacing("\\", with: "")
        }
        let blanks = text.unicodeScalars.count(where: { $0.properties.isWhitespace })
        if blanks > 0 && !findings.contains(where: { $0.kind == .pem || $0.kind == .dataDescription }) {
            let withPlus = text.replacing(" ", with: "+")
            let compact = Self.withoutWhitespace(text)
            if Base64.decode(compact) == nil, Base64.decode(withPlus) != nil {
                add(.plusReadAsBlank, "every '+' in '\(name.rawValue)' became a blank (\(blanks.counted("blank")))")
                text = withPlus
            } else {
                add(.whitespace, "'\(name.rawValue)' contains white space (\(blanks.counted("character")))")
            }
        }
        text = Self.withoutWhitespace(text)
        if text.contains("%") {
            add(.percentEncoded, "'\(name.rawValue)' is percent-encoded")
            for (code, character) in [("%2B", "+"), ("%2F", "/"), ("%3D", "=")] {
                text = text.replacing(code, with: character).replacing(code.lowercased(), with: character)
            }
        }
        return text
    }

    private static func withoutWhitespace(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isWhitespace }))
    }

    /// The Base64 between the lines of a PEM text; nil if the text is not PEM.
    private static func bodyOfPEM(_ text: String) -> String? {
        let marks = text.ranges(of: "-----")
        guard text.contains("-----BEGIN "), marks.count >= 2 else { return nil }
        let end = marks.count >= 3 ? marks[2].lowerBound : text.endIndex
        let body = text[marks[1].upperBound..<end].replacing("\\n", with: "").replacing("\\r", with: "")
        return withoutWhitespace(String(body))
    }

    /// The hexadecimal digits of `<04ab12cd …>` or `{length = 65, bytes = 0x04ab…}`, as Objective-C prints data.
    private static func digitsOfDescription(_ text: String) -> String? {
        if text.hasPrefix("<"), text.hasSuffix(">") { return withoutWhitespace(String(text.dropFirst().dropLast())) }
        guard text.hasPrefix("{"), let mark = text.firstRange(of: "bytes = 0x") else { return nil }
        return withoutWhitespace(String(text[mark.upperBound...].prefix { $0.isHexDigit || $0 == " " }))
    }

    // MARK: - Encodings

    /// Decodes a text without white space.
    private mutating func decode(_ given: String) -> [UInt8]? {
        var text = given
        if let bytes = Self.hex(text) {
            // The digits of a description are reported already.
            if !findings.contains(where: { $0.kind == .dataDescription }) {
                add(.hexInsteadOfBase64, "'\(name.rawValue)' is hexadecimal, expected Base64")
            }
            return bytes
        }
        if text.contains("-") || text.contains("_") {
            let standard = text.replacing("-", with: "+").replacing("_", with: "/")
            // Visa's activation data and encrypted card numbers contain hyphens, but are not Base64. They begin with
            // MBPA.
            if Self.isBase64Alphabet(standard) && !text.hasPrefix("MBPA") {
                add(.urlSafeBase64, "'\(name.rawValue)' uses the URL alphabet of Base64")
                text = standard
            }
        }
        let remainder = text.utf8.count % 4
        if Self.isBase64Alphabet(text) && !text.hasSuffix("=") && remainder > 0 {
            guard remainder > 1 else {
                add(
                    .truncatedValue,
                    "'\(name.rawValue)' has \(text.utf8.count.counted("character")), not a valid Base64 length")
                return nil
            }
            add(.missingPadding, "'\(name.rawValue)' lacks the padding of Base64")
            text += String(repeating: "=", count: 4 - remainder)
        }
        let canonical = Self.withoutUnusedBits(text)
        guard Self.isBase64Alphabet(text), let data = Base64.decode(canonical) else {
            add(.notBase64, "'\(name.rawValue)' (\(text.count.counted("character"))) is neither Base64 nor hexadecimal")
            return nil
        }
        if canonical != text {
            add(.nonCanonicalBase64, "the unused bits at the end of '\(name.rawValue)' are not zero")
        }
        return [UInt8](data)
    }

    /// The text with the unused bits of its last digit set to zero. Unused bits belong to no byte.
    private static func withoutUnusedBits(_ text: String) -> String {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        // If the last group has two digits, they contain one byte and four unused bits. Three digits contain two bytes
        // and two unused bits.
        let unused = [0, 0, 4, 2][digits.count % 4]
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        guard unused > 0, let last = digits.last, let value = alphabet.firstIndex(of: last) else { return text }
        let cleared = alphabet[(value >> unused) << unused]
        let padding = text.utf8.dropFirst(digits.count)
        return String(decoding: Array(digits.dropLast()) + [cleared] + Array(padding), as: UTF8.self)
    }

    /// Removes encodings that were applied before the outermost Base64.
    private mutating func withoutInnerEncodings(_ decoded: [UInt8]) -> [UInt8]? {
        var bytes = decoded
        for _ in 1...Self.deepest {
            guard let text = Self.asciiText(bytes) else { break }
            if let body = Self.bodyOfPEM(text), let inner = Base64.decode(body) {
                add(.pem, "'\(name.rawValue)' is the Base64 text of PEM")
                bytes = [UInt8](inner)
            } else if let inner = Self.hex(text), isNotActivationData {
                add(.hexInsideBase64, "'\(name.rawValue)' is the Base64 text of a hexadecimal text")
                bytes = inner
            } else if let inner = Base64.decode(Self.withoutWhitespace(text)), isEncodedTwice(text, [UInt8](inner)) {
                add(.base64Twice, "'\(name.rawValue)' was encoded with Base64 twice")
                bytes = [UInt8](inner)
            } else {
                break
            }
        }
        // A short value can be valid UTF-8 by chance. JSON that was not encrypted can contain a cardholder's name with
        // characters outside ASCII.
        let isJSON = bytes.starts(with: Array("{\"".utf8))
        guard bytes.count >= Self.shortestHex, !isJSON, let text = TextDecoding(bytes) else {
            return bytes
        }
        add(
            .textDecoded,
            "'\(name.rawValue)' was decoded as text and encoded again: it has \(bytes.count.counted("byte")), "
                + DamagedBytesMessage.original(text.original?.count))
        return text.original
    }

    private var isNotActivationData: Bool { name != .activationData }

    /// The activation data of some networks is itself a text that looks like Base64. For activation data, only Visa's
    /// form therefore proves that the value was encoded twice.
    private func isEncodedTwice(_ text: String, _ inner: [UInt8]) -> Bool {
        guard isNotActivationData else { return inner.starts(with: Array("MBPA".utf8)) }
        return text.utf8.count >= 24
    }

    /// - Returns: nil unless the text consists of enough hexadecimal digits.
    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : text
        guard digits.utf8.count >= shortestHex else { return nil }
        return Hex.decode(digits)
    }

    private static func isBase64Alphabet(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
                || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
        }
    }

    private static func asciiText(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ $0 < 0x7F && ($0 >= 0x20 || $0 == 0x0A || $0 == 0x0D) }) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
