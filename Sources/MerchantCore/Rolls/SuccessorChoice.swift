package import Vocabulary

/// Which key pair a roll goes to: one that is there already, where one fits.
package enum SuccessorChoice {
    /// - Parameters:
    ///   - candidates: the merchant's key pairs of the algorithm, oldest first, each with its answering certificate.
    ///   - current: the answering certificate of the key pair that will be replaced.
    ///   - earliestEnd: a certificate that ends before would have to be rolled again at once.
    /// - Returns: nil where a new pair has to be made.
    package static func choose(
        among candidates: [(keyPair: KeyPair, certificate: StoredCertificate?)], current: StoredCertificate?,
        earliestEnd: Timestamp
    ) -> KeyPair? {
        let ready = candidates.filter { candidate in
            guard candidate.keyPair.state == .standby, let certificate = candidate.certificate else { return false }
            return certificate.notAfter > earliestEnd && isYounger(certificate, than: current)
        }
        if let best = ready.max(by: { ends($0.certificate) < ends($1.certificate) }) { return best.keyPair }
        // The oldest: its CSR is the one most likely on its way already.
        return candidates.first { $0.keyPair.state == .pending }?.keyPair
    }

    /// Whether Apple can have switched from the one to the other.
    package static func isYounger(_ certificate: StoredCertificate, than current: StoredCertificate?) -> Bool {
        guard let current else { return true }
        return certificate.notBefore > current.notBefore
    }

    private static func ends(_ certificate: StoredCertificate?) -> Int64 {
        certificate?.notAfter.millisecondsSince1970 ?? .min
    }
}
