import Crypto
package import MerchantCore
package import PaymentToken
package import Vocabulary

/// What the daemon does for its users: each method is one use case, atomic, audited, safe to repeat.
///
/// Every decision is made inside the transaction that writes it, on what that transaction sees.
package struct MerchantOperations: Sendable {
    package let repository: any MerchantRepository
    package let custodian: any KeyCustodian
    package let claims: any ClaimLedger
    package let clock: any WallClock
    /// Which time scheduled work that cannot be undone is due by, and which time deadlines are counted from.
    package let confirmedTime: ConfirmedTime
    package let environment: Environment
    package let rolls: RollPolicy
    /// What decryptors' requests leave behind, until it is stored.
    package let uses = KeyUses()
    /// What was refused to decryptors, until it is recorded.
    package let refusals: RefusalLog
    /// Holds the memory of certificate chains that were verified, so there is one for all decryptors.
    package let verifier: SignatureVerifier
    let tokenTimes: TokenTimeWatch
    /// Which keys and certificates were found damaged.
    package let damage = IntegrityFindings()
    /// nil where no backups are made.
    let backups: (any BackupVerifying)?
    /// nil where no keys are kept.
    let masterKey: (any MasterKeyRotating)?
    /// What the daemon found out about itself and its machine.
    let conditions: @Sendable () -> [StatusFinding]
    /// Apple's registration API.
    package let gateway: any RegistrationGateway
    /// nil: there is nothing here that checks domains.
    package let domainChecker: (any DomainChecker)?
    /// One call to Apple for one merchant at a time, so there is one for all callers.
    let turns = PerMerchantQueue()
    /// Rings when there are events; the repository's observer of them.
    package let notifier: EventNotifier

    /// - Parameters:
    ///   - tokenRoots: what payment tokens chain to; nil for Apple Root CA - G3.
    ///   - confirmedTime: nil: the clock is right at the start.
    ///   - conditions: asked for each status.
    package init(
        repository: any MerchantRepository, custodian: any KeyCustodian, claims: any ClaimLedger,
        clock: any WallClock, confirmedTime: ConfirmedTime? = nil, environment: Environment,
        tokenRoots: [TrustRoot]? = nil,
        rolls: RollPolicy = RollPolicy(),
        backups: (any BackupVerifying)? = nil, masterKey: (any MasterKeyRotating)? = nil,
        conditions: @escaping @Sendable () -> [StatusFinding] = { [] },
        gateway: any RegistrationGateway = NotConfiguredGateway(), domainChecker: (any DomainChecker)? = nil,
        notifier: EventNotifier = EventNotifier()
    ) {
        self.notifier = notifier
        self.repository = repository
        self.custodian = custodian
        self.claims = claims
        self.clock = clock
        self.confirmedTime = confirmedTime ?? ConfirmedTime(clock: clock)
        refusals = RefusalLog(clock: clock)
        self.environment = environment
        tokenTimes = TokenTimeWatch(tellsAccountsApart: environment == .production)
        self.backups = backups
        self.masterKey = masterKey
        self.conditions = conditions
        self.gateway = gateway
        self.domainChecker = domainChecker
        self.rolls = rolls
        verifier = SignatureVerifier(environment: environment, trustRoots: tokenRoots ?? [.appleRootCAG3])
    }
}

