package import Secrets
import StrictJSON

/// The decrypted plaintext of a payment token.
///
/// The plaintext has one owner, is not copied, and is overwritten when the value is destroyed.
public struct DecryptedPaymentData: ~Copyable, Sendable {
    private let plaintext: SecretBytes

    package init(plaintext: consuming SecretBytes) { self.plaintext = plaintext }

    /// The length of the plaintext in bytes.
    public var count: Int { plaintext.count }

    /// Calls a closure with the plaintext, the JSON that Apple encrypted. The pointer is valid only during the call.
    public borrowing func withPlaintext<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try plaintext.withUnsafeBytes(body)
    }

    /// Parses the plaintext. The fields are copies in Swift strings, which are not wiped.
    ///
    /// - Throws: ``PaymentTokenError`` with code `plaintextMalformed`. The detail names the field and never contains a
    ///   value. The plaintext stays available through ``withPlaintext(_:)``.
    public borrowing func paymentData() throws(PaymentTokenError) -> PaymentData {
        try plaintext.withUnsafeBytes { (bytes) throws(PaymentTokenError) in
            do throws(JSONFault) { return try PaymentData(JSONFields(parsing: bytes)) } catch {
                throw PaymentTokenError(.plaintextMalformed, error.description)
            }
        }
    }
}
