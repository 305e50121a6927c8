import MerchantCore
import Vocabulary

extension Registration {
    /// A new registration. It starts without desired domains: a domain becomes desired when Apple has accepted it.
    init(
        _ partner: PartnerInternalMerchantIdentifier, requested wanted: DesiredRegistration,
        merchant: MerchantIdentifier?, at now: Timestamp
    ) {
        var desired = wanted
        desired.domainNames = []
        self.init(
            partnerInternalMerchantIdentifier: partner, desired: desired, merchantIdentifier: merchant, known: nil,
            createdAt: now, changedAt: now)
    }

    /// Changes the desired state to what the registration is after the call.
    mutating func apply(_ content: RegistrationCall.Content, at now: Timestamp) {
        let before = self
        desired = content.applied(to: desired)
        if case .register(_, let merchant?) = content { merchantIdentifier = merchant }
        if self != before { changedAt = now }
    }

    /// The registration's text in audit records.
    var summary: String {
        "partnerInternalMerchantIdentifier=\(partnerInternalMerchantIdentifier) partnerMerchantName=\(desired.partnerMerchantName) encryptTo=\(desired.encryptTo) domainNames=\(desired.domainNames.sorted().map(\.rawValue).joined(separator: ","))"
    }
}

extension RegistrationCall {
    /// The call's name in messages and in audit records.
    var title: String { "call \(number) for \(partnerInternalMerchantIdentifier)" }
}

extension RegistrationCall.Content {
    /// Whether the gateway itself sends the call again if no response is received.
    var isTriedAgain: Bool {
        if case .register = self { true } else { false }
    }

    var reason: String? {
        guard case .unregister(_, let reason) = self else { return nil }
        return reason
    }
}

extension RegistrationDrift {
    /// The difference as text for the audit and the log.
    var summary: String {
        switch self {
        case .missingDomain(let name): "missingDomain \(name)"
        case .extraDomain(let name): "extraDomain \(name)"
        case .otherName(let found, let expected): "otherName found \(found) expected \(expected)"
        case .otherEncryptTo(let found, let expected): "otherEncryptTo found \(found) expected \(expected)"
        case .gone: "gone"
        }
    }
}

extension ChangeRecording {
    /// Records in the audit that the registration differs from Apple's record, if it did not differ in the same way
    /// before.
    func noteDrift(from before: Registration, to after: Registration, for request: Request, at now: Timestamp) throws {
        let drift = after.drift
        guard !drift.isEmpty, drift != before.drift else { return }
        try append(
            request.entry(
                .registrationDriftFound, at: now, merchant: after.merchantIdentifier,
                after:
                    "partnerInternalMerchantIdentifier=\(after.partnerInternalMerchantIdentifier) \(drift.map(\.summary).joined(separator: "; "))"
            ))
    }
}

extension RegistrationReading {
    /// - Throws: `registrationNotFound` if the registration is not stored, or has neither domains nor an open call.
    func existingRegistration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration {
        guard let registration = try registration(partner), try registration.isShown || openCall(of: partner) != nil
        else {
            throw MerchantError(
                .registrationNotFound, "there is no registration \(partner), expected one that this daemon registered")
        }
        return registration
    }
}

extension RegistrationReading where Self: MerchantReading & KeyPairReading {
    func view(
        _ registration: Registration, _ source: RegistrationView.Source, at now: Timestamp, withWarnings: Bool = true
    ) throws -> RegistrationView {
        RegistrationView(
            registration: registration, source: source,
            openCall: try openCall(of: registration.partnerInternalMerchantIdentifier),
            warnings: withWarnings ? try warnings(about: registration.desired) : [], at: now)
    }

    /// Reasons why the daemon could not decrypt tokens that Apple encrypts for this registration.
    private func warnings(about desired: DesiredRegistration) throws -> [String] {
        guard !desired.domainNames.isEmpty else { return [] }
        guard let merchant = try merchant(desired.encryptTo), merchant.removedAt == nil else {
            return ["there is no merchant record \(desired.encryptTo) (encryptTo): its tokens cannot be decrypted here"]
        }
        let isActive = try keyPairs(of: merchant.identifier)
            .contains { $0.purpose == .paymentProcessing && $0.state.isActive }
        return isActive
            ? [] : ["\(desired.encryptTo) (encryptTo) has no active key pair: its tokens cannot be decrypted here"]
    }
}
