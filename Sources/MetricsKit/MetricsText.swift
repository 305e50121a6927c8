/// A page of metrics in the Prometheus text exposition format, version 0.0.4.
package struct MetricsText: Sendable {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// One line of a metric: the labels and the value.
    package struct Sample: Sendable {
        /// The suffix that is added to the metric's name, such as `_bucket`.
        let suffix: String
        let labels: [(name: String, value: String)]
        let value: String

        package init(_ labels: [(name: String, value: String)] = [], suffix: String = "", value: String) {
            self.labels = labels
            self.suffix = suffix
            self.value = value
        }

        package init(_ labels: [(name: String, value: String)] = [], suffix: String = "", _ value: Int) {
            self.init(labels, suffix: suffix, value: String(value))
        }
    }

    package private(set) var text = ""

    package init() {}

    /// Appends one metric. Appends nothing if the metric has no samples.
    package mutating func append(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        // A page can have more than a thousand samples, so a sample is appended without intermediate strings.
        for sample in samples {
            text += name
            text += sample.suffix
            for (index, label) in sample.labels.enumerated() {
                text += index == 0 ? "{" : ","
                text += label.name
                text += "=\""
                text += Self.escaped(label.value)
                text += "\""
            }
            text += sample.labels.isEmpty ? " " : "} "
            text += sample.value
            text += "\n"
        }
    }

    /// Appends a metric with one value and no labels. Appends nothing if the value is nil.
    package mutating func append(gauge name: String, _ help: String, _ value: Int?) {
        append(name, .gauge, help, value.map { [Sample([], $0)] } ?? [])
    }

    private static func escaped(_ value: String) -> String {
        let mustEscape = value.utf8.contains { byte in
            byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
        }
        guard mustEscape else { return value }
        return value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}

extension MetricsText {
    /// The samples of a histogram.
    ///
    /// - Parameter labels: the labels of every sample.
    package static func samples(
        _ histogram: DurationHistogram.Snapshot, _ labels: [(name: String, value: String)] = []
    ) -> [Sample] {
        let bounds = histogram.bounds.map { "\($0)" } + ["+Inf"]
        var samples: [Sample] = []
        // Prometheus' buckets are cumulative: each one also counts the recordings in the buckets before it.
        var count = 0
        for (bound, countInBucket) in zip(bounds, histogram.countByBucket) {
            count += countInBucket
            samples.append(Sample(labels + [("le", bound)], suffix: "_bucket", count))
        }
        samples.append(Sample(labels, suffix: "_sum", value: "\(Double(histogram.nanoseconds) / 1e9)"))
        samples.append(Sample(labels, suffix: "_count", count))
        return samples
    }
}
