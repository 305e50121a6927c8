package import Vocabulary

/// A call to Apple that changes something, on record from before it is made until its outcome is known.
package struct RegistrationCall: Hashable, Sendable {
    /// What Apple is asked.
    package enum Content: Hashable, Sendable {
        /// The domains to add, with name, encryptTo and URL.
        case register(DesiredRegistration, merchant: MerchantIdentifier?)
        case unregister(Set<DomainName>, reason: String)
    }

    /// How a call ended.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Apple said so, or Apple's record shows it.
        case done
        /// Apple refused, or the call never reached it.
        case refused
        /// No answer came, and Apple's record shows that it was not done.
        case notDone
        /// No answer came, to the call or to one of its tries, and a later call or try asks for the same: until its time is
        /// over it may reach Apple after what was asked since.
        case repeated
    }

    /// How long the gateway may take for one, its own repeats included.
    package static let longest = Duration.seconds(60)

    package let number: Int
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package let content: Content
    /// Of the request it was made for.
    package let requestId: String
    package let openedAt: Timestamp

    package init(
        number: Int, partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier, content: Content,
        requestId: String, openedAt: Timestamp
    ) {
        self.number = number
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.content = content
        self.requestId = requestId
        self.openedAt = openedAt
    }
}

extension RegistrationCall.Content {
    package var domainNames: Set<DomainName> {
        switch self {
        case .register(let wanted, _): wanted.domainNames
        case .unregister(let domainNames, _): domainNames
        }
    }

    /// Whether Apple's record matches the call, by whichever request.
    package func isDone(in details: KnownRegistration.Details?) -> Bool {
        switch self {
        case .register(let wanted, _):
            guard let details else { return false }
            return wanted.domainNames.allSatisfy { details.domainNames.contains($0.rawValue) }
                && details.partnerMerchantName == wanted.partnerMerchantName
                && details.encryptToHash.uppercased() == wanted.encryptTo.appleHash
        case .unregister(let domainNames, _):
            return domainNames.allSatisfy { !(details?.domainNames.contains($0.rawValue) ?? false) }
        }
    }

    /// Whether doing this makes it the same whether or not the other was or will be done.
    package func covers(_ other: Self) -> Bool {
        switch (self, other) {
        case (.register(let wanted, _), .register(let before, _)):
            wanted.partnerMerchantName == before.partnerMerchantName && wanted.encryptTo == before.encryptTo
                && wanted.merchantUrl == before.merchantUrl && wanted.domainNames.isSuperset(of: before.domainNames)
        case (.unregister(let domainNames, _), .unregister(let before, _)): domainNames.isSuperset(of: before)
        default: false
        }
    }

    /// Whether Apple's record would be another if the other reached it after this.
    package func isUndone(by late: Self) -> Bool {
        switch (self, late) {
        case (.register(let wanted, _), .register(let before, _)):
            wanted.partnerMerchantName != before.partnerMerchantName || wanted.encryptTo != before.encryptTo
                || wanted.merchantUrl != before.merchantUrl
        case (.unregister, .unregister): false
        default: !domainNames.isDisjoint(with: late.domainNames)
        }
    }

    /// What is wanted once this is done.
    package func applied(to desired: DesiredRegistration) -> DesiredRegistration {
        var after = desired
        switch self {
        case .register(let wanted, _):
            after = wanted
            after.domainNames.formUnion(desired.domainNames)
        case .unregister(let domainNames, _): after.domainNames.subtract(domainNames)
        }
        return after
    }

    /// What Apple has once it said that this is done.
    ///
    /// - Returns: nil if that cannot be known without asking: Apple documents that domains add up, and not what becomes
    ///   of another name or encryptTo.
    package func applied(to known: KnownRegistration?, at now: Timestamp) -> KnownRegistration? {
        switch self {
        case .register(let wanted, _):
            guard var details = known?.details else {
                return KnownRegistration(
                    details: .init(
                        partnerMerchantName: wanted.partnerMerchantName, encryptToHash: wanted.encryptTo.appleHash,
                        domainNames: Set(wanted.domainNames.map(\.rawValue))), learnedAt: now)
            }
            guard details.partnerMerchantName == wanted.partnerMerchantName,
                details.encryptToHash.uppercased() == wanted.encryptTo.appleHash
            else { return nil }
            details.domainNames.formUnion(wanted.domainNames.map(\.rawValue))
            return KnownRegistration(details: details, learnedAt: now)
        case .unregister(let domainNames, _):
            guard var details = known?.details else { return nil }
            details.domainNames.subtract(domainNames.map(\.rawValue))
            // With the last domain the registration is gone.
            return KnownRegistration(details: details.domainNames.isEmpty ? nil : details, learnedAt: now)
        }
    }

    /// One line for the audit: what Apple is asked.
    package var summary: String {
        let domains = "domainNames=\(domainNames.sorted().map(\.rawValue).joined(separator: ","))"
        return switch self {
        case .register(let wanted, let merchant):
            "register partnerMerchantName=\(wanted.partnerMerchantName) encryptTo=\(wanted.encryptTo)\(wanted.merchantUrl.map { " merchantUrl=\($0)" } ?? "")\(merchant.map { " merchantIdentifier=\($0)" } ?? "") \(domains)"
        case .unregister: "unregister \(domains)"
        }
    }
}
