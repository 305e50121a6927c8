package import MerchantCore
package import Vocabulary

/// Everything that a client of the portal may do for a merchant: read its progress, keys, certificates, rolls and
/// registrations, generate a bounded number of key pairs, upload certificates, start rolls, and register and unregister
/// its domains.
///
/// The portal's server gets this type instead of the use cases that it wraps. So the server cannot export, revoke or
/// destroy a key, decrypt a token, or change another merchant.
///
/// Every method about a merchant, key pair, roll or registration takes a scope: the merchants that the client may know
/// of. A request about something outside this scope gets exactly the error for something that does not exist. Of these
/// methods, only `owner(of…:)` takes no scope: the server uses it to authorize a request.
package struct OnboardingOperations: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & KeyUseReading & RollReading & RegistrationReading, Void
    >

    /// The use cases that this type wraps.
    package struct UseCases: Sendable {
        let merchants: Merchants
        let keys: KeyOperations
        let certificates: CertificateOperations
        let rolls: RollOperations
        let registrations: RegistrationOperations
        let domains: DomainOperations

        package init(
            merchants: Merchants, keys: KeyOperations, certificates: CertificateOperations, rolls: RollOperations,
            registrations: RegistrationOperations, domains: DomainOperations
        ) {
            self.merchants = merchants
            self.keys = keys
            self.certificates = certificates
            self.rolls = rolls
            self.registrations = registrations
            self.domains = domains
        }
    }

    /// The largest number of key pairs of one merchant that may wait for a certificate.
    package static let maximumPendingKeyPairs = 4

    let records: Records
    let useCases: UseCases
    /// Reads an uploaded certificate: ``KeyCustodian/readCertificate(_:)``. Not the custodian itself, because this type
    /// must not reach private keys.
    let readCertificate: @Sendable ([UInt8]) throws -> CertificateFacts
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    let clock: any WallClock
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, useCases: UseCases,
        readCertificate: @escaping @Sendable ([UInt8]) throws -> CertificateFacts, policy: CurrentValue<RollPolicy>,
        clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.useCases = useCases
        self.readCertificate = readCertificate
        currentPolicy = policy
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// - Throws: `merchantNotFound`.
    package func merchant(_ identifier: MerchantIdentifier, in scope: MerchantScope) async throws -> MerchantView {
        try await within(scope, identifier) { try await useCases.merchants.merchant(identifier) }
    }

    /// How far the onboarding of the merchant is, or the replacement of its key pair.
    ///
    /// - Throws: `merchantNotFound`.
    package func progress(
        of identifier: MerchantIdentifier, in scope: MerchantScope
    ) async throws -> OnboardingProgress {
        let time = confirmedTime.reading()
        return try await within(scope, identifier) {
            try await records.read { try $0.onboardingProgress(of: identifier, policy: policy, at: time) }
        }
    }

    /// Runs `body`, which concerns one merchant.
    ///
    /// - Throws: `merchantNotFound` if the merchant is outside the scope: the same error as for an unknown merchant.
    func within<Result: Sendable>(
        _ scope: MerchantScope, _ merchant: MerchantIdentifier, _ body: () async throws -> Result
    ) async throws -> Result {
        guard scope.contains(merchant) else { throw MerchantError.merchantNotFound(merchant) }
        return try await body()
    }
}

// MARK: - Owners

extension OnboardingOperations {
    /// The merchant that a key pair belongs to.
    ///
    /// - Throws: `keyNotFound`.
    package func owner(ofKey hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await records.read { try $0.existingKeyPair(hash).merchantIdentifier }
    }

    /// The merchant that a roll belongs to.
    ///
    /// - Throws: `rollNotFound`.
    package func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await records.read { try $0.existingRoll(number).merchantIdentifier }
    }

    /// The merchant that a registration belongs to.
    ///
    /// - Throws: `registrationNotFound`, also for a registration that belongs to no merchant: the portal does not show
    ///   it.
    package func owner(ofRegistration partner: PartnerInternalMerchantIdentifier) async throws -> MerchantIdentifier {
        try await records.read { reading in
            guard let owner = try reading.existingRegistration(partner).merchantIdentifier else {
                throw MerchantError.registrationNotFound(partner)
            }
            return owner
        }
    }
}
