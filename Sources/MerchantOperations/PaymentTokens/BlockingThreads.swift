/// Threads that may be blocked, for example by a read of the store.
package protocol BlockingThreads: Sendable {
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
}
