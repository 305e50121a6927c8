import Logging
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1

/// One connection: takes requests from the codec, has them answered, and writes the answers in the requests' order.
///
/// What is known at once is written at once and flushed once a read. The rest waits in a queue, and while too much of
/// it waits, or the other side does not take its answers, nothing more is read. See ``ConnectionHandler/Clock`` for time.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What all connections share.
    struct Environment: Sendable {
        let endpoints: Endpoints
        let problems: Problems
        let work: OffLoopWork
        let limits: Limits
    }

    /// A request whose body may still arrive.
    private struct Arriving {
        let method: HTTPMethod
        let uri: String
        let form: AnswerForm
        let idempotencyKeys: [String]
        var body: ByteBuffer
    }

    let environment: Environment
    private let peer: Peer
    private(set) var context: ChannelHandlerContext?
    private var arriving: Arriving?
    private(set) var queue = ResponseQueue()
    /// No further request is taken from this connection.
    private(set) var inputEnded = false
    /// The other side has sent its last byte.
    private var inputClosed = false
    /// The last answer was written.
    private var outputEnded = false
    private var needsFlush = false
    /// Asked for while reading was to wait.
    private var withheldRead = false
    /// Whether a part of a request came with the current read.
    private var readBroughtPart = false
    var clock = Clock()

    init(_ environment: Environment, peer: Peer) {
        self.environment = environment
        self.peer = peer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        clock.touch()
        watchIdleness(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        clock.cancel()
        queue.removeAll()
        context = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        readBroughtPart = true
        switch unwrapInboundIn(data) {
        case .head(let head): if !inputEnded { begin(head, context) }
        case .body(let bytes): if arriving != nil { append(bytes, context) }
        case .end:
            clock.requestArrived()
            guard let request = arriving else { return }
            arriving = nil
            if request.form.isLast { inputEnded = true }
            answer(request, context)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let form = AnswerForm(
            isHead: head.method == .HEAD,
            // After an upgrade the codec reads no further; HTTP/1.0 would want its own word for staying open.
            isLast: !head.isKeepAlive || head.version != .http1_1 || head.method == .CONNECT
                || head.headers.contains(name: "upgrade"))
        arriving = Arriving(
            method: head.method, uri: head.uri, form: form,
            idempotencyKeys: head.method == .POST ? head.headers["idempotency-key"] : [], body: ByteBuffer())
        guard head.method == .POST else { return }
        if let length = head.headers.first(name: "content-length"), (Int(length) ?? .max) > environment.limits.bodyBytes
        {
            return refuse(.tooLarge)
        }
        if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
            enqueue(.continue, AnswerForm(isInterim: true), context)
            flushIfNeeded(context)
        }
    }

    private func append(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        guard var request = arriving else { return }
        arriving = nil
        var bytes = bytes
        if request.body.readableBytes == 0 {
            request.body = bytes
        } else {
            request.body.writeBuffer(&bytes)
        }
        arriving = request
        if request.body.readableBytes > environment.limits.bodyBytes { refuse(.tooLarge) }
    }

    private func answer(_ request: Arriving, _ context: ChannelHandlerContext) {
        do {
            let asked = DecryptorRequest(
                method: request.method, uri: request.uri, idempotencyKeys: request.idempotencyKeys, body: request.body)
            switch try environment.endpoints.answer(asked, from: peer) {
            case .now(let response): enqueue(response, request.form, context)
            case .blocking(let body):
                try start(request.form, requestId: nil, context) { try environment.work.start(body, completion: $0) }
            case .waiting(let recorded, let body):
                try start(request.form, requestId: recorded.requestId, context) { completion in
                    try environment.work.start({ try await body(recorded) }, completion: completion)
                }
            }
        } catch {
            enqueue(environment.problems.response(to: error), request.form, context)
        }
    }

    /// Keeps the request's place in the order for what comes back from another thread.
    private func start(
        _ form: AnswerForm, requestId: String?, _ context: ChannelHandlerContext,
        _ work: (@escaping @Sendable (Result<Response, any Error>) -> Void) throws -> Void
    ) throws {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let place = queue.nextPlace
        let problems = environment.problems
        try work { result in
            let response: Response
            switch result {
            case .success(let success): response = success
            case .failure(let error):
                response = problems.response(to: error, requestId: requestId ?? RequestId.make())
            }
            bound.eventLoop.execute { bound.value.fill(place, with: response) }
        }
        queue.append(form)
    }

    private func fill(_ place: ResponseQueue.Place, with response: Response) {
        guard let context else { return response.wipe() }
        queue.fill(place, with: response)
        clock.touch()
        writeWhatIsKnown(context)
        flushIfNeeded(context)
        continueReading(context)
    }

    /// Answers what cannot be read any further, after everything asked before.
    func refuse(_ error: any Error) {
        guard let context, !inputEnded else { return }
        inputEnded = true
        arriving = nil
        enqueue(environment.problems.response(to: error), AnswerForm(isLast: true), context)
        flushIfNeeded(context)
    }

    private func refuse(_ code: MerchantError.Code) {
        refuse(MerchantError(code, "the body is too long, expected at most \(environment.limits.bodyBytes) bytes"))
    }

    // MARK: Answers

    private func enqueue(_ response: Response, _ form: AnswerForm, _ context: ChannelHandlerContext) {
        guard queue.isEmpty else { return queue.append(form, response) }
        write(response, form, context)
    }

    private func writeWhatIsKnown(_ context: ChannelHandlerContext) {
        while let (form, response) = queue.takeFirst() { write(response, form, context) }
    }

    private func write(_ response: Response, _ form: AnswerForm, _ context: ChannelHandlerContext) {
        let isLast = !form.isInterim && (form.isLast || (inputEnded && queue.isEmpty && arriving == nil))
        let bytes = response.wireBytes(isHead: form.isHead, isLast: isLast)
        if response.holdsSecret {
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenComplete { _ in bytes.wipeStorage() }
            context.write(wrapOutboundOut(bytes), promise: promise)
        } else {
            context.write(wrapOutboundOut(bytes), promise: nil)
        }
        needsFlush = true
        if isLast { outputEnded = true }
    }

    private func flushIfNeeded(_ context: ChannelHandlerContext) {
        guard needsFlush else { return }
        needsFlush = false
        context.flush()
        if outputEnded { closeOutput(context) }
    }

    /// Lets the other side take the last answer: it sees the end, and what it still sends is read and dropped for a while.
    private func closeOutput(_ context: ChannelHandlerContext) {
        guard !inputClosed else { return closeOnceWritten(context) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            self.clock.linger(self.environment.limits.lingerTime, context)
        }
        context.close(mode: .output, promise: written)
    }

    /// Closing at once would drop what the other side has not taken yet.
    private func closeOnceWritten(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    // MARK: Reading

    func channelReadComplete(context: ChannelHandlerContext) {
        clock.touch()
        // Bytes that are no part yet lie in the codec: the beginning of a request.
        if !inputEnded, arriving != nil || !readBroughtPart { watchArrival(context) }
        readBroughtPart = false
        flushIfNeeded(context)
        context.fireChannelReadComplete()
    }

    var isReadingWithheld: Bool { withheldRead }

    private var mayRead: Bool {
        outputEnded || (queue.count < environment.limits.pipelinedRequests && context?.channel.isWritable ?? false)
    }

    func read(context: ChannelHandlerContext) {
        if mayRead {
            context.read()
        } else {
            withheldRead = true
        }
    }

    private func continueReading(_ context: ChannelHandlerContext) {
        guard withheldRead, mayRead else { return }
        withheldRead = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        continueReading(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: Ends

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            inputClosed = true
            inputEnded = true
            arriving = nil
            // Without anything owed there is nobody to stay for.
            if queue.isEmpty { closeOnceWritten(context) }
        case is DrainEvent: stopHearing(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: refuse(HTTPRefusal.headTooLarge)
        case is HTTPParserError: refuse(HTTPRefusal.headMalformed)
        // Bytes after those that could not be read.
        case is ByteToMessageDecoderError: break
        default: context.close(promise: nil)
        }
    }
}
