package import MerchantCore
import Vocabulary

/// The changes of a registration's domains that a transaction must write.
///
/// `is_known` marks the domains that Apple has, and `known_name` is NULL if Apple has no registration. The schema
/// refuses a marked domain of a registration whose `known_name` is NULL. So the marks of domains that Apple no longer
/// has are cleared before the registration is updated, and new marks are set after that.
package struct RegistrationDomainChanges {
    /// The domains that lose the mark `is_known` before the registration is updated.
    package private(set) var unmarked: [String] = []
    /// The domains that are removed before the registration is updated, because they were only at Apple.
    package private(set) var removedBefore: [String] = []
    /// The domains that are removed after the registration was updated.
    package private(set) var removedAfter: [String] = []
    /// The domains that are written after the registration was updated, sorted by name.
    package private(set) var written: [RegistrationDomainRow] = []

    /// - Parameter before: the domains in the database; empty for a new registration.
    package init(from before: [RegistrationDomainRow], to registration: Registration) {
        let desired = Set(registration.desired.domainNames.map(\.rawValue))
        let namesAtApple = registration.appleRecord?.details?.domainNames ?? []
        for domain in before {
            let isAtApple = namesAtApple.contains(domain.name)
            if domain.isKnown, !isAtApple {
                if domain.isDesired { unmarked.append(domain.name) } else { removedBefore.append(domain.name) }
            }
            if domain.isDesired, !isAtApple, !desired.contains(domain.name) { removedAfter.append(domain.name) }
        }
        for name in desired.union(namesAtApple).sorted() {
            let domain = RegistrationDomainRow(
                name: name, isDesired: desired.contains(name), isKnown: namesAtApple.contains(name))
            if !before.contains(domain) { written.append(domain) }
        }
    }
}
