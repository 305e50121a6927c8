import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Vocabulary

/// A fixture for tests: the use case of merchant sessions, with a store and a gateway in memory.
struct SessionBench: Sendable {
    static let merchant = merchantNamed("merchant.com.example.shop")
    static let partner = partnerName("shop|4711")
    static let sandboxHost = SessionHost(name: "127.0.0.1", port: 8_443)
    static let hosts = SessionHost.appleHosts(.production) + [sandboxHost]

    let clock = HandMovedClock()
    let repository = MemoryRepository()
    let gateway = RecordingSessionGateway()
    let warnings = Guarded<[SessionOperations.UnregisteredDomain]>([])
    let policy: ChangingValue<SessionPolicy>
    let operations: Operations
    let context = Request(caller: Caller(uid: 1000, gid: 1000, pid: 42, program: "test"), requestId: "r-1")

    init(_ unregisteredDomains: SessionPolicy.UnregisteredDomains = .refuse) {
        let policy = ChangingValue(
            SessionPolicy(
                timeLimit: .seconds(7), validationHosts: Self.hosts, unregisteredDomains: unregisteredDomains))
        self.policy = policy
        operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), clock: clock, environment: .sandbox,
            sessions: SessionOperations.Ports(gateway: gateway, policy: policy.current) { [warnings] warning in
                warnings.update { $0.append(warning) }
            })
    }

    // MARK: Records

    /// - Parameters:
    ///   - identities: the validity of each identity certificate, in days from now.
    ///   - state: the state of the first identity key. The others are `standby`.
    func addMerchant(
        _ merchant: MerchantIdentifier = merchant, identities: [ClosedRange<Double>] = [-1...700],
        state: KeyState = .current, isRemoved: Bool = false
    ) throws {
        let now = clock.now
        try repository.change { transaction in
            try transaction.insert(
                Merchant(
                    identifier: merchant, name: nil, createdAt: now, removedAt: isRemoved ? now : nil))
            for (number, days) in identities.enumerated() {
                let hash = PublicKeyHash(of: Array("\(merchant) \(number)".utf8))
                try transaction.insert(
                    KeyPair(
                        publicKeyHash: hash, merchantIdentifier: merchant, algorithm: .rsaV1, purpose: .identity,
                        origin: .generated, state: number == 0 ? state : .standby, createdAt: now, stateSince: now),
                    NewKeyPair(
                        publicKeyHash: hash, algorithm: .rsaV1, purpose: .identity, subjectPublicKeyInfo: [1],
                        certificateSigningRequest: [1],
                        sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: [1])))
                _ = try transaction.insert(
                    StoredCertificate(
                        der: [UInt8(number)], fingerprint: [UInt8(number)], serialNumber: "0\(number)",
                        subject: "CN=Shop", issuer: "CN=Apple",
                        notBefore: now.adding(.seconds(days.lowerBound * 86_400)),
                        notAfter: now.adding(.seconds(days.upperBound * 86_400)), issuerVerified: true, storedAt: now),
                    of: hash)
            }
        }
    }

    /// - Parameters:
    ///   - desired: the domains that should be registered.
    ///   - atApple: the domains in Apple's record; nil if the record was never read.
    func addRegistration(
        _ partner: PartnerInternalMerchantIdentifier = partner, of merchant: MerchantIdentifier? = nil,
        desired: [String], atApple: [String]? = nil
    ) throws {
        let now = clock.now
        try repository.change { transaction in
            try transaction.insert(
                Registration(
                    partnerInternalMerchantIdentifier: partner,
                    desired: DesiredRegistration(
                        partnerMerchantName: "Shop", domainNames: Set(domainNames(desired)),
                        encryptTo: Bench.integrator, merchantUrl: nil),
                    merchantIdentifier: merchant,
                    appleRecord: atApple.map {
                        AppleRecord(
                            details: .init(partnerMerchantName: "Shop", encryptToHash: "", domainNames: Set($0)),
                            learnedAt: now)
                    }, createdAt: now, changedAt: now))
        }
    }

    // MARK: Requests

    func order(
        for merchant: SessionOrder.Merchant = .registered(partner), domain: String = "shop.example.com",
        validationURL: String? = nil
    ) -> SessionOrder {
        SessionOrder(
            for: merchant, displayName: "Shop", place: .web(domainNames([domain])[0]), validationURL: validationURL)
    }

    /// Requests a session.
    ///
    /// - Parameter other: the caller and the request id; nil for ``context``.
    /// - Returns: the error; nil if a session was issued.
    func requestSession(_ order: SessionOrder, for other: Request? = nil) async -> MerchantError? {
        await MerchantOperationsTests.refusal {
            _ = try await operations.merchantSessions.request(order, for: other ?? context)
        }
    }

    func count(_ merchantClass: SessionMetrics.MerchantClass, _ outcome: SessionMetrics.Outcome) -> Int {
        operations.sessionMetrics[merchantClass, outcome]
    }
}

func merchantNamed(_ text: String) -> MerchantIdentifier {
    guard let merchant = MerchantIdentifier(text: text) else { preconditionFailure("not an identifier: \(text)") }
    return merchant
}
