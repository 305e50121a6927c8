/// A value out of a decrypted payment: printing, interpolating, reflecting and dumping it give a placeholder, so that a
/// log line cannot hold it by accident. Its fields stay readable to whoever names them.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// A placeholder.
    public var description: String { "(redacted)" }
    /// A placeholder.
    public var debugDescription: String { description }
    /// Empty.
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
