/// Code that is generic over `InstantProtocol`, such as a circuit breaker, can use timestamps.
extension Timestamp: InstantProtocol {
    package func advanced(by duration: Duration) -> Timestamp { adding(duration) }

    package func duration(to other: Timestamp) -> Duration {
        .milliseconds(other.millisecondsSince1970 - millisecondsSince1970)
    }
}
