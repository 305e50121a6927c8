package import Vocabulary

/// Corrections of uses that were recorded with a wrong clock.
extension KeyUse {
    /// The same use at a later time.
    ///
    /// - Parameter latest: no use moves past it; one that is later stays as it is.
    package func shifted(by duration: Duration, notPast latest: Timestamp) -> KeyUse {
        duration > .zero ? withTimes { max($0, min($0.adding(duration), latest)) } : self
    }

    /// The same use, no later than a time.
    package func notAfter(_ latest: Timestamp) -> KeyUse { withTimes { min($0, latest) } }

    private func withTimes(_ change: (Timestamp) -> Timestamp) -> KeyUse {
        func changed(_ use: ObservedUse?) -> ObservedUse? {
            use.map { ObservedUse(count: $0.count, first: change($0.first), last: change($0.last)) }
        }
        var other = self
        other.requests = changed(requests)
        other.decryptions = changed(decryptions)
        return other
    }
}
