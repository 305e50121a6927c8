import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Collects one response as the client's ``ResponseBody`` setting prescribes, and records whether the request was sent.
final class ResponseAccumulator: HTTPClientResponseDelegate {
    typealias Response = OutboundResponse

    private struct State {
        var isSent = false
        var head: HTTPResponseHead?
        var body: [UInt8] = []
        var discardedBytes = 0
    }

    private let bodyPolicy: ResponseBody
    private let state = Mutex(State())

    init(_ bodyPolicy: ResponseBody) { self.bodyPolicy = bodyPolicy }

    /// Whether the head of the request was written to the connection. If so, the server may have acted on the request.
    var isSent: Bool { state.withLock { $0.isSent } }

    /// The response as received until now, with the kept beginning of its body. nil if the head has not arrived, or if
    /// the caller needs the whole body.
    var partialResponse: OutboundResponse? {
        guard case .discard = bodyPolicy else { return nil }
        return state.withLock { state in state.head.map { OutboundResponse($0, body: state.body) } }
    }

    func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
        state.withLock { $0.isSent = true }
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        state.withLock { $0.head = head }
        switch bodyPolicy {
        case .collect(let limit):
            if let length = head.headers.first(name: "Content-Length").flatMap(Int.init), length > limit {
                return task.eventLoop.makeFailedFuture(OutboundFailure.responseTooLarge(limit: limit))
            }
        case .discard(_, let timeout, _):
            // `OutboundClient` does not report this cancellation as a failure, but returns ``partialResponse``.
            task.eventLoop.scheduleTask(in: TimeAmount(timeout)) { task.cancel() }
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let exceededLimit = state.withLock { state -> Int? in
            switch bodyPolicy {
            case .collect(let limit):
                guard state.body.count + part.readableBytes <= limit else { return limit }
                state.body.append(contentsOf: part.readableBytesView)
            case .discard(let limit, _, let keptCount):
                state.body.append(contentsOf: part.readableBytesView.prefix(max(0, keptCount - state.body.count)))
                state.discardedBytes += part.readableBytes
                // The failure ends the connection. `OutboundClient` does not report it, but returns
                // ``partialResponse``.
                guard state.discardedBytes <= limit else { return limit }
            }
            return nil
        }
        guard let limit = exceededLimit else { return task.eventLoop.makeSucceededVoidFuture() }
        return task.eventLoop.makeFailedFuture(OutboundFailure.responseTooLarge(limit: limit))
    }

    func didFinishRequest(task: HTTPClient.Task<Response>) throws -> OutboundResponse {
        try state.withLock { state in
            guard let head = state.head else { throw OutboundFailure.responseLost("the response has no head") }
            return OutboundResponse(head, body: state.body)
        }
    }
}

extension OutboundResponse {
    fileprivate init(_ head: HTTPResponseHead, body: [UInt8]) {
        self.init(
            status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) }, body: body)
    }
}
