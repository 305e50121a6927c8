package import Logging

/// Writes one log line for each response, if the setting `log.requests` is true.
///
/// Lines about a response with a status 4xx, and about callers that are not identified, are limited as in
/// ``LimitedLog``. A line contains no text from the client except its `X-Request-Id` and the identifiers in its
/// `traceparent`, which are validated. In particular, it contains the template of the path and not the path, because a
/// path can contain a secret.
///
/// A class, so that a copy of the log is one reference. A copy must be cheap, because every request uses the log.
package final class AccessLog: Sendable {
    /// Writes nothing.
    package static let off = AccessLog(nil)

    private let logger: Logger?
    /// For responses with a status 4xx and unidentified callers: every client that can connect can cause such lines.
    private let limited: LimitedLog?
    private let readIsOn: @Sendable () -> Bool

    /// - Parameters:
    ///   - logger: nil to write nothing.
    ///   - isOn: returns whether lines are written now. It is called several times for each request, so it must not
    ///     block.
    package init(_ logger: Logger?, isOn: @escaping @Sendable () -> Bool = { true }) {
        self.logger = logger
        limited = logger.map { LimitedLog($0) }
        readIsOn = isOn
    }

    package var isOn: Bool { logger != nil && readIsOn() }

    /// - Parameters:
    ///   - route: the method and the path's template; nil if the request matched no route.
    ///   - requestId: nil if neither the client nor the server gave the request an identifier.
    ///   - caller: the fields that identify the caller.
    package func write(
        server: String, route: String?, status: Int, nanoseconds: Int64, requestId: String?, trace: TraceContext?,
        caller: Logger.Metadata
    ) {
        guard isOn, let logger, let limited else { return }
        var metadata = caller
        metadata["server"] = "\(server)"
        metadata["route"] = "\(route ?? "other")"
        metadata["status"] = "\(status)"
        metadata["durationMicroseconds"] = "\(nanoseconds / 1000)"
        if let requestId { metadata["requestId"] = "\(requestId)" }
        if let trace { metadata.merge(trace.logMetadata) { $1 } }
        if (400..<500).contains(status) || caller.isEmpty {
            let source = (caller["uid"] ?? caller["caller"]).map { "\($0)" }
            limited.write(.info, "request", source: source, metadata: metadata)
        } else {
            logger.info("request", metadata: metadata)
        }
    }
}
