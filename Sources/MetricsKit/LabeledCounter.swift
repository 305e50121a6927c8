/// A counter with one label. The values of the label are the cases of an enumeration, so no caller can add a series.
package final class LabeledCounter<Label: RawRepresentable & CaseIterable & Hashable & Sendable>: Sendable
where Label.RawValue == String {
    private let labels: [Label]
    private let indexes: [Label: Int]
    private let counts: AtomicCounts

    package init() {
        let labels = Array(Label.allCases)
        self.labels = labels
        indexes = Dictionary(uniqueKeysWithValues: labels.enumerated().map { ($0.element, $0.offset) })
        counts = AtomicCounts(count: labels.count)
    }

    package func add(_ label: Label, count: Int = 1) {
        guard let index = indexes[label] else { return }
        counts.add(count, at: index)
    }

    package subscript(label: Label) -> Int { indexes[label].map { counts[$0] } ?? 0 }

    /// One sample for each value of the label, including values with the count 0: Prometheus can compute a rate only
    /// for a series that existed before its first increase.
    ///
    /// - Parameter name: the name of the label.
    package func samples(_ name: String) -> [MetricsText.Sample] {
        labels.map { .init([(name, $0.rawValue)], self[$0]) }
    }
}
