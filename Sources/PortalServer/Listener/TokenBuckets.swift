/// Limits the rate of requests for each key, such as the address of a client, with one token bucket for each key. The
/// memory is bounded: if there are too many keys, the buckets of the keys that were used least recently are discarded,
/// so these keys start again with a full bucket.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        /// When `tokens` was computed.
        var computedAt: ContinuousClock.Instant
    }

    private let rate: RequestRates.Rate
    private let maximumEntries: Int
    /// The buckets are kept in two generations. When `recent` has half of the maximum number of buckets, the buckets in
    /// `older` are discarded, and `recent` becomes `older`. A bucket that is used moves to `recent`.
    private var recent: [Key: Bucket] = [:]
    private var older: [Key: Bucket] = [:]

    init(_ rate: RequestRates.Rate, maximumEntries: Int) {
        self.rate = rate
        self.maximumEntries = max(2, maximumEntries)
    }

    var count: Int { recent.count + older.count }

    /// Takes one token.
    ///
    /// - Returns: nil if there was a token; otherwise the time until there will be one.
    mutating func take(_ key: Key, at now: ContinuousClock.Instant) -> Duration? {
        var bucket = current(key, at: now)
        let delay = timeToNextToken(bucket)
        if delay == nil { bucket.tokens = max(0, bucket.tokens - 1) }
        store(bucket, for: key)
        return delay
    }

    /// Does not take a token.
    ///
    /// - Returns: nil if there is a token; otherwise the time until there will be one.
    func wait(_ key: Key, at now: ContinuousClock.Instant) -> Duration? {
        timeToNextToken(current(key, at: now))
    }

    private func current(_ key: Key, at now: ContinuousClock.Instant) -> Bucket {
        guard var bucket = recent[key] ?? older[key] else {
            return Bucket(tokens: Double(rate.burst), computedAt: now)
        }
        let minutes: Double = (now - bucket.computedAt) / Duration.seconds(60)
        bucket.tokens = min(Double(rate.burst), bucket.tokens + max(0, minutes) * Double(rate.perMinute))
        bucket.computedAt = now
        return bucket
    }

    private func timeToNextToken(_ bucket: Bucket) -> Duration? {
        // Allows for rounding errors in the number of tokens.
        guard bucket.tokens < 1 - 1e-6 else { return nil }
        let seconds = (1 - bucket.tokens) * 60 / Double(max(1, rate.perMinute))
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }

    private mutating func store(_ bucket: Bucket, for key: Key) {
        if recent[key] == nil {
            older[key] = nil
            if recent.count >= maximumEntries / 2 {
                older = recent
                recent = [:]
            }
        }
        recent[key] = bucket
    }
}
