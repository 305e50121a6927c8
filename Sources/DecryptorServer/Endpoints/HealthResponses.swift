package import NIOCore
import NIOHTTP1
import Synchronization
package import WireAPI

/// The responses to `GET /v1/health`.
///
/// The daemon's health is read at most once in each ``freshTime``, so that a flood of these requests causes no more
/// work than a flood of others. A response is encoded once, and reused until the health changes.
package final class HealthResponses: Sendable {
    package static let freshTime = TimeAmount.milliseconds(1)

    private struct Last: Sendable {
        let document: HealthDocument
        let response: EncodedResponse
        var readAt: NIODeadline
    }

    private let read: @Sendable () -> HealthDocument
    private let last = Mutex<Last?>(nil)

    /// - Parameter read: returns the daemon's health. It is called on an event loop, so it must not block.
    package init(_ read: @escaping @Sendable () -> HealthDocument) { self.read = read }

    package func response(at now: NIODeadline = .now()) -> EncodedResponse {
        last.withLock { last in
            if let last, now < last.readAt + Self.freshTime { return last.response }
            let document = read()
            if let known = last, known.document == document {
                last?.readAt = now
                return known.response
            }
            let body = JSONBytes.encode(document)
            let response = EncodedResponse(
                document.ready ? .ok : .serviceUnavailable, bodyCapacity: body.count
            ) { $0.writeBytes(body) }.compacted
            last = Last(document: document, response: response, readAt: now)
            return response
        }
    }
}
