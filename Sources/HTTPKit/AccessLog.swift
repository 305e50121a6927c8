package import Logging

/// Writes one log line for each response, if the setting `log.requests` is true.
///
/// A line contains no text from the client except its `X-Request-Id`, which is validated. In particular, it contains the
/// template of the path and not the path, because a path can contain a secret.
package struct AccessLog: Sendable {
    /// Writes nothing.
    package static let off = AccessLog(nil)

    private let logger: Logger?

    /// - Parameter logger: nil to write nothing.
    package init(_ logger: Logger?) { self.logger = logger }

    package var isOn: Bool { logger != nil }

    /// - Parameters:
    ///   - route: the method and the path's template; nil if the request matched no route.
    ///   - requestId: nil if neither the client nor the server gave the request an identifier.
    ///   - caller: the fields that identify the caller.
    package func write(
        server: String, route: String?, status: Int, nanoseconds: Int64, requestId: String?, trace: TraceContext?,
        caller: Logger.Metadata
    ) {
        guard let logger else { return }
        var metadata = caller
        metadata["server"] = "\(server)"
        metadata["route"] = "\(route ?? "other")"
        metadata["status"] = "\(status)"
        metadata["durationMicroseconds"] = "\(nanoseconds / 1000)"
        if let requestId { metadata["requestId"] = "\(requestId)" }
        if let trace { metadata.merge(trace.logMetadata) { $1 } }
        logger.info("request", metadata: metadata)
    }
}
