import MerchantTestSupport
import MetricsKit
import Testing

@Suite struct MetricsTextTests {
    private enum Color: String, CaseIterable, Sendable { case red, green }

    @Test func `a label's value is escaped`() throws {
        var text = MetricsText()
        text.append("m", .gauge, "M.", [.init([("name", "a\"b\\c\nd")], 1)])
        #expect(text.text == "# HELP m M.\n# TYPE m gauge\nm{name=\"a\\\"b\\\\c\\nd\"} 1\n")
        _ = try PrometheusPage(text.text)
    }

    @Test func `a metric without samples is left out`() {
        var text = MetricsText()
        text.append("m", .counter, "M.", [])
        text.append(gauge: "n", "N.", nil)
        #expect(text.text == "")
    }

    @Test func `a counter shows every value of its label, also those that never occurred`() throws {
        let counter = LabeledCounter<Color>()
        counter.add(.green)
        counter.add(.green, count: 4)
        var text = MetricsText()
        text.append("m_total", .counter, "M.", counter.samples("color"))
        let page = try PrometheusPage(text.text)
        #expect(page["m_total", ["color": "green"]] == 5)
        #expect(page["m_total", ["color": "red"]] == 0)
        #expect(counter[.green] == 5)
    }

    @Test func `a histogram's buckets are cumulative, and a value on a bound belongs to that bound`() throws {
        let histogram = DurationHistogram(bounds: [0.001, 0.1])
        for milliseconds in [0, 1, 2, 100, 101] { histogram.record(.milliseconds(milliseconds)) }
        // A negative duration, as after the clock was set back, counts as 0.
        histogram.record(.milliseconds(-5))
        var text = MetricsText()
        text.append("m_seconds", .histogram, "M.", MetricsText.samples(histogram.snapshot))
        let page = try PrometheusPage(text.text)
        #expect(page["m_seconds_bucket", ["le": "0.001"]] == 3)
        #expect(page["m_seconds_bucket", ["le": "0.1"]] == 5)
        #expect(page["m_seconds_bucket", ["le": "+Inf"]] == 6)
        #expect(page["m_seconds_count"] == 6)
        let sum = try #require(page["m_seconds_sum"])
        #expect(abs(sum - 0.204) < 0.000_001)
    }

    @Test func `the process's metrics have the names and types of Prometheus' client libraries`() throws {
        var text = MetricsText()
        ProcessMetrics(startTimeSeconds: 1_700_000_000).append(to: &text)
        let page = try PrometheusPage(text.text)
        #expect(page.types["process_cpu_seconds_total"] == "counter")
        for name in [
            "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds", "process_max_fds",
            "process_start_time_seconds",
        ] {
            #expect(page.types[name] == "gauge", "\(name)")
            #expect(page[name] ?? 0 > 0, "\(name)")
        }
        let (open, limit) = (page["process_open_fds"] ?? .infinity, page["process_max_fds"] ?? 0)
        #expect(open < limit)
    }
}
