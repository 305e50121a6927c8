import MerchantCore
import MerchantOperations
import PortalServer
import Vocabulary

/// A page with values, and the visitor who sees it.
struct PageSample: Sendable {
    let name: String
    let page: any HTMLPage
    let visitor: PageContext.Visitor
}

/// Values for pages.
enum Sample {
    static let now = time(day: 0)
    static let merchantIdentifier = identifier("merchant.com.example.shop")
    static let longIdentifier = identifier("merchant." + String(repeating: "a", count: 246))
    static let openInvitation = invitation(merchantIdentifier, note: "for Ms. Doe")

    /// - Returns: the time `day` days after 21 November 2026 at 04:53:15 UTC.
    static func time(day: Int) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_795_236_795_000 + Int64(day) * 86_400_000)
    }

    static func identifier(_ text: String) -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier(text) else { preconditionFailure("\(text) is not an identifier") }
        return identifier
    }

    static func merchant(_ identifier: MerchantIdentifier = merchantIdentifier, name: String? = "Shop") -> Merchant {
        Merchant(identifier: identifier, name: name, createdAt: time(day: -800))
    }

    static func hash(_ number: Int) -> PublicKeyHash { PublicKeyHash(of: Array("key \(number)".utf8)) }

    /// - Parameter days: the first and the last day of the certificate; nil without a certificate.
    static func key(
        _ number: Int, _ state: KeyState, days: (first: Int, last: Int)?, algorithm: KeyAlgorithm = .ecV1,
        serialNumber: String = "4F00AB12"
    ) -> PageKey {
        let keyPair = KeyPair(
            publicKeyHash: hash(number), merchantIdentifier: merchantIdentifier, algorithm: algorithm,
            purpose: .paymentProcessing, origin: .generated, state: state, createdAt: time(day: -900 + number),
            stateSince: time(day: -10))
        let certificate = days.map { days in
            StoredCertificate(
                der: [], fingerprint: [], serialNumber: serialNumber, subject: "CN=shop", issuer: "CN=Apple",
                notBefore: time(day: days.first), notAfter: time(day: days.last), issuerVerified: true,
                storedAt: time(day: days.first))
        }
        return PageKey(
            keyPair: keyPair, certificate: certificate, lastRequest: state == .current ? time(day: -1) : nil)
    }

    static func steps(next: OnboardingProgress.StepName?, waitingFor: RollParty = .merchant) -> [ProgressStep] {
        let names = OnboardingProgress.StepName.allCases
        let position = next.flatMap { names.firstIndex(of: $0) } ?? names.count
        return names.enumerated().map { index, name -> ProgressStep in
            if index < position { return ProgressStep(name, .done, waitingFor: .none, since: time(day: -30)) }
            if index == position {
                return ProgressStep(name, .next, waitingFor: waitingFor, since: time(day: -2), until: time(day: 5))
            }
            return ProgressStep(name, .waiting, waitingFor: .merchant, since: nil)
        }
    }

    static func invitation(
        _ merchant: MerchantIdentifier, note: String?, usedAt: Timestamp? = nil, revokedAt: Timestamp? = nil,
        expiresAt: Timestamp = time(day: 7)
    ) -> Invitation {
        Invitation(
            identifier: .random(), merchantIdentifier: merchant, secret: PortalSecret(generating: .invitation).stored,
            note: note, createdBy: "operator:1000", createdAt: time(day: -1), expiresAt: expiresAt, usedAt: usedAt,
            revokedAt: revokedAt)
    }

    static func partner(_ text: String) -> PartnerInternalMerchantIdentifier {
        guard let partner = PartnerInternalMerchantIdentifier(text) else {
            preconditionFailure("\(text) is not an identifier")
        }
        return partner
    }

    static func registration(
        name: String, domains: [PageDomain], encryptTo: MerchantIdentifier = merchantIdentifier, warnings: [String] = []
    ) -> PageRegistration {
        PageRegistration(
            partner: partner("shop-1"), name: name, encryptTo: encryptTo, domains: domains,
            learnedAt: time(day: -3), hasOpenCall: false, warnings: warnings)
    }

    static func report(_ finding: DomainCheckFinding) -> DomainCheckReport {
        guard let domain = DomainName(ascii: "shop.example.com") else { preconditionFailure("not a domain") }
        return DomainCheckReport(
            domain: domain, url: "https://shop.example.com\(DomainFile.path)", address: "203.0.113.7",
            finding: finding)
    }

    static func event(_ number: Int, detail: String) -> StoredEvent {
        StoredEvent(
            sequence: number, id: "\(number)",
            event: Event(.certificateStored, .warning, at: time(day: -1), detail: detail))
    }

    static func auditRecord(_ number: Int, reason: String?) -> AuditRecord {
        let caller = Caller.remote(RemoteCaller(name: "access:shop", address: "203.0.113.9"))
        return AuditRecord(
            AuditEntry(
                .certificateStored, by: caller, at: time(day: -1), before: "pending", after: "standby", reason: reason),
            sequence: number, after: AuditRecord.genesis)
    }
}
