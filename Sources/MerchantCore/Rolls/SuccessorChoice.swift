package import Vocabulary

/// Selects the new key pair of a roll: one of the merchant's existing key pairs if possible.
package enum SuccessorChoice {
    /// - Parameters:
    ///   - candidates: the merchant's key pairs of one algorithm, oldest first, each with its certificate in use.
    ///   - current: the certificate in use of the key pair that will be replaced.
    ///   - earliestExpiry: the new key pair's certificate must expire later than this, so that the new key pair does
    ///     not need a roll at once.
    /// - Returns: nil if a new key pair must be generated.
    package static func choose(
        among candidates: [(keyPair: KeyPair, certificate: StoredCertificate?)], current: StoredCertificate?,
        earliestExpiry: Timestamp
    ) -> KeyPair? {
        let ready = candidates.filter { candidate in
            guard candidate.keyPair.state == .standby, let certificate = candidate.certificate else { return false }
            return certificate.notAfter > earliestExpiry && isNewer(certificate, than: current)
        }
        if let best = ready.max(by: { expiry($0.certificate) < expiry($1.certificate) }) { return best.keyPair }
        // The oldest pending key pair, because its CSR is the most likely to have been sent to Apple.
        return candidates.first { $0.keyPair.state == .pending }?.keyPair
    }

    /// Whether a certificate became valid after the current certificate. Only then can its key pair replace the current
    /// key pair at Apple.
    package static func isNewer(_ certificate: StoredCertificate, than current: StoredCertificate?) -> Bool {
        guard let current else { return true }
        return certificate.notBefore > current.notBefore
    }

    private static func expiry(_ certificate: StoredCertificate?) -> Int64 {
        certificate?.notAfter.millisecondsSince1970 ?? .min
    }
}
