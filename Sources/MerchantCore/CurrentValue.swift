/// A value that may change while the daemon runs, such as a setting that a reload replaces. All copies show the same
/// value.
///
/// ``generation`` is cheap to read. Code that derives something from the value keeps the result until the generation
/// changes. Such code reads the generation first and then the value, so that it does not miss a change in between.
package struct CurrentValue<Value: Sendable>: Sendable {
    private let read: @Sendable () -> Value
    /// Counts the changes; nil for a value that never changes.
    private let signal: ChangeSignal?

    /// - Parameters:
    ///   - signal: counts the changes of the value, and perhaps of other values too.
    ///   - read: returns the value as it is now.
    package init(changedBy signal: ChangeSignal, read: @escaping @Sendable () -> Value) {
        self.read = read
        self.signal = signal
    }

    /// A value that never changes.
    package init(_ value: Value) {
        read = { value }
        signal = nil
    }

    package var value: Value { read() }

    /// Changes if the value changes. Takes no lock.
    package var generation: Int { signal?.generation ?? 0 }

    /// Waits until the value may have changed since `generation` was read, or the task is cancelled.
    package func change(after generation: Int) async {
        if let signal { return await signal.wait(after: generation) }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    /// Waits as ``change(after:)`` does, but at most until `deadline`.
    package func change(after generation: Int, until deadline: ContinuousClock.Instant) async {
        if let signal { return await signal.wait(after: generation, until: deadline) }
        try? await Task.sleep(until: deadline)
    }
}
