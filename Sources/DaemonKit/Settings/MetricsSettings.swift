package import PortalServer
import Vocabulary

/// `metrics`: the TCP port for a monitoring system.
package struct MetricsSettings: Sendable {
    package let listen: ListenAddress

    /// - Returns: nil if `metrics.listen` is not set.
    static func read(_ reader: SettingsReader) -> MetricsSettings? {
        let listen = reader.optional(
            "metrics.listen", .metricsAddress, whenUnset: "no port; the admin socket has the metrics, too",
            "The port, or the address and port, on which the daemon serves GET /metrics and GET /health without TLS.")
        return listen.map { MetricsSettings(listen: $0) }
    }
}

extension SettingFormat where Value == ListenAddress {
    /// If the text has no host, only programs on this machine can connect.
    fileprivate static var metricsAddress: Self {
        Self(expectation: "expected a TCP port such as 9464, or HOST:PORT such as 127.0.0.1:9464") { text in
            ListenAddress(text: text.contains(":") ? text : "127.0.0.1:\(text)")
        }
    }
}
