package import MerchantCore
package import MerchantOperations
import Vocabulary
package import WireAPI

extension RegistrationDocument {
    package init(_ view: RegistrationView) {
        let (registration, desired) = (view.registration, view.registration.desired)
        let desiredHash = desired.encryptTo.appleHash
        // If the daemon has read Apple's record for this request, the document shows Apple's values. If Apple then has
        // no record of the merchant, the document shows the desired name and no domains.
        let appleDetails = view.source == .apple ? registration.appleRecord?.details : nil
        let names =
            view.source == .apple
            ? (appleDetails?.domainNames ?? []).sorted() : desired.domainNames.map(\.rawValue).sorted()
        let encryptToHash = appleDetails?.encryptToHash.uppercased() ?? desiredHash
        // While a call to Apple is open, its outcome is unknown.
        let state = view.openCall != nil ? "unsettled" : names.isEmpty ? "unregistered" : "registered"
        self.init(
            registration.partnerInternalMerchantIdentifier,
            name: appleDetails?.partnerMerchantName ?? desired.partnerMerchantName, encryptToHash: encryptToHash,
            state: state,
            source: view.source.rawValue, createdAt: registration.createdAt, changedAt: registration.changedAt)
        domainNames = names
        // Apple reports only a hash of the identifier. If it is not the hash of the desired identifier, the daemon does
        // not know Apple's identifier.
        encryptTo = encryptToHash == desiredHash ? desired.encryptTo : nil
        merchantUrl = desired.merchantUrl
        merchantIdentifier = registration.merchantIdentifier
        learnedAt = registration.appleRecord?.learnedAt
        ageSeconds = learnedAt.map {
            Int(max(0, view.at.millisecondsSince1970 - $0.millisecondsSince1970) / 1000)
        }
        drift = registration.drift.map(DriftDocument.init)
        warnings = view.warnings
    }
}

extension DriftDocument {
    package init(_ drift: RegistrationDrift) {
        let kind = drift.kind.rawValue
        switch drift {
        case .missingDomain(let name): self.init(kind, expected: name.rawValue)
        case .extraDomain(let name): self.init(kind, found: name)
        case .otherName(let found, let expected), .otherEncryptTo(let found, let expected):
            self.init(kind, found: found, expected: expected)
        case .gone: self.init(kind)
        }
    }
}

extension UnregistrationDocument {
    package init(_ result: UnregistrationResult) {
        self.init(RegistrationDocument(result.view))
        dryRun = result.dryRun
        domainNames = result.domainNames.map(\.rawValue)
        warnings = result.warnings
    }
}
