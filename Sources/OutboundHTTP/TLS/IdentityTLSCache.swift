import NIOSSL
import Synchronization

/// The TLS settings of recently used identities. They are kept because parsing an identity's certificates is slow.
///
/// The HTTP client keeps a pool of connections for each combination of host and TLS settings. The settings of two
/// identities are equal only if the certificate chains are equal, so that no request is sent over a connection of
/// another identity. The settings of one identity are equal even if they were created twice. So after an eviction from
/// this cache, the identity's connections are still used.
final class IdentityTLSCache: Sendable {
    private struct Entry {
        let tls: TLSConfiguration
        /// The number of the request that used the entry last.
        var lastUse: Int
    }

    private struct State {
        var entries: [[[UInt8]]: Entry] = [:]
        var requests = 0
    }

    /// The settings without an identity.
    private let base: TLSConfiguration
    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: the largest number of identities. Each takes about 20 KB.
    init(base: TLSConfiguration, capacity: Int) {
        self.base = base
        self.capacity = capacity
    }

    /// - Parameter identity: nil for no client certificate.
    /// - Throws: `identityUnusable` if TLS cannot read a certificate of the identity.
    func settings(for identity: TLSIdentity?) throws(OutboundFailure) -> TLSConfiguration {
        guard let identity else { return base }
        let chain = identity.certificateChain
        let known = state.withLock { state -> TLSConfiguration? in
            state.requests += 1
            guard let index = state.entries.index(forKey: chain) else { return nil }
            state.entries.values[index].lastUse = state.requests
            return state.entries.values[index].tls
        }
        if let known { return known }
        var tls = base
        do {
            tls.certificateChain = try chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) }
        } catch { throw .identityUnusable("the identity's certificate cannot be read by TLS") }
        tls.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: TLSIdentityKey(identity)))
        let entry = tls
        state.withLock { state in
            if state.entries.count >= capacity, state.entries[chain] == nil,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
            }
            state.entries[chain] = Entry(tls: entry, lastUse: state.requests)
        }
        return tls
    }
}
