import MerchantCore
import Vocabulary
import WireAPI

extension AccessDocument {
    /// - Parameter token: the token that this request created; nil for other requests.
    init(_ access: Access, token: PortalSecret? = nil) {
        self.init(access.name, permits: access.permits.map(\.rawValue).sorted(), createdAt: access.createdAt)
        self.token = token?.text
        merchants = access.merchants.map { $0.sorted() }
        tokens = access.secrets.map { secret in
            Token(secret.stored.identifier, createdAt: secret.createdAt, expiresAt: secret.expiresAt)
        }
        certificateFingerprint = access.certificateFingerprint.map { Hex.encode($0.bytes) }
        expiresAt = access.expiresAt
        revokedAt = access.revokedAt
        lastUsedAt = access.lastUsedAt
    }
}
