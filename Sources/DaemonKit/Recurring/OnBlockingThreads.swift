import MerchantOperations
import ServiceLifecycle

/// Runs a service whose work may block for long, on threads of its own.
struct OnBlockingThreads<Work: Service>: Service, CustomStringConvertible {
    let work: Work

    init(_ work: Work) { self.work = work }

    func run() async throws { try await WorkThreads.waiting.run { try await work.run() } }

    var description: String { "\(Work.self)" }
}
