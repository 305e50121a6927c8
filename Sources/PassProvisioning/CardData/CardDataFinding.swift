/// A problem with the card data of an in-app provisioning request: a fault, or a warning (``isWarning``).
///
/// A finding contains names of keys, lengths and permitted values. It never contains a card number or a name.
public struct CardDataFinding: ProvisioningFinding {
    /// The kind of finding.
    public let kind: Kind
    /// The path of the key, for example `auxiliaryCards[0].expiration`; empty if the finding is not about one known
    /// key.
    public let key: String
    /// What failed. It begins in lower case and has no full stop.
    public let message: String

    init(_ kind: Kind, key: String = "", _ message: String) {
        self.kind = kind
        self.key = key
        self.message = message
    }

    /// The code of the kind, which programs can compare.
    public var code: String { kind.rawValue }
    /// What to do.
    public var action: String { kind.action }
    /// Whether the card data can be used in spite of the finding.
    public var isWarning: Bool { kind.isWarning }
}
