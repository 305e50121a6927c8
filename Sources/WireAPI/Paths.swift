package import Vocabulary

/// The paths of both sockets, for the client; the servers' routes and `schema/openapi.yaml` are held against them by a test.
package enum Paths {
    package static let health = "/v1/health"
    package static let status = "/v1/status"
    package static let audit = "/v1/audit"
    package static let auditVerification = "/v1/audit/verification"
    package static let backups = "/v1/backups"
    package static let backupVerification = "/v1/backups/verification"
    package static let masterKey = "/v1/master-key"
    package static let masterKeyRotation = "/v1/master-key/rotation"
    package static let events = "/v1/events"
    package static let redeliverEvents = "/v1/events/redeliver"
    package static let openAPI = "/v1/openapi.yaml"
    package static let metrics = "/metrics"
    package static let merchants = "/v1/merchants"
    package static let rolls = "/v1/rolls"
    /// Search by the beginning of a publicKeyHash, `?beginning=`, or list by state, `?state=`.
    package static let keys = "/v1/keys"
    package static let registrations = "/v1/registrations"
    package static let registrationSync = "/v1/registrations/sync"
    package static let domainFile = "/v1/domain-file"
    package static let domainChecks = "/v1/domain-checks"
    package static let wellKnownDomainFile = "/.well-known/apple-developer-merchantid-domain-association"
    package static let verifyToken = "/v1/payment-tokens/verify"
    package static let decryptToken = "/v1/payment-tokens/decrypt"

    package static func merchant(_ identifier: MerchantIdentifier) -> String { "\(merchants)/\(identifier)" }
    package static func keys(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/keys" }
    package static func keyImport(to merchant: MerchantIdentifier) -> String { "\(keys(of: merchant))/import" }
    package static func certificates(of merchant: MerchantIdentifier) -> String {
        "\(Self.merchant(merchant))/certificates"
    }
    package static func rolls(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/rolls" }
    package static func roll(_ rollId: String) -> String { "\(rolls)/\(rollId)" }
    /// Percent-encoded: the identifier's alphabet has characters that mean something in a path.
    package static func registration(_ partner: PartnerInternalMerchantIdentifier) -> String {
        "\(registrations)/\(PercentEncoding.encode(partner.rawValue))"
    }
    package static func key(_ hash: PublicKeyHash) -> String { "\(keys)/\(hash.base64URL)" }
    package static func csr(of hash: PublicKeyHash) -> String { "\(key(hash))/csr" }
    package static func symmetricKey(of hash: PublicKeyHash) -> String { "\(key(hash))/symmetric-key" }

    package enum KeyTransition: String, CaseIterable, Sendable {
        case promote, revoke, restore, destroy
    }

    package static func verb(_ verb: KeyTransition, _ hash: PublicKeyHash) -> String { "\(key(hash))/\(verb.rawValue)" }
}
