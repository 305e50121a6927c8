import Foundation
import MerchantTestSupport
import Testing

/// The receiver of a daemon's webhooks: a process with TLS on the loopback interface. It is killed when this value is
/// released.
final class WebhookReceiver: Sendable {
    private let directory: String
    private let port: Int
    private let root: String
    private let process: ChildProcess

    init(for installation: Installation) throws {
        directory = installation.path("webhook")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let certified = try installation.serverCertificate("webhook/server", names: ["localhost"])
        _ = try installation.write(
            try [certified.certificate, certified.privateKey].map { try String(contentsOfFile: $0, encoding: .utf8) }
                .joined(), "webhook/tls.pem")
        _ = try installation.write("a secret of 16 bytes or more\n", "webhook/secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: installation.path("webhook/secret"))
        _ = try installation.write("ok", "webhook/mode")
        root = installation.path("apple/root.pem")
        let script = URL(filePath: #filePath).appending(path: "../../../EventDeliveryTests/Scripts/receiver.py")
            .standardized.path
        process = try ChildProcess(["python3", script, directory, "0"], error: .file(installation.path("webhook/log")))
        var port: Int?
        let portFile = installation.path("webhook/port")
        try installation.eventually("the receiver of webhooks has started") {
            port = (try? String(contentsOfFile: portFile, encoding: .utf8)).flatMap { Int($0) }
            return port != nil
        }
        self.port = try #require(port)
    }

    deinit { process.killAndWait() }

    /// The daemon's settings for this webhook.
    var settings: String {
        """
        events:
          webhooks:
            - url: https://localhost:\(port)/events
              secret-file: \(directory)/secret
              allow-internal-addresses: true
              trust-roots: [\(root)]
        """
    }

    /// The received events of merchant tokens, in the order of their arrival, including repeated deliveries.
    func events() throws -> [Delivery] { try received().compactMap(Delivery.init) }

    /// The kinds of all received events, in the order of their arrival, including repeated deliveries.
    func kinds() throws -> [String] { try received().compactMap { $0["kind"] as? String } }

    private func received() throws -> [[String: Any]] {
        guard let text = try? String(contentsOfFile: "\(directory)/got.jsonl", encoding: .utf8) else { return [] }
        return try text.split(separator: "\n").compactMap { line in
            let note = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            #expect(note["valid"] as? Bool == true, "the signature of a delivery is not valid")
            return note["event"] as? [String: Any]
        }
    }

    struct Delivery {
        /// The event's identifier at the daemon, by which a receiver recognizes a repeat.
        let id: String
        let kind: String
        let severity: String
        let merchant: String?
        let publicKeyHash: String?
        /// Apple's identifier of the event.
        let eventIdentifier: String
        let token: String?
        let eventType: String?
        let mpanIdentifier: String?
        let card: [String: Any]?
        /// All fields of the event, as text.
        let text: String

        /// - Returns: nil for an event that does not concern a merchant token.
        fileprivate init?(_ event: [String: Any]) {
            guard let report = event["merchantToken"] as? [String: Any], let id = event["id"] as? String,
                let kind = event["kind"] as? String, let identifier = report["eventIdentifier"] as? String
            else { return nil }
            (self.id, self.kind, eventIdentifier) = (id, kind, identifier)
            severity = event["severity"] as? String ?? ""
            merchant = event["merchantIdentifier"] as? String
            publicKeyHash = event["publicKeyHash"] as? String
            token = report["merchantTokenIdentifier"] as? String
            eventType = report["eventType"] as? String
            mpanIdentifier = report["mpanIdentifier"] as? String
            card = report["card"] as? [String: Any]
            text = "\(event)"
        }
    }
}
