package import Vocabulary

/// Corrections of uses that were observed while the machine's clock was wrong.
extension KeyUse {
    /// The same use, with the times of its requests and decryptions moved to later by `duration`.
    ///
    /// - Parameter latest: no time moves past this. A time that is already later stays as it is.
    package func shifted(by duration: Duration, notPast latest: Timestamp) -> KeyUse {
        duration > .zero ? withTimes { max($0, min($0.adding(duration), latest)) } : self
    }

    /// The same use, with each time of a request or decryption that is later than `latest` set to `latest`.
    package func notAfter(_ latest: Timestamp) -> KeyUse { withTimes { min($0, latest) } }

    private func withTimes(_ change: (Timestamp) -> Timestamp) -> KeyUse {
        func changed(_ use: Occurrences?) -> Occurrences? {
            use.map { Occurrences(count: $0.count, first: change($0.first), last: change($0.last)) }
        }
        var other = self
        other.requests = changed(requests)
        other.decryptions = changed(decryptions)
        return other
    }
}
