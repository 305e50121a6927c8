/// A type whose values contain data of a decrypted payment and print as `(redacted)`.
///
/// String interpolation gives `(redacted)` too, and the `Mirror` of a value has no children, so that the data does not
/// appear in a log by accident. The properties of the value can still be read.
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
