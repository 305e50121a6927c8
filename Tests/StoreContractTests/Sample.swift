import MerchantCore
import Vocabulary

/// Values to store. Where a function takes a number, different numbers give different values.
enum Sample {
    static let caller = Caller(uid: 1000, gid: 1000, pid: 42, program: "test")

    /// Seconds after a fixed time.
    static func time(_ seconds: Int) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_780_000_000_000).adding(.seconds(seconds))
    }

    static func identifier(_ number: Int) -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier("merchant.com.example.shop\(number)") else {
            preconditionFailure("letters, digits and dots are a valid identifier")
        }
        return identifier
    }

    static func merchant(_ number: Int) -> Merchant {
        Merchant(identifier: identifier(number), name: "Shop \(number)", createdAt: time(0))
    }

    static func hash(_ number: Int) -> PublicKeyHash { PublicKeyHash(of: [UInt8(number)]) }

    static func keyPair(
        _ number: Int, of merchant: Int = 0, _ state: KeyState = .pending, purpose: KeyPurpose = .paymentProcessing
    ) -> KeyPair {
        KeyPair(
            publicKeyHash: hash(number), merchantIdentifier: identifier(merchant), algorithm: .ecV1, purpose: purpose,
            origin: .generated, state: state, createdAt: time(number), stateSince: time(number))
    }

    static func new(_ keyPair: KeyPair) -> NewKeyPair {
        NewKeyPair(
            publicKeyHash: keyPair.publicKeyHash, algorithm: keyPair.algorithm, purpose: keyPair.purpose,
            subjectPublicKeyInfo: [1, 2], certificateSigningRequest: [3, 4],
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: [5, 6, 7]))
    }

    /// Expires `days` days after the fixed time; by default 100 + `number` days.
    static func certificate(_ number: Int, days: Int? = nil, issuerVerified: Bool = true) -> StoredCertificate {
        StoredCertificate(
            der: [UInt8(number), 9], fingerprint: PublicKeyHash(of: [UInt8(number), 9]).bytes,
            serialNumber: "0\(number)",
            subject: "CN=Shop", issuer: "CN=Issuer", notBefore: time(-1),
            notAfter: time((days ?? 100 + number) * 86_400),
            issuerVerified: issuerVerified, storedAt: time(0))
    }

    static func entry(_ action: AuditAction, merchant: Int? = nil, key: Int? = nil, at seconds: Int = 0) -> AuditEntry {
        AuditEntry(
            action, by: caller, at: time(seconds), merchant: merchant.map(identifier), key: key.map(hash),
            before: "a", after: "b", reason: "c", requestId: "r")
    }

    static func event(_ kind: Event.Kind = .belowTarget, merchant: Int? = nil, at seconds: Int = 0) -> Event {
        Event(kind, .notice, at: time(seconds), merchant: merchant.map(identifier), detail: "detail")
    }

    static func partner(_ number: Int) -> PartnerInternalMerchantIdentifier {
        guard let partner = PartnerInternalMerchantIdentifier("partner-\(number)") else {
            preconditionFailure("letters, digits and a hyphen are a valid identifier")
        }
        return partner
    }

    static func domain(_ text: String) -> DomainName {
        guard let name = DomainName(ascii: text) else { preconditionFailure("\(text) is a domain name") }
        return name
    }

    static func wanted(_ domains: String..., encryptTo merchant: Int = 0) -> DesiredRegistration {
        DesiredRegistration(
            partnerMerchantName: "Shop", domainNames: Set(domains.map(domain)), encryptTo: identifier(merchant),
            merchantUrl: nil)
    }

    static func registration(_ number: Int, _ wanted: DesiredRegistration = wanted("a.example")) -> Registration {
        Registration(
            partnerInternalMerchantIdentifier: partner(number), desired: wanted, merchantIdentifier: nil,
            appleRecord: nil,
            createdAt: time(0), changedAt: time(0))
    }

    static func backup(_ number: Int, newestKeyPairId: Int) -> BackupManifest {
        BackupManifest(
            createdAt: time(number), programVersion: "1", schemaVersion: 1, databaseBytes: 1,
            sha256: PublicKeyHash(of: [UInt8(number), 8]).bytes, merchants: 0, keyPairs: [:], certificates: 0,
            auditHead: nil, newestKeyPairId: newestKeyPairId)
    }
}
