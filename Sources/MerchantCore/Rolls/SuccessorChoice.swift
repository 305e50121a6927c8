package import Vocabulary

/// Selects the new key pair of a roll: one of the merchant's existing key pairs if possible.
package enum SuccessorChoice {
    /// - Parameters:
    ///   - candidates: the merchant's key pairs of the algorithm, oldest first, each with the certificate in use.
    ///   - current: the certificate in use of the key pair that will be replaced.
    ///   - earliestEnd: the certificate of the new key pair must expire later than this, so that it does not need a
    ///     roll itself at once.
    /// - Returns: nil if a new key pair must be generated.
    package static func choose(
        among candidates: [(keyPair: KeyPair, certificate: StoredCertificate?)], current: StoredCertificate?,
        earliestEnd: Timestamp
    ) -> KeyPair? {
        let ready = candidates.filter { candidate in
            guard candidate.keyPair.state == .standby, let certificate = candidate.certificate else { return false }
            return certificate.notAfter > earliestEnd && isYounger(certificate, than: current)
        }
        if let best = ready.max(by: { ends($0.certificate) < ends($1.certificate) }) { return best.keyPair }
        // The oldest, because its CSR is the most likely to have been sent to Apple.
        return candidates.first { $0.keyPair.state == .pending }?.keyPair
    }

    /// Whether a certificate became valid after the current one. Only then can its key pair replace the current one at
    /// Apple.
    package static func isYounger(_ certificate: StoredCertificate, than current: StoredCertificate?) -> Bool {
        guard let current else { return true }
        return certificate.notBefore > current.notBefore
    }

    private static func ends(_ certificate: StoredCertificate?) -> Int64 {
        certificate?.notAfter.millisecondsSince1970 ?? .min
    }
}