/// Who asks for a action, under which request number, and whether it may be a repeat.
package struct Request: Sendable {
    package let caller: Caller
    package let requestId: String
    package let idempotency: Idempotency?

    package init(caller: Caller, requestId: String, idempotency: Idempotency? = nil) {
        self.caller = caller
        self.requestId = requestId
        self.idempotency = idempotency
    }

    /// An `Idempotency-Key` and the SHA-256 of the request it came with.
    package struct Idempotency: Sendable {
        package let key: IdempotencyKey
        package let requestDigest: [UInt8]

        package init(key: IdempotencyKey, requestDigest: [UInt8]) {
            self.key = key
            self.requestDigest = requestDigest
        }

        /// - Parameters:
        ///   - lines: the header's values, one a line.
        ///   - operation: method and path, the path in its plainest spelling, so that its spellings share their keys.
        /// - Returns: nil where there is no such header.
        /// - Throws: `malformed` for more than one line or what is no key.
        package init?(
            lines: [String], caller: Caller, operation: String, body: [UInt8]
        ) throws(MerchantError) {
            guard let value = lines.first else { return nil }
            guard lines.count == 1, (1...255).contains(value.utf8.count),
                value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else {
                throw MerchantError(
                    .malformed,
                    "the header Idempotency-Key has \(value.utf8.count) bytes in \(lines.count) lines, expected one line of 1 to 255 printable ASCII characters"
                )
            }
            var hasher = SHA256()
            hasher.update(data: Array("\(operation)\n".utf8))
            hasher.update(data: body)
            self.init(
                key: IdempotencyKey(callerUID: caller.uid, operation: operation, value: value),
                requestDigest: Array(hasher.finalize()))
        }
    }

    func entry(
        _ action: AuditAction, at now: Timestamp, merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil,
        before: String? = nil, after: String? = nil, reason: String? = nil
    ) -> AuditEntry {
        AuditEntry(
            action, by: caller, at: now, merchant: merchant, key: key, before: before, after: after, reason: reason,
            requestId: requestId)
    }
}

extension Request.Idempotency? {
    /// - Returns: the resource an earlier, equal request made; nil for a new request.
    /// - Throws: `idempotencyKeyReused` where the earlier request was another one.
    func earlierResource(in transaction: any MerchantTransaction) throws -> String? {
        guard let self, let outcome = try transaction.idempotentOutcome(self.key) else { return nil }
        guard outcome.requestDigest == self.requestDigest else {
            throw MerchantError(
                .idempotencyKeyReused,
                "the Idempotency-Key came with another request before, expected a new key for a new request")
        }
        return outcome.resource
    }

    func remember(_ resource: String, at time: ClockReading, in transaction: any MerchantTransaction) throws {
        guard let self else { return }
        try transaction.remember(self.key, requestDigest: self.requestDigest, resource: resource, at: time)
    }
}

/// A key pair with what belongs to it.
package struct KeyView: Sendable {
    package let keyPair: KeyPair
    package let certificates: [StoredCertificate]
    /// PKCS#10 in DER, where it was asked for.
    package let certificateSigningRequest: [UInt8]?
    /// The certificate that answers, judged at the time of reading.
    package let answering: StoredCertificate?
    /// nil where nothing was seen of it.
    package let use: KeyUse?
}

/// A merchant with the number of its active payment processing key pairs.
package struct MerchantView: Sendable {
    package let merchant: Merchant
    package let activeKeyPairs: Int
    /// Whether a verified backup holds its newest key pair; nil where it has none.
    package let isNewestKeyPairBackedUp: Bool?
}

extension MerchantReading {
    /// - Throws: `merchantNotFound`.
    func existingMerchant(_ identifier: MerchantIdentifier) throws -> Merchant {
        guard let merchant = try merchant(identifier), merchant.removedAt == nil else {
            throw MerchantError(.merchantNotFound, "there is no merchant \(identifier), expected one that was added")
        }
        return merchant
    }

    /// - Throws: `keyNotFound`.
    func existingKeyPair(_ hash: PublicKeyHash) throws -> KeyPair {
        guard let keyPair = try keyPair(hash) else {
            throw MerchantError(.keyNotFound, "there is no key pair with publicKeyHash \(hash)")
        }
        return keyPair
    }

    func view(_ keyPair: KeyPair, at now: Timestamp, withCSR: Bool = false) throws -> KeyView {
        let certificates = try certificates(of: keyPair.publicKeyHash)
        return KeyView(
            keyPair: keyPair, certificates: certificates,
            certificateSigningRequest: withCSR ? try certificateSigningRequest(of: keyPair.publicKeyHash) : nil,
            answering: certificates.answering(at: now), use: try keyUse(of: keyPair.publicKeyHash))
    }

    func view(_ merchant: Merchant) throws -> MerchantView {
        MerchantView(
            merchant: merchant,
            activeKeyPairs: try keyPairs(of: merchant.identifier)
                .filter { $0.purpose == .paymentProcessing && $0.state.isActive }.count,
            isNewestKeyPairBackedUp: try isNewestKeyPairBackedUp(of: merchant.identifier))
    }
}
