/// One problem, a fault or a warning, with the data that the app or the issuer supplied.
///
/// A finding contains no card number, no cardholder's name and no cryptographic key, so it can be logged and shown.
public protocol ProvisioningFinding: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of finding, for programs to compare: a name in camel case, such as `markerNotCritical`. A released code
    /// does not change.
    var code: String { get }
    /// What failed, with the values that were found. It begins in lower case and has no full stop.
    var message: String { get }
    /// What to do. It begins with a verb in lower case and has no full stop.
    var action: String { get }
}

extension ProvisioningFinding {
    /// The message and the action: `MESSAGE: ACTION`.
    public var description: String { "\(message): \(action)" }
}
