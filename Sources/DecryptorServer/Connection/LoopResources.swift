import MetricsKit
import NIOCore
import NIOHTTP1

/// The objects that the connections of one event loop share. Use them only on that event loop.
final class LoopResources {
    let scheduler: FairScheduler
    /// Counts the requests of the event loop. Each event loop has its own recorder, so that the processors do not
    /// compete for the memory of the counts.
    let requests: RequestMetrics.Recorder

    init(scheduler: FairScheduler, requests: RequestMetrics.Recorder) {
        self.scheduler = scheduler
        self.requests = requests
    }
}

/// The ``LoopResources`` of each event loop of a group.
struct LoopResourcesByLoop: Sendable {
    private let resources: [ObjectIdentifier: NIOLoopBound<LoopResources>]

    init(_ loops: some EventLoopGroup, requests: RequestMetrics) async throws {
        var resources: [ObjectIdentifier: NIOLoopBound<LoopResources>] = [:]
        for loop in loops.makeIterator() {
            let recorder = requests.makeRecorder(
                server: "decryptor", routes: DecryptorRoute.table.map { ($0.method.rawValue, $0.path) })
            resources[ObjectIdentifier(loop)] = try await loop.submit {
                NIOLoopBound(
                    LoopResources(scheduler: FairScheduler(loop), requests: recorder), eventLoop: loop)
            }.get()
        }
        self.resources = resources
    }

    /// - Parameter loop: an event loop of the group. Call this only on that event loop.
    subscript(loop: any EventLoop) -> LoopResources {
        guard let resources = resources[ObjectIdentifier(loop)] else {
            preconditionFailure("a connection belongs to one of the server's event loops")
        }
        return resources.value
    }
}
