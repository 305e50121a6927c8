import Secrets
import StrictJSON
import Vocabulary

/// The JSON object in a decrypted plaintext, after the repair of common faults of its text.
struct PlaintextText {
    /// Nil if the plaintext contains no JSON object. The caller must wipe the object after use.
    private(set) var object: JSONObject?
    private(set) var findings: [CardDataFinding] = []
    /// The maximum depth of the JSON: at most two encodings around the JSON are removed.
    private static let deepest = 3

    init(_ bytes: UnsafeRawBufferPointer) { read(bytes[...], depth: 1) }

    private mutating func read(_ bytes: Slice<UnsafeRawBufferPointer>, depth: Int) {
        var bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            add(.byteOrderMark, "the plaintext begins with a byte order mark")
            bytes = bytes.dropFirst(3)
        }
        if Self.isUTF16(bytes) {
            add(.utf16, "the plaintext is encoded as UTF-16, expected UTF-8")
            return
        }
        if depth < Self.deepest && readEncoded(bytes, depth: depth) { return }
        let padding = Self.paddingLength(bytes)
        if padding > 0 {
            add(.paddingAfterJSON, "the JSON is followed by padding (\(padding.counted("byte")))")
            bytes = bytes.dropLast(padding)
        }
        do throws(CardDataFinding) { object = try CardText.parse(bytes) } catch { findings.append(error) }
    }

    /// Reads JSON inside of Base64 or of a JSON string.
    ///
    /// - Returns: false if the plaintext is neither.
    private mutating func readEncoded(_ bytes: Slice<UnsafeRawBufferPointer>, depth: Int) -> Bool {
        switch bytes.first ?? 0 {
        // The Base64 of a text that begins with `{"` begins with `ey`. The Base64 of a text that begins with `ey`
        // begins with `ZX`.
        case UInt8(ascii: "e"), UInt8(ascii: "Z"):
            let text = String(decoding: bytes, as: UTF8.self)
            defer { Wipe.sharedBytes(of: text) }
            guard let decoded = SecretBytes.decoding(base64: text) else { return false }
            add(.plaintextBase64, "the plaintext is the Base64 text of the card data")
            var inner = PlaintextText(findings: findings)
            decoded.withUnsafeBytes { inner.read($0[...], depth: depth + 1) }
            self = inner
            return true
        case UInt8(ascii: "\""):
            let value: JSONValue
            do throws(JSONFault) { value = try JSONParser.parse(bytes, limits: CardText.limits) } catch { return false }
            defer { CardText.wipe(value) }
            guard case .string(let text) = value else { return false }
            add(.jsonInString, "the plaintext is a JSON string that contains the card data")
            let decoded = SecretBytes(copying: text.utf8)
            var inner = PlaintextText(findings: findings)
            decoded.withUnsafeBytes { inner.read($0[...], depth: depth + 1) }
            self = inner
            return true
        default: return false
        }
    }

    private init(findings: [CardDataFinding]) { self.findings = findings }

    private static func isUTF16(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return true }
        let start = Array(bytes.prefix(2))
        return start == [UInt8(ascii: "{"), 0] || start == [0, UInt8(ascii: "{")]
    }

    /// The number of bytes after the last `}`, if all of them are zero or they are the padding of a block cipher: n
    /// bytes of value n (PKCS #7). Otherwise 0.
    private static func paddingLength(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "}")) else { return 0 }
        let rest = bytes[bytes.index(after: end)...]
        guard let value = rest.first, rest.allSatisfy({ $0 == value }) else { return 0 }
        let isPadding = value == 0 || value <= 16 && Int(value) == rest.count
        return isPadding ? rest.count : 0
    }

    private mutating func add(_ kind: CardDataFinding.Kind, _ message: String) {
        findings.append(CardDataFinding(kind, message))
    }
}
