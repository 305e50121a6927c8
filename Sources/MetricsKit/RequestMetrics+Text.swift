extension RequestMetrics: MetricsSource {
    /// Appends the number of requests to all servers, and the histogram of their durations.
    package func append(to page: inout MetricsText) {
        let routes = snapshot().sorted { $0.key < $1.key }
        page.append(
            "merchantkeyd_http_requests_total", .counter, "Responses by server, route, method and status.",
            routes.flatMap { route, series in
                series.countByStatus.sorted { $0.key < $1.key }.map { status, count in
                    .init(
                        Self.labels(route)
                            + [("status", status == Self.otherStatus ? "other" : String(status))], count)
                }
            })
        page.append(
            "merchantkeyd_http_request_duration_seconds", .histogram,
            "Time to the beginning of the response, from when the daemon handles the whole request (decryptor) or has its head (other servers).",
            routes.flatMap { route, series in
                MetricsText.samples(
                    DurationHistogram.Snapshot(
                        bounds: Self.durationBounds, countByBucket: series.countByDuration,
                        nanoseconds: Int(series.nanoseconds)), Self.labels(route))
            })
    }

    private static func labels(_ route: Route) -> [(name: String, value: String)] {
        [("server", route.server), ("method", route.method), ("route", route.path)]
    }
}
