package import LocalSocket

/// Limits how many `GET` requests of one user run at the same time. A server has one value for all its routes.
package struct ReadLimits: Sendable {
    private let reads = ReadConcurrency(maximumPerUser: 4)
    /// The limit of the requests that wait for events. Each may wait for up to 30 s, so `reads` does not count these
    /// requests.
    private let waitingReads = ReadConcurrency(maximumPerUser: 32)

    package init() {}

    /// Runs a read. If too many reads of the user are running already, the read first waits until another read has
    /// ended.
    ///
    /// - Parameter waitsForEvents: whether the read may wait for events.
    package func run<Value: Sendable>(
        for user: UserQuotas.Holder, waitsForEvents: Bool = false, _ read: () async throws -> Value
    ) async throws -> Value {
        try await (waitsForEvents ? waitingReads : reads).run(for: user, read)
    }
}
