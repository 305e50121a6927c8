/// A domain of a registration: one row in `registration_domains`.
package struct RegistrationDomainRow: Hashable, Sendable {
    package static let columns = "domain_name, is_desired, is_known"

    package let name: String
    /// Whether the domain should be registered.
    package let isDesired: Bool
    /// Whether the domain is in Apple's record, as far as the daemon knows it: ``AppleRecord``.
    package let isKnown: Bool

    package init(name: String, isDesired: Bool, isKnown: Bool) {
        self.name = name
        self.isDesired = isDesired
        self.isKnown = isKnown
    }

    package init(_ row: some StoredRow) throws {
        name = try row.text("domain_name")
        isDesired = try row.flag("is_desired")
        isKnown = try row.flag("is_known")
    }
}
