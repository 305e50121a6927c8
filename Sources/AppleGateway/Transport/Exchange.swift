import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// A whole answer.
struct TransportAnswer: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: ByteBuffer
}

/// Collects one answer up to a limit, and knows whether its request left.
final class Exchange: HTTPClientResponseDelegate {
    private struct State {
        var didSend = false
        var head: HTTPResponseHead?
        var body = ByteBuffer()
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Whether bytes of the request were given to the connection: from then on the server may have acted.
    var didSend: Bool { state.withLock { $0.didSend } }

    func didSendRequestHead(task: HTTPClient.Task<TransportAnswer>, _ head: HTTPRequestHead) {
        state.withLock { $0.didSend = true }
    }

    func didReceiveHead(task: HTTPClient.Task<TransportAnswer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        if let length = head.headers.first(name: "Content-Length").flatMap(Int.init), length > limit {
            return task.eventLoop.makeFailedFuture(TransportFailure.answerTooLarge(limit: limit))
        }
        state.withLock { $0.head = head }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<TransportAnswer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.readableBytes + part.readableBytes <= limit else { return false }
            state.body.writeImmutableBuffer(part)
            return true
        }
        guard fits else { return task.eventLoop.makeFailedFuture(TransportFailure.answerTooLarge(limit: limit)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<TransportAnswer>) throws -> TransportAnswer {
        try state.withLock { state in
            guard let head = state.head else { throw TransportFailure.answerLost("the answer had no head") }
            return TransportAnswer(status: Int(head.status.code), headers: head.headers, body: state.body)
        }
    }
}
