package import Tracing

/// The key of the request's trace in the context of a task.
private enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

extension InstrumentationContext {
    /// The trace that the client named in `traceparent`; nil if it named none.
    package var requestTrace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// The context of the span with which a server handles a request.
    package static func request(_ trace: TraceContext?) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.requestTrace = trace
        return context
    }
}
