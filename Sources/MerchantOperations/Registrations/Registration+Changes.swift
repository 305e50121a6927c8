import MerchantCore
import Vocabulary

extension Registration {
    /// A new registration. It starts without desired domains: a domain becomes desired when Apple has accepted it.
    init(
        _ partner: PartnerInternalMerchantIdentifier, requested: DesiredRegistration,
        merchant: MerchantIdentifier?, at now: Timestamp
    ) {
        var desired = requested
        desired.domainNames = []
        self.init(
            partnerInternalMerchantIdentifier: partner, desired: desired, merchantIdentifier: merchant,
            appleRecord: nil, createdAt: now, changedAt: now)
    }

    /// Changes the desired state as the call requests.
    mutating func apply(_ content: RegistrationCall.Content, at now: Timestamp) {
        let before = self
        desired = content.applied(to: desired)
        if case .register(_, let merchant?) = content { merchantIdentifier = merchant }
        if self != before { changedAt = now }
    }

    /// How audit records describe the registration.
    var summary: String {
        "partnerInternalMerchantIdentifier=\(partnerInternalMerchantIdentifier) partnerMerchantName=\(desired.partnerMerchantName) encryptTo=\(desired.encryptTo) domainNames=\(desired.domainNames.sorted().map(\.rawValue).joined(separator: ","))"
    }
}

extension RegistrationCall {
    /// The call's name in messages and in audit records.
    var title: String { "call \(number) for \(partnerInternalMerchantIdentifier)" }
}

extension RegistrationCall.Content {
    /// Whether ``RegistrationGateway`` may send the call more than once before it reports that it received no response.
    var isRetriedByGateway: Bool {
        if case .register = self { true } else { false }
    }

    /// The reason that Apple gets for an unregistration; nil for a registration.
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
    /// Records in the audit that the registration differs from Apple's record. Does nothing if the registration
    /// differed in the same way before.
    func auditDrift(from before: Registration, to after: Registration, for request: Request, at now: Timestamp) throws {
        let drift = after.drift
        guard !drift.isEmpty, drift != before.drift else { return }
        try append(
            request.auditEntry(
                .registrationDriftFound, at: now, merchant: after.merchantIdentifier,
                after:
                    "partnerInternalMerchantIdentifier=\(after.partnerInternalMerchantIdentifier) \(drift.map(\.summary).joined(separator: "; "))"
            ))
    }
}

extension RegistrationReading {
    /// - Throws: `registrationNotFound` if the registration is not stored, or has neither domains nor a call to Apple
    ///   whose outcome is unknown.
    func existingRegistration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration {
        guard let registration = try registration(partner), try registration.isShown || openCall(of: partner) != nil
        else { throw MerchantError.registrationNotFound(partner) }
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
            warnings: withWarnings ? try warnings(about: registration) : [], at: now)
    }

    /// Warnings that the daemon cannot decrypt the tokens that Apple encrypts for this registration, or that Apple does
    /// not use the key pair of the registration's merchant.
    private func warnings(about registration: Registration) throws -> [String] {
        let desired = registration.desired
        guard !desired.domainNames.isEmpty else { return [] }
        guard let merchant = try merchant(desired.encryptTo), merchant.removedAt == nil else {
            return [
                "there is no merchant \(desired.encryptTo), the registration's encryptTo: this daemon cannot decrypt the registration's tokens"
            ]
        }
        guard try hasActiveKeyPair(merchant.identifier) else {
            return [
                "\(desired.encryptTo), the registration's encryptTo, has no active key pair: this daemon cannot decrypt the registration's tokens"
            ]
        }
        guard let owner = registration.merchantIdentifier, owner != desired.encryptTo, try hasActiveKeyPair(owner)
        else { return [] }
        return [
            "\(owner) has an active key pair, but Apple encrypts the tokens of these domains to the key of \(desired.encryptTo), the registration's encryptTo: if \(owner) must use its own key, register the domains again with this encryptTo"
        ]
    }

    private func hasActiveKeyPair(_ merchant: MerchantIdentifier) throws -> Bool {
        try keyPairs(of: merchant).contains { $0.purpose == .paymentProcessing && $0.state.isActive }
    }
}
