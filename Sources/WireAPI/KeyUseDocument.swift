/// What was seen of a key pair's use; at most 5 seconds behind.
package struct KeyUseDocument: Codable, Hashable, Sendable {
    /// How often and when. Times are RFC 3339 UTC.
    package struct Observed: Codable, Hashable, Sendable {
        package let count: Int
        package let first: String
        package let last: String

        package init(count: Int, first: String, last: String) {
            self.count = count
            self.first = first
            self.last = last
        }
    }

    /// Requests that named its publicKeyHash; it is public, so they prove nothing.
    package let requests: Observed?
    /// Tokens that verified, decrypted and passed their GCM tag.
    package let decryptions: Observed?

    package init(requests: Observed?, decryptions: Observed?) {
        self.requests = requests
        self.decryptions = decryptions
    }
}
