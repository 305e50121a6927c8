package import Vocabulary

/// Selects the new key pair of a roll: an existing one if possible.
package enum SuccessorChoice {
    /// - Parameters:
    ///   - candidates: the merchant's key pairs of the algorithm, oldest first, each with the certificate in use.
    ///   - current: the certificate in use of the key pair that will be replaced.
    ///   - earliestEnd: a certificate that expires earlier would need another roll at once.
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

    /// Whether one key pair can replace the other at Apple.
    package static func isYounger(_ certificate: StoredCertificate, than current: StoredCertificate?) -> Bool {
        guard let current else { return true }
        return certificate.notBefore > current.notBefore
    }

    private static func ends(_ certificate: StoredCertificate?) -> Int64 {
        certificate?.notAfter.millisecondsSince1970 ?? .min
    }
}
