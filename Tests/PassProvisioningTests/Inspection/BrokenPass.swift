import Crypto
import FoundationEssentials
import PassProvisioning
import Testing
import Vocabulary

/// A broken input, made from a valid pass, with the codes of all findings about it.
struct BrokenPass: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: [String]
    /// Whether the card data can be decrypted after the repairs.
    let decryption: InspectedValues.Decryption
    let text: @Sendable (TestPass) throws -> String

    init(
        _ testDescription: String, _ codes: [String], decryption: InspectedValues.Decryption = .succeeded,
        text: @escaping @Sendable (TestPass) throws -> String
    ) {
        self.testDescription = testDescription
        self.codes = codes
        self.decryption = decryption
        self.text = text
    }

    static let all = [encodings, forms, keys, ciphertexts, versions, documents].flatMap { $0 }

    static func base64(_ text: String) -> String { TestBase64.encode(Array(text.utf8)) }

    /// Reads bytes as Latin-1, and writes the text in UTF-8.
    static func readAsLatin1(_ bytes: [UInt8]) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return Array(String(text).utf8)
    }

    // MARK: - Encodings of a value

    static let encodings: [BrokenPass] = [
        BrokenPass("Base64 twice, ciphertext", ["base64Twice"]) { $0.json(ciphertext: base64($0.ciphertextBase64)) },
        BrokenPass("Base64 twice, key", ["base64Twice"]) { $0.json(point: base64($0.pointBase64)) },
        BrokenPass("Base64 twice, both", ["base64Twice", "base64Twice"]) {
            $0.json(point: base64($0.pointBase64), ciphertext: base64($0.ciphertextBase64))
        },
        BrokenPass("Base64 three times", ["base64Twice", "base64Twice"]) {
            $0.json(ciphertext: base64(base64($0.ciphertextBase64)))
        },
        BrokenPass("Base64 twice of a SubjectPublicKeyInfo", ["base64Twice", "subjectPublicKeyInfo"]) {
            $0.json(point: base64(TestBase64.encode($0.subjectPublicKeyInfo)))
        },
        BrokenPass("hexadecimal ciphertext", ["hexInsteadOfBase64"]) { $0.json(ciphertext: Hex.encode($0.ciphertext)) },
        BrokenPass("hexadecimal key in upper case", ["hexInsteadOfBase64"]) {
            $0.json(point: Hex.encode($0.point).uppercased())
        },
        BrokenPass("hexadecimal key with 0x", ["hexInsteadOfBase64"]) { $0.json(point: "0x" + Hex.encode($0.point)) },
        BrokenPass("Base64 of hexadecimal", ["hexInsideBase64"]) {
            $0.json(ciphertext: base64(Hex.encode($0.ciphertext)))
        },
        BrokenPass("URL alphabet", ["urlSafeBase64"]) {
            $0.json(ciphertext: $0.ciphertextBase64.replacing("+", with: "-").replacing("/", with: "_"))
        },
        BrokenPass("no padding", ["missingPadding"]) { $0.json(point: String($0.pointBase64.dropLast())) },
        BrokenPass(
            "URL alphabet without padding", ["urlSafeBase64", "missingPadding", "decryptionFailed"], decryption: .failed
        ) {
            let bytes = Array($0.ciphertext.dropLast($0.ciphertext.count % 3)) + [0xFF, 0xFE]
            let text = TestBase64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_")
            return $0.json(point: $0.pointBase64, ciphertext: text.replacing("=", with: ""))
        },
        BrokenPass("unused bits", ["nonCanonicalBase64"]) {
            // The last digit of 65 bytes has two unused bits. They are zero, so the next digit differs only in them.
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            let digits = Array($0.pointBase64)
            let index = try #require(alphabet.firstIndex(of: digits[86]))
            return $0.json(point: String(digits[..<86]) + String(alphabet[index + 1]) + "=")
        },
        BrokenPass("percent-encoded", ["percentEncoded"]) {
            $0.json(point: $0.pointBase64.replacing("=", with: "%3D").replacing("/", with: "%2f"))
        },
        BrokenPass("blanks in place of plus", ["plusReadAsBlank"]) {
            $0.json(ciphertext: $0.ciphertextBase64.replacing("+", with: " "))
        },
        BrokenPass("a backslash before every slash", ["escapedTwice"]) {
            $0.json(ciphertext: $0.ciphertextBase64.replacing("/", with: #"\\/"#))
        },
        BrokenPass("line feeds in a value", ["whitespace"]) {
            $0.json(ciphertext: "\($0.ciphertextBase64.prefix(64))\\n\($0.ciphertextBase64.dropFirst(64))")
        },
        BrokenPass("lines wrapped by a log", ["whitespace"]) {
            $0.json(ciphertext: "\($0.ciphertextBase64.prefix(64))\n    \($0.ciphertextBase64.dropFirst(64))")
        },
    ]

    // MARK: - Other forms of a value

    static let forms: [BrokenPass] = [
        BrokenPass("not Base64", ["notBase64"], decryption: .notAttempted) { $0.json(point: "(binary)") },
        BrokenPass("cut Base64", ["truncatedValue"], decryption: .notAttempted) {
            $0.json(point: String($0.pointBase64.prefix(85)))
        },
        BrokenPass("dots", ["truncatedValue"], decryption: .notAttempted) {
            $0.json(ciphertext: "\($0.ciphertextBase64.prefix(40))...")
        },
        BrokenPass("an ellipsis", ["truncatedValue"], decryption: .notAttempted) {
            $0.json(point: "\($0.pointBase64.prefix(40))…")
        },
        BrokenPass("private data of a log", ["hiddenByLog"], decryption: .notAttempted) {
            $0.json(ciphertext: "<private>")
        },
        BrokenPass("description of NSData", ["dataDescription"]) {
            $0.json(point: "<\(Hex.encode($0.point.prefix(4))) \(Hex.encode($0.point.dropFirst(4)))>")
        },
        BrokenPass("description of Data", ["dataDescription"]) {
            $0.json(point: "{length = 65, bytes = 0x\(Hex.encode($0.point))}")
        },
        BrokenPass("read as Latin-1", ["textDecoded"]) { $0.json(ciphertextBytes: readAsLatin1($0.ciphertext)) },
        BrokenPass("read as UTF-8", ["textDecoded"], decryption: .notAttempted) {
            $0.json(ciphertextBytes: Array(String(decoding: $0.ciphertext, as: UTF8.self).utf8))
        },
        BrokenPass("empty", ["emptyValue"], decryption: .notAttempted) { $0.json(ciphertext: "") },
        BrokenPass("missing ciphertext", ["missingValue"], decryption: .notAttempted) {
            $0.json().replacing("encryptedPassData", with: "other")
        },
        BrokenPass("missing key", ["missingValue"], decryption: .notAttempted) {
            $0.json().replacing("ephemeralPublicKey", with: "other")
        },
        BrokenPass("null", ["missingValue"], decryption: .notAttempted) {
            $0.json().replacing("\"\($0.pointBase64)\"", with: "null")
        },
        BrokenPass("a number", ["wrongType"], decryption: .notAttempted) {
            $0.json().replacing("\"\($0.pointBase64)\"", with: "4")
        },
        BrokenPass("an array of bytes", ["byteArray"]) {
            $0.json().replacing("\"\($0.pointBase64)\"", with: "\($0.point)")
        },
        BrokenPass("an array of signed bytes", ["byteArray"]) {
            let signed = $0.ciphertext.map { Int8(bitPattern: $0) }
            return $0.json().replacing("\"\($0.ciphertextBase64)\"", with: "\(signed)")
        },
        BrokenPass("a Buffer of Node.js", ["byteArray"]) {
            $0.json().replacing("\"\($0.pointBase64)\"", with: #"{"type":"Buffer","data":\#($0.point)}"#)
        },
        BrokenPass("no activation data", ["activationDataAbsent"]) { $0.json(activation: nil) },
        BrokenPass("activation data without Base64", ["activationDataNotEncoded"]) {
            $0.json(activation: TestPass.activationData)
        },
        BrokenPass("activation data with Base64 twice", ["base64Twice"]) {
            $0.json(activation: base64(base64(TestPass.activationData)))
        },
        BrokenPass("an encrypted card number as activation data", ["activationDataIsCardNumber"]) {
            $0.json(activation: TestCard.encryptedNumber)
        },
    ]
}
