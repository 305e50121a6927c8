import HTTPKit
package import Logging
package import Tracing

/// Writes a log line for each span, if the setting `log.spans` is true. A program that reads the log can send the spans
/// to a collector.
///
/// A span with a client's `traceparent` belongs to the client's trace. Every other outermost span begins a trace.
package struct LogTracer: Tracer {
    private let logger: Logger

    package init(_ logger: Logger) { self.logger = logger }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> LogSpan {
        LogSpan(
            operationName, in: context(), ofKind: kind, startNanoseconds: instant().nanosecondsSinceEpoch,
            logger: logger)
    }

    /// Does nothing: a span is written when it ends.
    package func forceFlush() {}

    /// Does nothing: the servers read `traceparent` themselves.
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    /// Does nothing: Apple and the receivers of webhooks must not see the platform's traces.
    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {}
}
