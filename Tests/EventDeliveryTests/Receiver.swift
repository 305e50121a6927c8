import Foundation
import MerchantTestSupport
import Testing

/// The webhook receiver of `Scripts/receiver.py`: a separate process with TLS on the loopback interface, ended with its owner.
final class Receiver: @unchecked Sendable {
    // Proof for @unchecked Sendable: each test uses its receiver from one task at a time.
    struct Delivery: Sendable {
        /// How the receiver responded: see ``Receiver/mode(_:)``.
        let mode: String
        /// Whether the request had a valid signature for each secret.
        let isValid: Bool
        let signature: String
        let path: String
        let host: String
        let mediaType: String
        let sequence: Int
        let id: String
        let merchant: String?
        let kind: String
    }

    static let secret = "a secret of 16 bytes or more"
    static let isAvailable = (try? run(["python3", "-c", "import ssl"])) != nil

    let directory: String
    private var process: ChildProcess?
    private(set) var port = 0

    init() throws {
        directory = "/tmp/mkd-hook-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try write(Self.secret + "\n", "secret")
        try mode("ok")
        // A self-signed certificate for the name localhost and the address 127.0.0.1.
        try Self.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
            path("key.pem"), "-out", path("root.pem"),
        ])
        try write(
            String(contentsOfFile: path("key.pem"), encoding: .utf8)
                + String(contentsOfFile: path("root.pem"), encoding: .utf8), "tls.pem")
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func write(_ text: String, _ name: String) throws {
        let draft = path(name) + ".draft"
        _ = FileManager.default.createFile(
            atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard rename(draft, path(name)) == 0 else { throw POSIXError(.EIO) }
    }

    /// Sets how the receiver responds from now on.
    func mode(_ mode: String) throws { try write(mode, "mode") }

    var rootPEM: [UInt8] { get throws { Array(try Data(contentsOf: URL(filePath: path("root.pem")))) } }

    /// Starts the process of the receiver. After a restart, it listens on the same port.
    func start() throws {
        let script = try #require(
            Bundle.module.url(forResource: "receiver", withExtension: "py", subdirectory: "Scripts"))
        try? FileManager.default.removeItem(atPath: path("port"))
        process = try ChildProcess(["python3", script.path, directory, "\(port)"])
        for _ in 0..<400 {
            if let text = try? String(contentsOfFile: path("port"), encoding: .utf8), let port = Int(text) {
                self.port = port
                return
            }
            // Another process starts, which the test's clock does not control.
            Thread.sleep(forTimeInterval: 0.025)
        }
        Issue.record("the receiver did not start")
    }

    func stop() {
        process?.killAndWait()
        process = nil
    }

    /// Every request, by time of arrival.
    var deliveries: [Delivery] {
        let text = (try? String(contentsOfFile: path("got.jsonl"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            guard let note = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let event = note["event"] as? [String: Any]
            else { return nil }
            return Delivery(
                mode: note["mode"] as? String ?? "", isValid: note["valid"] as? Bool ?? false,
                signature: note["signature"] as? String ?? "", path: note["path"] as? String ?? "",
                host: note["host"] as? String ?? "", mediaType: note["type"] as? String ?? "",
                sequence: event["sequence"] as? Int ?? 0, id: event["id"] as? String ?? "",
                merchant: event["merchantIdentifier"] as? String, kind: event["kind"] as? String ?? "")
        }
    }

    @discardableResult
    static func run(_ command: [String]) throws -> String {
        String(decoding: try ChildProcess.output(of: command), as: UTF8.self)
    }
}
