import MerchantCore
import Vocabulary

/// The public keys of merchant tokens that Apple gave recently, so that devices cannot cause any number of calls to Apple:
/// at most one call for each token runs, or has ended within ``maximumAge``.
actor RecentPublicKeys {
    /// Apple may replace a key. Devices cannot read what was encrypted with the former key, and ask again.
    static let maximumAge = Duration.seconds(60)
    /// The age of a failure.
    static let maximumFailureAge = Duration.seconds(15)
    private static let capacity = 10_000

    private struct Entry {
        let read: Task<MerchantTokenPublicKey, any Error>
        var expiry: ContinuousClock.Instant
    }

    private let read: @Sendable (MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey
    private var entries: [MerchantTokenIdentifier: Entry] = [:]

    /// - Parameter read: asks Apple.
    init(_ read: @escaping @Sendable (MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey) {
        self.read = read
    }

    func key(of token: MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey {
        let now = ContinuousClock.now
        if let entry = entries[token], now < entry.expiry { return try await entry.read.value }
        if entries.count >= Self.capacity { entries = entries.filter { now < $0.value.expiry } }
        if entries.count >= Self.capacity { entries.removeAll() }
        // A task of its own, because several devices may wait for it, and one of them may leave.
        let read = Task { [read] in try await read(token) }
        entries[token] = Entry(read: read, expiry: now + Self.maximumAge)
        do { return try await read.value } catch {
            entries[token]?.expiry = ContinuousClock.now + Self.maximumFailureAge
            throw error
        }
    }
}
