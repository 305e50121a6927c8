/// A page of metrics, parsed strictly by the rules of the Prometheus text exposition format, version 0.0.4.
package struct PrometheusPage: Sendable {
    package struct Sample: Hashable, Sendable {
        package let name: String
        package let labels: [String: String]
    }

    package struct Invalid: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var values: [Sample: Double] = [:]
    package private(set) var types: [String: String] = [:]

    package subscript(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        values[Sample(name: name, labels: labels)]
    }

    /// - Throws: ``Invalid`` if the text breaks a rule.
    package init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Invalid(description: "the last line has no line feed") }
        var current = ""
        var helped: Set<String> = []
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: #/# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)/#) {
                guard helped.insert(String(match.1)).inserted else { throw Invalid(description: "repeated: \(line)") }
            } else if let match = line.wholeMatch(
                of: #/# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)/#)
            {
                current = String(match.1)
                guard types.updateValue(String(match.2), forKey: current) == nil else {
                    throw Invalid(description: "repeated: \(line)")
                }
            } else {
                try add(line, of: current)
            }
        }
        try checkHistograms()
    }

    private mutating func add(_ line: Substring, of metric: String) throws {
        guard
            let match = line.wholeMatch(
                of: #/([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*",?)*)\})? (\S+)/#),
            let value = match.3 == "+Inf" ? .infinity : Double(String(match.3))
        else { throw Invalid(description: "no sample: \(line)") }
        let name = String(match.1)
        let suffixes = types[metric] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { metric + $0 == name }) else {
            throw Invalid(description: "not of the metric \(metric): \(line)")
        }
        var labels: [String: String] = [:]
        for label in (match.2 ?? "").matches(of: #/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"/#) {
            guard labels.updateValue(String(label.2), forKey: String(label.1)) == nil else {
                throw Invalid(description: "repeated label: \(line)")
            }
        }
        guard values.updateValue(value, forKey: Sample(name: name, labels: labels)) == nil else {
            throw Invalid(description: "repeated series: \(line)")
        }
    }

    /// Buckets are cumulative, and the bucket `+Inf` equals the count.
    private func checkHistograms() throws {
        for (name, type) in types where type == "histogram" {
            let buckets = values.filter { $0.key.name == name + "_bucket" }
            let series = Dictionary(grouping: buckets) { $0.key.labels.filter { $0.key != "le" } }
            for (labels, buckets) in series {
                let bounds = buckets.map { sample in
                    (bound: Double(sample.key.labels["le"] ?? "") ?? .infinity, count: sample.value)
                }.sorted { $0.bound < $1.bound }
                guard bounds.map(\.count) == bounds.map(\.count).sorted(), bounds.last?.bound == .infinity,
                    bounds.last?.count == self[name + "_count", labels], self[name + "_sum", labels] != nil
                else { throw Invalid(description: "not a histogram: \(name) \(labels)") }
            }
        }
    }
}
