/// A value of a decrypted payment. It prints as a placeholder.
///
/// Printing and interpolating it give `(redacted)`, and its mirror has no children, so that the value does not appear
/// in a log by accident. Its properties can still be read.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The placeholder `(redacted)`.
    public var description: String { "(redacted)" }
    /// The placeholder `(redacted)`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SensitiveText: Redacted {}
extension PaymentData: Redacted {}
extension PaymentData.PaymentProof: Redacted {}
extension PaymentData.AuthenticationResponse: Redacted {}
extension PaymentData.UnknownField: Redacted {}
extension MerchantTokenMetadata: Redacted {}
extension MerchantTokenMetadata.CardArt: Redacted {}
extension MerchantTokenMetadata.CardMetadata: Redacted {}
extension AuthorizationFields: Redacted {}
