import MerchantCore
import Vocabulary

/// The consequences of revoking a compromised key, and what admins must do.
enum RevocationConsequences {
    /// Warnings for the caller, each with one consequence or one thing to do.
    ///
    /// - Parameters:
    ///   - isInUse: whether the key pair is the current one for payments, or Apple encrypts to it although it is
    ///     standby.
    ///   - replacements: the active key pairs that can replace the revoked one, see ``RevocationRules/Remaining``.
    static func list(
        of keyPair: KeyPair, isInUse: Bool, replacements: [KeyPair], in reading: any KeyPairReading & KeyUseReading
    ) throws -> [String] {
        var list: [String] = []
        let isForPayments = keyPair.purpose == .paymentProcessing
        for certificate in try reading.certificates(of: keyPair.publicKeyHash) {
            list.append("have Apple revoke the certificate with serial number \(certificate.serialNumber)")
        }
        if keyPair.state.isActive, isForPayments {
            list.append(
                "from the next request on, the daemon refuses tokens for this key with HTTP status 410, including the tokens of payments that are already authorized"
            )
        }
        if isInUse {
            if let current = replacements.first(where: { $0.state == .current }) {
                list.append("activate the certificate of the current key \(current.publicKeyHash) at Apple")
            } else if let standby = replacements.first(where: { $0.state == .standby }) {
                list.append("promote key \(standby.publicKeyHash) after you have activated its certificate at Apple")
            } else if let retiring = replacements.first(where: { $0.state == .retiring }) {
                list.append(
                    "promote key \(retiring.publicKeyHash), which is retiring, after you have activated its certificate at Apple again"
                )
            } else {
                list.append(
                    "there is no other \(keyPair.algorithm.rawValue) key with a valid certificate: start a roll and have the new key's CSR signed immediately"
                )
            }
        }
        if let exportedAt = keyPair.exportedAt {
            list.append("the private key was exported at \(exportedAt): copies outside of this daemon stay usable")
        }
        if let decryptions = try reading.keyUse(of: keyPair.publicKeyHash)?.decryptions {
            list.append(
                "\(decryptions.count.counted("token was", "tokens were")) decrypted with this key since \(decryptions.first)"
            )
        }
        if isForPayments, keyPair.merchantIdentifier.isPlatformIntegrator {
            list.append(
                "every merchant whose registration has \(keyPair.merchantIdentifier) as encryptTo is affected")
        }
        list.append("the daemon keeps the sealed private key until you run 'key destroy'")
        return list
    }
}
