/// A problem with the values that an app passed to PassKit, or with their encryption.
///
/// A finding contains names of values, lengths and permitted values. It never contains a value, card number or name.
public struct PassDataFinding: ProvisioningFinding {
    /// The kind of finding.
    public let kind: Kind
    /// The name of the value, for example `ephemeralPublicKey`; empty if the finding is not about one value.
    public let value: String
    /// What failed. It begins in lower case and has no full stop.
    public let message: String

    init(_ kind: Kind, value: InspectedName? = nil, _ message: String) {
        self.kind = kind
        self.value = value?.rawValue ?? ""
        self.message = message
    }

    /// The code of the kind, which programs can compare.
    public var code: String { kind.rawValue }
    /// What to do. It begins with a verb in lower case and has no full stop.
    public var action: String { kind.action }
    /// Whether Apple's broker may accept the values in spite of the finding.
    public var isWarning: Bool { kind == .activationDataAbsent }
}
