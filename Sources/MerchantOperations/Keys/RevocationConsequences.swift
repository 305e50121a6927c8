import MerchantCore
import Vocabulary

/// The consequences of revoking a compromised key, and what admins must do.
enum RevocationConsequences {
    /// - Parameter replacements: the active key pairs that can replace the revoked one, see
    ///   ``RevocationRules/Remaining``.
    static func list(
        of keyPair: KeyPair, replacements: [KeyPair], in reading: any KeyPairReading & KeyUseReading
    ) throws -> [String] {
        var list: [String] = []
        let merchant = keyPair.merchantIdentifier
        for certificate in try reading.certificates(of: keyPair.publicKeyHash) {
            list.append("have Apple revoke the certificate with serial number \(certificate.serialNumber)")
        }
        if keyPair.state.isActive {
            list.append(
                "from the next request on, its tokens are refused with 410, also those of payments already authorized")
        }
        if keyPair.state == .current {
            if let standby = replacements.first(where: { $0.state == .standby }) {
                list.append("activate the certificate of \(standby.publicKeyHash) at Apple and promote it")
            } else if let retiring = replacements.first(where: { $0.state == .retiring }) {
                list.append("\(retiring.publicKeyHash) is retiring: activate it again at Apple and promote it")
            } else {
                list.append(
                    "there is no other \(keyPair.algorithm.rawValue) key with a valid certificate: start a roll and have its CSR signed immediately"
                )
            }
        }
        if let exportedAt = keyPair.exportedAt {
            list.append("the private key was exported at \(exportedAt): copies outside of this daemon stay usable")
        }
        if let decryptions = try reading.keyUse(of: keyPair.publicKeyHash)?.decryptions {
            list.append(
                "\(decryptions.count) tokens were decrypted with it since \(decryptions.first), the last at \(decryptions.last)"
            )
        }
        if merchant.isPlatformIntegrator {
            list.append("every merchant registered to encrypt to \(merchant) is affected")
        }
        list.append("the sealed private key is kept until it is destroyed: run 'key destroy'")
        return list
    }
}
