import MerchantCore
import Vocabulary

/// Caches the public keys of merchant tokens that Apple returned recently. The cache limits the calls to Apple that the
/// requests of devices can cause: the requests for a token share one call and its result until the result expires.
actor RecentPublicKeys {
    /// After this time, the key is requested from Apple again, because Apple may replace it. Devices cannot decrypt
    /// what was encrypted with the old key, and repeat their request.
    static let maximumAge = Duration.seconds(60)
    /// After this time, a failed call is repeated.
    static let maximumFailureAge = Duration.seconds(15)
    private static let capacity = 10_000

    private struct Entry {
        let read: Task<MerchantTokenPublicKey, any Error>
        var expiry: ContinuousClock.Instant
    }

    private let read: @Sendable (MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey
    private var entries: [MerchantTokenIdentifier: Entry] = [:]

    /// - Parameter read: requests the public key from Apple.
    init(_ read: @escaping @Sendable (MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey) {
        self.read = read
    }

    func key(of token: MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey {
        let now = ContinuousClock.now
        if let entry = entries[token], now < entry.expiry { return try await entry.read.value }
        if entries.count >= Self.capacity { entries = entries.filter { now < $0.value.expiry } }
        if entries.count >= Self.capacity { entries.removeAll() }
        // A separate task, because several devices may wait for its result, and the task must continue if one of them
        // disconnects.
        let read = Task { [read] in try await read(token) }
        entries[token] = Entry(read: read, expiry: now + Self.maximumAge)
        do { return try await read.value } catch {
            entries[token]?.expiry = ContinuousClock.now + Self.maximumFailureAge
            throw error
        }
    }
}
