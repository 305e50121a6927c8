import FoundationEssentials
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension MerchantTokenDocument {
    init(_ token: MerchantToken) {
        self.init(
            token.identifier, of: token.merchantIdentifier, state: token.state.rawValue,
            firstSeenAt: token.firstSeenAt, lastSeenAt: token.lastSeenAt)
        lastEvent = token.lastEvent.map {
            LastEvent($0.identifier, type: $0.type, reason: $0.reason, receivedAt: $0.receivedAt)
        }
        card = token.card.map { MerchantTokenCardDocument($0) }
        notificationUrl = token.notificationURL
    }
}

extension MerchantTokenPublicKeyDocument {
    init(_ key: MerchantTokenPublicKey, of identifier: MerchantTokenIdentifier) {
        self.init(identifier, publicKey: Data(key.x963).base64EncodedString(), ciphersuite: key.ciphersuite)
    }
}

extension TokenNotificationURLDocument {
    /// - Parameter base: the URL of the portal and the beginning of the route's path, without a final slash.
    init(_ path: TokenNotificationPath, base: String) {
        self.init("\(base)/\(path.secret)", for: path.merchantIdentifier, createdAt: path.createdAt)
    }
}
