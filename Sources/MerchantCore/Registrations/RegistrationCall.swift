package import Vocabulary

/// A call to Apple that changes a registration. A call is stored before it is sent, and stays open until its outcome is
/// known.
package struct RegistrationCall: Hashable, Sendable {
    /// The operation that Apple is asked to perform.
    package enum Content: Hashable, Sendable {
        /// Adds the domains, and sets the name, encryptTo and URL. `merchant` is the merchant of this daemon that the
        /// registration belongs to; Apple does not get it.
        case register(DesiredRegistration, merchant: MerchantIdentifier?)
        case unregister(Set<DomainName>, reason: String)
    }

    /// The outcome of a call.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Apple confirmed the call, or Apple's record shows its result.
        case done
        /// Apple refused the call, or the call never reached Apple.
        case refused
        /// No response was received, and Apple's record shows that the call was not performed.
        case notDone
        /// The request was sent to Apple again, because an attempt got no response. Either the gateway sent the call
        /// again, or a later call requested the same. The attempt without a response may still reach Apple, even after
        /// later calls, for two minutes after its call was stored.
        case repeated
    }

    /// How long the gateway may take for one call, including retries.
    package static let timeLimit = Duration.seconds(60)

    package let number: Int
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package let content: Content
    /// The id of the request to the daemon that caused the call.
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

    /// Whether Apple's record shows the result of this call. Another call may have caused that result.
    package func isDone(in details: AppleRecord.Details?) -> Bool {
        switch self {
        case .register(let wanted, _):
            // Apple's record contains no merchantUrl to compare.
            guard let details else { return false }
            return wanted.domainNames.allSatisfy { details.domainNames.contains($0.rawValue) }
                && details.partnerMerchantName == wanted.partnerMerchantName
                && details.encryptToHash.uppercased() == wanted.encryptTo.appleHash
        case .unregister(let domainNames, _):
            return domainNames.allSatisfy { !(details?.domainNames.contains($0.rawValue) ?? false) }
        }
    }

    /// Whether this call makes an earlier call `other` unnecessary: the result is the same with and without the earlier
    /// call.
    package func covers(_ other: Self) -> Bool {
        switch (self, other) {
        case (.register(let wanted, _), .register(let before, _)):
            wanted.partnerMerchantName == before.partnerMerchantName && wanted.encryptTo == before.encryptTo
                && wanted.merchantUrl == before.merchantUrl && wanted.domainNames.isSuperset(of: before.domainNames)
        case (.unregister(let domainNames, _), .unregister(let before, _)): domainNames.isSuperset(of: before)
        default: false
        }
    }

    /// Whether the `late` call would undo a part of this call, if Apple performed the late call afterwards.
    package func isUndone(by late: Self) -> Bool {
        switch (self, late) {
        case (.register(let wanted, _), .register(let later, _)):
            wanted.partnerMerchantName != later.partnerMerchantName || wanted.encryptTo != later.encryptTo
                || wanted.merchantUrl != later.merchantUrl
        case (.unregister, .unregister): false
        default: !domainNames.isDisjoint(with: late.domainNames)
        }
    }

    /// The desired state after this call.
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

    /// Apple's record after Apple confirmed this call.
    ///
    /// - Returns: nil if the record must be read from Apple. This is so if the call changes the name or encryptTo,
    ///   because Apple documents only that domains are added. It is also so if the call removes domains and no
    ///   registration at Apple is known.
    package func applied(to appleRecord: AppleRecord?, at now: Timestamp) -> AppleRecord? {
        switch self {
        case .register(let wanted, _):
            guard var details = appleRecord?.details else {
                // Assumes that this call has created the registration. The next reading of Apple's record replaces this
                // assumption.
                return AppleRecord(
                    details: .init(
                        partnerMerchantName: wanted.partnerMerchantName, encryptToHash: wanted.encryptTo.appleHash,
                        domainNames: Set(wanted.domainNames.map(\.rawValue))), learnedAt: now)
            }
            guard details.partnerMerchantName == wanted.partnerMerchantName,
                details.encryptToHash.uppercased() == wanted.encryptTo.appleHash
            else { return nil }
            details.domainNames.formUnion(wanted.domainNames.map(\.rawValue))
            return AppleRecord(details: details, learnedAt: now)
        case .unregister(let domainNames, _):
            guard var details = appleRecord?.details else { return nil }
            details.domainNames.subtract(domainNames.map(\.rawValue))
            // Apple removes the registration together with its last domain.
            return AppleRecord(details: details.domainNames.isEmpty ? nil : details, learnedAt: now)
        }
    }

    /// The operation as one line for the audit.
    package var summary: String {
        let domains = "domainNames=\(domainNames.sorted().map(\.rawValue).joined(separator: ","))"
        return switch self {
        case .register(let wanted, let merchant):
            "register partnerMerchantName=\(wanted.partnerMerchantName) encryptTo=\(wanted.encryptTo)\(wanted.merchantUrl.map { " merchantUrl=\($0)" } ?? "")\(merchant.map { " merchantIdentifier=\($0)" } ?? "") \(domains)"
        case .unregister: "unregister \(domains)"
        }
    }
}
