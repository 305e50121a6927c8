/// Threads that work may block, for example with a read of the store.
package protocol BlockingThreads: Sendable {
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
}
