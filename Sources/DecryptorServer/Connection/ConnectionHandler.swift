import HTTPKit
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
        var form: AnswerForm
        let idempotencyKeys: [String]
        var body: ByteBuffer
    }

    /// What came in and is handled in its order.
    private enum Item {
        case request(Arriving)
        /// The client waits for `100 Continue` before it sends the body.
        case expectation
        /// What cannot be read any further.
        case refusal(any Error)
    }

    let environment: Environment
    private let peer: Peer
    private let turns: FairScheduler
    private(set) var context: ChannelHandlerContext?
    private var arriving: Arriving?
    /// What waits for the connection's next turn.
    private var waiting = CircularBuffer<Item>()
    /// Requests that may still be handled of those that the current read brought.
    private var turnLeft = Limits.requestsPerTurn
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

    init(_ environment: Environment, peer: Peer, turns: FairScheduler) {
        self.environment = environment
        self.peer = peer
        self.turns = turns
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
        waiting.removeAll()
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
            take(.request(request), context)
        }
    }

    /// Handles it now, or in the user's next turn.
    private func take(_ item: Item, _ context: ChannelHandlerContext) {
        guard waiting.isEmpty, turnLeft > 0, turns.mayHandleNow() else {
            if waiting.isEmpty { turns.wait(self, of: peer.holder) }
            return waiting.append(item)
        }
        turnLeft -= 1
        handle(item, context)
    }

    var hasWaiting: Bool { !waiting.isEmpty }

    /// Handles what waited, as a turn of its user.
    func handleWaiting(atMost count: Int) {
        guard let context else { return }
        var left = count
        while left > 0, let item = waiting.popFirst() {
            left -= 1
            handle(item, context)
        }
        flushIfNeeded(context)
        if waiting.isEmpty {
            turnLeft = Limits.requestsPerTurn
            if inputClosed, hasNothingOutstanding, !outputEnded { return closeOnceWritten(context) }
            continueReading(context)
        }
    }

    private func handle(_ item: Item, _ context: ChannelHandlerContext) {
        switch item {
        case .request(let request): answer(request, context)
        case .expectation: enqueue(.continue, AnswerForm(isInterim: true), context)
        case .refusal(let error):
            enqueue(environment.problems.response(to: error), AnswerForm(isLast: true), context)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let form = AnswerForm(
            isHead: head.method == .HEAD,
            // HTTP/1.0 would want its own header for staying open.
            isLast: RequestHeadRules.endsConnection(head) || head.version != .http1_1)
        arriving = Arriving(
            method: head.method, uri: head.uri, form: form,
            idempotencyKeys: head.method == .POST ? head.headers["idempotency-key"] : [], body: ByteBuffer())
        do throws(HTTPFault) {
            try RequestHeadRules.check(head, bodyLimit: environment.limits.bodyBytes)
        } catch { return refuse(error) }
        guard head.method == .POST else { return }
        if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
            take(.expectation, context)
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
        let limit = environment.limits.bodyBytes
        if request.body.readableBytes > limit { refuse(HTTPFault.bodyTooLarge(limit: limit)) }
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
            var form = request.form
            if peer.grants.allowNothing {
                // There is nothing here for a caller without a permit: it gets one response, and no more work is done for it.
                form = form.last
                inputEnded = true
                waiting.removeAll()
            }
            enqueue(environment.problems.response(to: error), form, context)
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
        take(.refusal(error), context)
        flushIfNeeded(context)
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
        let isLast = !form.isInterim && (form.isLast || (inputEnded && hasNothingOutstanding))
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
        if waiting.isEmpty { turnLeft = Limits.requestsPerTurn }
        // Bytes that are no part yet lie in the codec: the beginning of a request.
        if !inputEnded, arriving != nil || !readBroughtPart { watchArrival(context) }
        readBroughtPart = false
        flushIfNeeded(context)
        context.fireChannelReadComplete()
    }

    var isReadingWithheld: Bool { withheldRead }

    /// Whether nothing that was asked is still to be answered.
    var hasNothingOutstanding: Bool { queue.isEmpty && waiting.isEmpty && arriving == nil }

    private var mayRead: Bool {
        outputEnded
            || (waiting.isEmpty && queue.count < environment.limits.pipelinedRequests
                && context?.channel.isWritable ?? false)
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
            if hasNothingOutstanding { closeOnceWritten(context) }
        case is DrainEvent: stopHearing(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Bytes after those that could not be read.
        guard !(error is ByteToMessageDecoderError) else { return }
        guard let fault = HTTPFault(decoding: error) else { return context.close(promise: nil) }
        refuse(fault)
    }
}
