import Synchronization

/// Remembers which signing certificates chained, through which intermediates, to a trusted root with their markers in
/// place, so that the next token of the same signer needs one signature verified in place of three.
///
/// Keyed by the certificates' own bytes: another byte is another chain. What holds at one time inside the validity of all
/// three certificates holds at every such time, so that validity is all that is left to compare. Only chains that a
/// trusted root vouches for get in, so nobody can fill it with junk; it is bounded all the same.
final class ChainMemory: Sendable {
    /// One chain that held.
    struct Chain: Sendable {
        let key: VerificationKey
        /// How the signer is named in a message, DER.
        let issuerAndSerialNumber: [UInt8]
        let leafCommonNames: [String]
        /// When all three certificates are valid.
        let validity: ClosedRange<ASN1Time>
    }

    private struct Entries {
        var chains: [[UInt8]: Chain] = [:]
        var oldestFirst: [[UInt8]] = []
    }

    private let capacity: Int
    private let entries = Mutex(Entries())

    init(capacity: Int) { self.capacity = capacity }

    /// - Parameter certificates: signing certificate and intermediate, DER, one after the other.
    func chain(of certificates: [UInt8]) -> Chain? {
        entries.withLock { $0.chains[certificates] }
    }

    /// Call only for a chain that was judged to hold, with its markers.
    func remember(leaf: X509Certificate, intermediate: X509Certificate, root: X509Certificate) {
        let all = [leaf, intermediate, root]
        let starts = all.compactMap(\.notBefore)
        let ends = all.compactMap(\.notAfter)
        guard starts.count == all.count, ends.count == all.count, let start = starts.max(), let end = ends.min(),
            start <= end, let key = leaf.verificationKey
        else { return }
        let chain = Chain(
            key: key, issuerAndSerialNumber: leaf.issuerAndSerialNumber,
            leafCommonNames: leaf.subjectCommonNames, validity: start...end)
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
