import HTTPKit
import Logging
import MerchantCore
import Synchronization
package import Tracing

/// A span of ``LogTracer``.
package final class LogSpan: Span {
    /// The identifiers of a span. Its child spans read them from their context.
    private struct Identity: Sendable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
    }

    private enum IdentityKey: InstrumentationContextKey {
        typealias Value = Identity
    }

    private struct State: Sendable {
        var operationName: String
        /// The code or the type of the last recorded error; nil if there was none.
        var error: String?
        var isRecording = true
    }

    package let context: InstrumentationContext
    private let identity: Identity
    private let kind: SpanKind
    private let startNanoseconds: UInt64
    private let logger: Logger
    private let state: Mutex<State>

    init(
        _ operationName: String, in parent: InstrumentationContext, ofKind kind: SpanKind, startNanoseconds: UInt64,
        logger: Logger
    ) {
        let identity: Identity
        if let enclosing = parent[IdentityKey.self] {
            identity = Identity(
                traceId: enclosing.traceId, spanId: RequestId.make(), parentSpanId: enclosing.spanId)
        } else if let trace = parent.requestTrace {
            // The response already contains the identifier of this span.
            identity = Identity(traceId: trace.traceId, spanId: trace.spanId, parentSpanId: trace.parentId)
        } else {
            identity = Identity(
                traceId: RequestId.make() + RequestId.make(), spanId: RequestId.make(), parentSpanId: nil)
        }
        var context = parent
        context[IdentityKey.self] = identity
        self.context = context
        self.identity = identity
        self.kind = kind
        self.startNanoseconds = startNanoseconds
        self.logger = logger
        state = Mutex(State(operationName: operationName))
    }

    package var operationName: String {
        get { state.withLock { $0.operationName } }
        set { state.withLock { $0.operationName = newValue } }
    }

    package var isRecording: Bool { state.withLock { $0.isRecording } }

    /// Always empty: libraries set attributes with addresses and paths, which the log must not contain.
    package var attributes: SpanAttributes {
        get { [:] }
        set {}
    }

    package func setStatus(_ status: SpanStatus) {}
    package func addEvent(_ event: SpanEvent) {}
    package func addLink(_ link: SpanLink) {}

    /// Keeps only the code or the type of the error, because the text of the error may contain payment data.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        let name = (error as? MerchantError)?.code.rawValue ?? "\(type(of: error))"
        state.withLock { $0.error = name }
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended: State? = state.withLock { state in
            guard state.isRecording else { return nil }
            state.isRecording = false
            return state
        }
        guard let ended else { return }
        let end = instant().nanosecondsSinceEpoch
        var metadata: Logger.Metadata = [
            "name": "\(ended.operationName)", "kind": "\(kind)", "traceId": "\(identity.traceId)",
            "spanId": "\(identity.spanId)",
            // The clock may have been set back since the start.
            "durationMicroseconds": "\((max(end, startNanoseconds) - startNanoseconds) / 1000)",
        ]
        if let parent = identity.parentSpanId { metadata["parentSpanId"] = "\(parent)" }
        if let error = ended.error { metadata["failure"] = "\(error)" }
        logger.info("span", metadata: metadata)
    }
}
