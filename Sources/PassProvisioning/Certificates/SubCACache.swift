import Synchronization
import X509

/// Remembers which trusted root signed a sub-CA.
///
/// Apple issues all leaves under one sub-CA. With the cache, the most expensive signature check of an attempt, with the
/// P-384 key of Apple's root, is usually made only once. All other checks, such as those of the validity periods of the
/// sub-CA and the root, are made for every attempt.
///
/// The cache finds a sub-CA by its whole certificate, byte for byte. Only sub-CAs that a trusted root signed are
/// stored, so an attacker cannot fill the cache. Its size is limited nevertheless.
final class SubCACache: Sendable {
    private static let capacity = 16

    private let issuers = Mutex<[Certificate: Certificate]>([:])

    /// Returns the root that signed the sub-CA; nil if no root did.
    ///
    /// - Parameter find: checks the signature. Called only if the cache does not hold the sub-CA.
    func issuer(of subCA: Certificate, find: () -> Certificate?) -> Certificate? {
        if let known = issuers.withLock({ $0[subCA] }) { return known }
        guard let issuer = find() else { return nil }
        issuers.withLock { issuers in
            if issuers.count >= Self.capacity { issuers.removeAll() }
            issuers[subCA] = issuer
        }
        return issuer
    }
}
