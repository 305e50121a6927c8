package import Secrets
import StrictJSON
import Vocabulary

/// The decrypted metadata of a merchant token.
///
/// The value keeps the account number (MPAN) in memory that is overwritten when the value is destroyed. The type is
/// noncopyable, so that a value cannot be printed, dumped, compared or encoded.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", TokenMetadata.
public struct DecryptedTokenMetadata: ~Copyable, Sendable {
    /// The greatest length of ``mpanIdentifier``. Apple publishes no limit.
    static let longestIdentifier = 128

    /// The expiration date of the merchant token: YYMMDD, where DD is the last day of the month.
    public let expirationDate: String
    /// Apple's `mpanId`: the identifier of the new account number, up to 128 visible ASCII characters. Nil if
    /// Apple sent none, because the identifier did not change.
    public let mpanIdentifier: String?
    /// The digits of the account number in ASCII.
    private let mpan: SecretBytes

    /// Parses the plaintext. The parser copies the fields, including the account number, to Swift strings, which are
    /// not wiped.
    ///
    /// - Throws: `plaintextMalformed`. The detail names the field, or where the JSON text is not valid. It never
    ///   contains a value.
    package init(plaintext: borrowing SecretBytes) throws(PaymentTokenError) {
        let (date, digits, identifier) = try Self.parse(plaintext)
        expirationDate = date
        mpanIdentifier = identifier
        mpan = SecretBytes(copying: digits.utf8)
    }

    // A separate function, because an initializer of a noncopyable type must not throw after it has initialized a
    // property.
    private static func parse(
        _ plaintext: borrowing SecretBytes
    ) throws(PaymentTokenError) -> (expirationDate: String, mpan: String, identifier: String?) {
        do throws(JSONFault) {
            var fields = try plaintext.withUnsafeBytes { (bytes) throws(JSONFault) in
                try JSONFields(parsing: bytes).acceptingNull()
            }
            return (
                try fields.digits("expirationDate", 6...6), try fields.digits("mpan", 8...19), try identifier(&fields)
            )
        } catch { throw PaymentTokenError(.plaintextMalformed, error.description) }
    }

    private static func identifier(_ fields: inout JSONFields) throws(JSONFault) -> String? {
        guard let text = try fields.string("mpanId") else { return nil }
        guard (1...longestIdentifier).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw JSONFault(
                "'mpanId' (\(text.utf8.count.counted("byte"))) is not a string of 1 to \(longestIdentifier) visible "
                    + "ASCII characters")
        }
        return text
    }

    /// Calls a closure with the account number (MPAN), 8 to 19 digits in ASCII. The pointer is valid only during the
    /// call.
    public borrowing func withMPAN<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mpan.withUnsafeBytes(body)
    }
}
