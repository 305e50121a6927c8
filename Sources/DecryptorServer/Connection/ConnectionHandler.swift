import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import NIOCore
import NIOHTTP1
import ServerKit
import Tracing

/// Handles one connection: receives requests from the codec and writes the responses in the order of the requests.
///
/// If a request is handled on the event loop and no earlier response is outstanding, its response is written
/// immediately, unless the server is shutting down. Written responses are flushed at the latest when the current read
/// ends. All other responses wait in a ``ResponseQueue``. While too many responses are outstanding, or the client does
/// not read its responses, the handler reads nothing more. ``ConnectionHandler/Timers`` enforces the time limits.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The values that all connections of the server share.
    struct Environment: Sendable {
        let endpoints: Endpoints
        let problems: ProblemReporter
        let work: OffLoopWork
        let limits: Limits
        let accessLog: AccessLog
    }

    /// A request whose head has arrived, and whose body may be incomplete.
    private struct ArrivingRequest {
        var request: DecryptorRequest
        var form: ResponseForm
    }

    /// An input that gets a response. The items of a connection are handled in the order of arrival.
    private enum Item {
        /// A complete request.
        case request(ArrivingRequest)
        /// The head of a request with `Expect: 100-continue`: the client waits for the response `100 Continue` before
        /// it sends the body.
        case expectation
        /// An input that violates HTTP's rules or a limit, described by the error. After it, the handler reads no
        /// further request.
        case refusal(any Error)
    }

    let environment: Environment
    private var peer: Peer
    private let resources: LoopResources
    private(set) var context: ChannelHandlerContext?
    /// The request that is arriving; nil if none is arriving.
    private var arriving: ArrivingRequest?
    /// Items that wait for the next turn of the user in the ``FairScheduler``.
    private var waiting = CircularBuffer<Item>()
    /// How many more requests of the current read may be handled before the next waiting user gets a turn.
    private var remainingInTurn = Limits.requestsPerTurn
    private(set) var responseQueue = ResponseQueue()
    /// Whether the handler accepts no further request from this connection.
    private(set) var inputEnded = false
    /// Whether the client has closed its output, so that it sends nothing more.
    private var inputClosed = false
    /// Whether the server is shutting down.
    private(set) var isDraining = false
    /// Whether the connection's last response was written.
    private var outputEnded = false
    private var needsFlush = false
    /// Whether NIO requested a read that the handler did not pass on, because reading is suspended.
    private var hasSuspendedRead = false
    /// Whether the decoder has delivered a part of a request since the current read began.
    private var readBroughtPart = false
    var timers = Timers()

    init(_ environment: Environment, peer: Peer, resources: LoopResources) {
        self.environment = environment
        self.peer = peer
        self.resources = resources
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        timers.recordActivity()
        watchIdleness(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    /// Cancels the timers and drops all requests and responses, because the connection is closed.
    private func release() {
        timers.cancel()
        responseQueue.removeAll()
        waiting.removeAll()
        context = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        readBroughtPart = true
        switch unwrapInboundIn(data) {
        case .head(let head): if !inputEnded { beginRequest(head, context) }
        case .body(let bytes): if arriving != nil { appendToBody(bytes, context) }
        case .end:
            timers.cancelArrival()
            guard let request = arriving else { return }
            arriving = nil
            if request.form.isLast { inputEnded = true }
            handleOrWait(.request(request), context)
        }
    }

    /// Handles the item now, or in a later turn of its user.
    private func handleOrWait(_ item: Item, _ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        guard waiting.isEmpty, remainingInTurn > 0, resources.scheduler.mayHandle(at: now) else {
            if waiting.isEmpty { resources.scheduler.enqueue(self, of: peer.holder) }
            return waiting.append(item)
        }
        remainingInTurn -= 1
        handle(item, at: now, context)
    }

    var hasWaiting: Bool { !waiting.isEmpty }

    /// Handles waiting requests in a turn of their user.
    func handleWaiting(atMost count: Int) {
        guard let context else { return }
        var remaining = count
        while remaining > 0, let item = waiting.popFirst() {
            remaining -= 1
            handle(item, at: .now(), context)
        }
        flushIfNeeded(context)
        if waiting.isEmpty {
            remainingInTurn = Limits.requestsPerTurn
            // The client has closed its output, and every request has its response.
            if inputClosed, hasNothingOutstanding, !outputEnded { return closeOnceWritten(context) }
            continueReading(context)
        }
    }

    private func handle(_ item: Item, at now: NIODeadline, _ context: ChannelHandlerContext) {
        switch item {
        case .request(let arrived): respond(to: arrived, at: now, context)
        case .expectation: writeOrQueue(.continue, ResponseForm(isInterim: true), context)
        case .refusal(let error):
            writeOrQueue(environment.problems.encodedResponse(to: error), ResponseForm(isLast: true), context)
        }
    }

    private func beginRequest(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var form = ResponseForm(
            isHead: head.method.isHEAD,
            // An HTTP/1.0 client keeps a connection open only if the response has the field `Connection: keep-alive`,
            // which this server never sends.
            isLast: RequestHeadRules.endsConnection(head) || head.version != .http1_1)
        form.identifiers = RequestIdentifiers.identifiers(in: head.headers)
        if form.identifiers?.requestId == nil, environment.accessLog.isOn {
            form.identifiers = RequestIdentifiers(requestId: RequestId.make(), given: form.identifiers)
        }
        let request = DecryptorRequest(
            method: head.method, uri: head.uri, identifiers: form.identifiers,
            idempotencyKeys: head.method.isPOST ? head.headers["idempotency-key"] : [])
        arriving = ArrivingRequest(request: request, form: form)
        do throws(HTTPFault) {
            try RequestHeadRules.check(head, bodyLimit: environment.limits.bodyBytes)
        } catch { return refuse(error) }
        // Only the routes with POST take a body.
        guard head.method.isPOST else { return }
        if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
            handleOrWait(.expectation, context)
            flushIfNeeded(context)
        }
    }

    private func appendToBody(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        // `arriving` is set to nil, because a buffer with two references is copied before each write.
        guard var arrived = arriving else { return }
        arriving = nil
        var bytes = bytes
        if arrived.request.body.readableBytes == 0 {
            arrived.request.body = bytes
        } else {
            arrived.request.body.writeBuffer(&bytes)
        }
        arriving = arrived
        let limit = environment.limits.bodyBytes
        if arrived.request.body.readableBytes > limit { refuse(HTTPFault.bodyTooLarge(limit: limit)) }
    }

    private func respond(to arrived: ArrivingRequest, at now: NIODeadline, _ context: ChannelHandlerContext) {
        var form = arrived.form
        form.start = now
        peer.refreshPermits()
        do {
            switch try environment.endpoints.plan(arrived.request, from: peer, matched: &form.route) {
            case .now(let response): writeOrQueue(response, form, context)
            case .blocking(let body):
                try start(form, context) { try environment.work.start(body, completion: $0) }
            case .suspending(let operationRequest, let body):
                let identifiers = RequestIdentifiers(requestId: operationRequest.requestId, given: form.identifiers)
                form.identifiers = identifiers
                let name = form.route.map { DecryptorRoute.table[$0].name } ?? "other"
                try start(form, context) { completion in
                    try environment.work.start(
                        {
                            try await withSpan(name, context: .request(identifiers.trace), ofKind: .server) { _ in
                                try await body(operationRequest)
                            }
                        }, completion: completion)
                }
            }
        } catch {
            if peer.grants.allowNothing {
                // A caller without any permit gets one response. The caller's further requests are ignored, so that
                // they cause no work.
                form.isLast = true
                inputEnded = true
                waiting.removeAll()
            }
            let requestId = form.identifiers?.requestId ?? RequestId.make()
            form.identifiers = RequestIdentifiers(requestId: requestId, given: form.identifiers)
            writeOrQueue(
                environment.problems.encodedResponse(to: error, requestId: requestId, trace: form.identifiers?.trace),
                form, context)
        }
    }

    /// Starts work on another thread, and reserves a position in the response queue for its result.
    private func start(
        _ form: ResponseForm, _ context: ChannelHandlerContext,
        _ work: (@escaping @Sendable (Result<EncodedResponse, any Error>) -> Void) throws -> Void
    ) throws {
        let loopBoundSelf = NIOLoopBound(self, eventLoop: context.eventLoop)
        let position = responseQueue.nextPosition
        let problems = environment.problems
        let identifiers = form.identifiers
        try work { result in
            let response: EncodedResponse
            switch result {
            case .success(let success): response = success
            case .failure(let error):
                response = problems.encodedResponse(
                    to: error, requestId: identifiers?.requestId ?? RequestId.make(), trace: identifiers?.trace)
            }
            loopBoundSelf.eventLoop.execute { loopBoundSelf.value.fill(position, with: response) }
        }
        // `work` may throw, so the position is reserved only now. The result cannot come earlier, because `fill` runs
        // on this event loop after this function.
        responseQueue.append(form)
    }

    private func fill(_ position: ResponseQueue.Position, with response: EncodedResponse) {
        // Without a context, the connection is closed.
        guard let context else { return response.wipe() }
        responseQueue.fill(position, with: response)
        timers.recordActivity()
        writeFinishedResponses(context)
        flushIfNeeded(context)
        continueReading(context)
    }

    /// Reads no further request, and closes the connection with a refusal after the responses to all earlier requests.
    func refuse(_ error: any Error) {
        guard let context, !inputEnded else { return }
        inputEnded = true
        arriving = nil
        handleOrWait(.refusal(error), context)
        flushIfNeeded(context)
    }

    // MARK: Responses

    /// Writes a response now, or queues it if an earlier response is outstanding. During a shutdown, every response
    /// waits until all requests of the current read are decoded: only then is it known which response is the last one.
    private func writeOrQueue(_ response: EncodedResponse, _ form: ResponseForm, _ context: ChannelHandlerContext) {
        guard responseQueue.isEmpty, !isDraining else { return responseQueue.append(form, response) }
        write(response, form, context)
    }

    /// Writes the queued responses, up to the first request whose handling is not finished.
    private func writeFinishedResponses(_ context: ChannelHandlerContext) {
        while let (form, response) = responseQueue.takeFirst() { write(response, form, context) }
    }

    private func write(_ response: EncodedResponse, _ form: ResponseForm, _ context: ChannelHandlerContext) {
        if !form.isInterim, !inputEnded, isLastOfDrain(context) { inputEnded = true }
        let isLast = !form.isInterim && (form.isLast || (inputEnded && hasNothingOutstanding))
        if !form.isInterim { record(response, form) }
        let bytes = response.wireBytes(isHead: form.isHead, isLast: isLast, identifiers: form.identifiers)
        if response.holdsSecret {
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenComplete { _ in bytes.wipeStorage() }
            context.write(wrapOutboundOut(bytes), promise: promise)
        } else {
            context.write(wrapOutboundOut(bytes), promise: nil)
        }
        if let body = response.sharedBody(isHead: form.isHead) { context.write(wrapOutboundOut(body), promise: nil) }
        needsFlush = true
        if isLast { outputEnded = true }
    }

    private func record(_ response: EncodedResponse, _ form: ResponseForm) {
        let nanoseconds = form.start.map { (NIODeadline.now() - $0).nanoseconds } ?? 0
        resources.requests.record(form.route, status: response.status, nanoseconds: nanoseconds)
        guard environment.accessLog.isOn else { return }
        environment.accessLog.write(
            server: "decryptor", route: form.route.map { DecryptorRoute.table[$0].name }, status: response.status,
            nanoseconds: nanoseconds, requestId: form.identifiers?.requestId, trace: form.identifiers?.trace,
            caller: peer.caller.logMetadata)
    }

    private func flushIfNeeded(_ context: ChannelHandlerContext) {
        if isDraining { writeFinishedResponses(context) }
        guard needsFlush else { return }
        needsFlush = false
        context.flush()
        if outputEnded { closeOutput(context) }
    }

    /// Closes the connection for writing, and gives the client time to read the last response. Until the connection
    /// closes completely, everything that the client sends is read and discarded.
    private func closeOutput(_ context: ChannelHandlerContext) {
        guard !inputClosed else { return closeOnceWritten(context) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            self.timers.linger(self.environment.limits.lingerTime, context)
        }
        context.close(mode: .output, promise: written)
    }

    /// Closes the connection when all responses have been written to the socket. An earlier close would discard the
    /// responses that are not written yet.
    private func closeOnceWritten(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    // MARK: Reading

    func channelReadComplete(context: ChannelHandlerContext) {
        timers.recordActivity()
        if waiting.isEmpty { remainingInTurn = Limits.requestsPerTurn }
        // The condition means that a request is incomplete. Either its body is still arriving, or the decoder has only
        // a part of the head and has therefore delivered nothing.
        if !inputEnded, arriving != nil || !readBroughtPart { watchArrival(context) }
        readBroughtPart = false
        flushIfNeeded(context)
        context.fireChannelReadComplete()
    }

    var isReadingSuspended: Bool { hasSuspendedRead }

    /// Whether the response to every request was written, and no request is arriving.
    var hasNothingOutstanding: Bool { responseQueue.isEmpty && waiting.isEmpty && arriving == nil }

    /// Whether the handler may read more: no limit is reached, or everything that the client sends is discarded.
    private var mayRead: Bool {
        outputEnded
            || (waiting.isEmpty && responseQueue.count < environment.limits.pipelinedRequests
                && context?.channel.isWritable ?? false)
    }

    func read(context: ChannelHandlerContext) {
        if mayRead {
            context.read()
        } else {
            hasSuspendedRead = true
        }
    }

    private func continueReading(_ context: ChannelHandlerContext) {
        guard hasSuspendedRead, mayRead else { return }
        hasSuspendedRead = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        continueReading(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: End

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            inputClosed = true
            inputEnded = true
            arriving = nil
            // If responses are outstanding, the connection closes after them. If the last response is still being
            // written, NIO or the linger timer closes the connection afterwards.
            if hasNothingOutstanding, !outputEnded { closeOnceWritten(context) }
        case is DrainEvent:
            isDraining = true
            watchDrain(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The decoder also reports bytes that follow a parse error. The parse error itself was already handled.
        guard !(error is ByteToMessageDecoderError) else { return }
        guard let fault = HTTPFault(decoding: error), context.channel.isActive else {
            return context.close(promise: nil)
        }
        // The shutdown interrupted the head of a request. The connection closes without a response to this request.
        if isDraining, case HTTPParserError.invalidEOFState = error { return }
        refuse(fault)
    }
}
