import NIOCore
import NIOHTTP1
import Synchronization
import WireAPI

/// The responses to `GET /v1/health`.
///
/// A response is encoded once and reused until the health changes, because such requests are frequent.
final class HealthResponses: Sendable {
    private let readHealth: @Sendable () -> HealthDocument
    private let last = Mutex<(document: HealthDocument, response: EncodedResponse)?>(nil)

    /// - Parameter readHealth: returns the daemon's health. It is called on an event loop, so it must not block.
    init(_ readHealth: @escaping @Sendable () -> HealthDocument) { self.readHealth = readHealth }

    func response() -> EncodedResponse {
        let document = readHealth()
        return last.withLock { last in
            if let last, last.document == document { return last.response }
            let body = JSONBytes.encode(document)
            let response = EncodedResponse(
                document.ready ? .ok : .serviceUnavailable, bodyCapacity: body.count
            ) { $0.writeBytes(body) }.compacted
            last = (document, response)
            return response
        }
    }
}
