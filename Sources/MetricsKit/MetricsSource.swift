/// A part of the daemon that has metrics. It keeps its own counts, so that it needs no global registry.
package protocol MetricsSource: Sendable {
    /// Appends the metrics with their present values. Must not block for longer than a read of a small file.
    func append(to page: inout MetricsText)
}
