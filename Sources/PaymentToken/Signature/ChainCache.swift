import Synchronization

/// A cache of valid certificate chains. If the chain of a token is in the cache, the token needs one signature
/// verification instead of three.
///
/// The cache key is the DER encoding of the signing certificate and the intermediate. A cached chain is valid at every
/// time at which all three certificates are valid. So to know whether the chain is valid at the signing time, the
/// caller of ``chain(of:)`` compares this time with ``Chain/validity``.
///
/// An attacker cannot fill the cache, because it contains only chains that end in a trusted root. The size of the cache
/// is limited nevertheless.
final class ChainCache: Sendable {
    /// A valid chain.
    struct Chain: Sendable {
        let key: VerificationKey
        /// The signing certificate's `IssuerAndSerialNumber` in DER, without its tag and length.
        let issuerAndSerialNumber: [UInt8]
        let signerCommonNames: [String]
        /// The period in which all three certificates are valid.
        let validity: ClosedRange<ASN1Time>
    }

    private struct Entries {
        var chains: [[UInt8]: Chain] = [:]
        /// The keys of `chains`, in the order in which the chains were added.
        var oldestFirst: [[UInt8]] = []
    }

    private let capacity: Int
    private let entries = Mutex(Entries())

    init(capacity: Int) { self.capacity = capacity }

    /// Returns a cached chain; nil if the chain is not in the cache.
    ///
    /// - Parameter certificates: the DER of the signing certificate followed by the DER of the intermediate.
    func chain(of certificates: [UInt8]) -> Chain? {
        entries.withLock { $0.chains[certificates] }
    }

    /// Adds a chain. If the cache is full, removes the chain that was added first. The caller must have verified the
    /// chain, and checked that the signing certificate and the intermediate have Apple's marker extensions.
    func insert(leaf: X509Certificate, intermediate: X509Certificate, root: X509Certificate) {
        let certificates = [leaf, intermediate, root]
        let starts = certificates.compactMap(\.notBefore)
        let ends = certificates.compactMap(\.notAfter)
        // A chain whose validity period cannot be read is not cached: its tokens always get the full check.
        guard starts.count == certificates.count, ends.count == certificates.count, let start = starts.max(),
            let end = ends.min(),
            start <= end, let key = leaf.verificationKey
        else { return }
        let chain = Chain(
            key: key, issuerAndSerialNumber: leaf.issuerAndSerialNumber, signerCommonNames: leaf.subjectCommonNames,
            validity: start...end)
        let bytes = leaf.derRepresentation + intermediate.derRepresentation
        entries.withLock { entries in
            guard entries.chains.updateValue(chain, forKey: bytes) == nil else { return }
            entries.oldestFirst.append(bytes)
            if entries.oldestFirst.count > capacity {
                entries.chains.removeValue(forKey: entries.oldestFirst.removeFirst())
            }
        }
    }
}
