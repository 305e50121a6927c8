package import Secrets
import StrictJSON

/// What a payment token held, byte for byte. Its memory is owned once, never copied and overwritten at its end.
public struct DecryptedPaymentData: ~Copyable, Sendable {
    private let plaintext: SecretBytes

    package init(plaintext: consuming SecretBytes) { self.plaintext = plaintext }

    /// How many bytes it is.
    public var count: Int { plaintext.count }

    /// Lends the plaintext, JSON as Apple wrote it, for the length of the closure.
    public borrowing func withPlaintext<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try plaintext.withUnsafeBytes(body)
    }

    /// Reads the plaintext into fields. The fields are copies that Swift's strings hold; they are not wiped.
    ///
    /// - Throws: ``PaymentTokenError`` with code `plaintextMalformed`, naming fields but quoting no value. The plaintext
    ///   itself stays available.
    public borrowing func paymentData() throws(PaymentTokenError) -> PaymentData {
        try plaintext.withUnsafeBytes { (bytes) throws(PaymentTokenError) in
            do throws(JSONFault) { return try PaymentData(JSONFields(parsing: bytes)) } catch {
                throw PaymentTokenError(.plaintextMalformed, error.description)
            }
        }
    }
}
