import Foundation
import MerchantTestSupport
import Testing

extension Installation {
    /// The result of a program that has ended.
    struct Outcome: Sendable {
        let status: Int32
        let bytes: Data
        let error: String

        var output: String { String(decoding: bytes, as: UTF8.self) }

        /// The output as a JSON object.
        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any], "\(output) \(error)")
        }

        func text(_ name: String) throws -> String { try #require(try json()[name] as? String, "\(output)") }

        /// The code of a refusal, which merchantkeyctl prints as "refused: CODE: detail", or with
        /// `--output json` as {"error":{"code":"CODE",…}}.
        var refusalCode: String? {
            error.firstMatch(of: #/(?m)^(?:refused: |\{"error":\{"code":")(\w+)/#).map { String($0.1) }
        }

        /// The code of the finding for which merchantkeyd refuses to start, which it prints as "[CODE]".
        var startFinding: String? {
            error.firstMatch(of: #/\[(\w+)\]/#).map { String($0.1) }
        }
    }

    static func run(_ command: [String], input: String? = nil) throws -> Outcome {
        let outcome = try ChildProcess.run(command, input: (input ?? "").utf8)
        return Outcome(status: outcome.status, bytes: Data(outcome.outputBytes), error: outcome.error)
    }

    // MARK: merchantkeyctl

    /// Starts merchantkeyctl and does not wait for its end.
    func startCtl(_ arguments: String...) throws -> ChildProcess { try startCtl(arguments) }

    /// - Parameters:
    ///   - output: the path of a file for standard output; nil to discard it.
    ///   - error: the same for standard error.
    func startCtl(_ arguments: [String], output: String? = nil, error: String? = nil) throws -> ChildProcess {
        try ChildProcess(
            ["\(Self.programs)/merchantkeyctl", "--socket", adminSocket] + arguments,
            output: output.map { .file($0) } ?? .discarded, error: error.map { .file($0) } ?? .discarded)
    }

    func ctl(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try Self.run(["\(Self.programs)/merchantkeyctl", "--socket", adminSocket] + arguments, input: input)
    }

    /// Runs merchantkeyctl with `--output json`. Records an issue if its exit status is not 0.
    func ctlJSON(_ arguments: String...) throws -> [String: Any] {
        let outcome = try Self.run(
            ["\(Self.programs)/merchantkeyctl", "--socket", adminSocket, "--output", "json"] + arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
        return try outcome.json()
    }

    // MARK: applepay-sandbox

    /// Runs applepay-sandbox on the installation's directory `apple`.
    func apple(_ arguments: String...) throws {
        let apple = path("apple")
        try FileManager.default.createDirectory(atPath: apple, withIntermediateDirectories: true)
        let outcome = try Self.run(["\(Self.programs)/applepay-sandbox"] + arguments + ["--directory", apple])
        try #require(outcome.status == 0, "\(arguments): \(outcome.error)")
    }

    /// Mints complete payment tokens for a certificate, one on each line of a file.
    ///
    /// - Returns: the file's path.
    func mintTokens(_ count: Int = 1, for certificate: String = "key", to name: String = "tokens.json") throws
        -> String
    {
        try apple(
            "mint-token", "--certificate", path("\(certificate).cer"), "--count", "\(count)", "--out", path(name))
        return path(name)
    }

    /// Generates a key pair, has the sandbox issue its certificate and uploads it.
    ///
    /// - Returns: its publicKeyHash.
    func certifiedKey(_ merchant: String, _ name: String, _ options: String...) throws -> String {
        let generated = try Self.run(
            [
                "\(Self.programs)/merchantkeyctl", "--socket", adminSocket, "--output", "json", "key", "generate",
                merchant, "--csr", path("\(name).csr"),
            ] + options)
        try #require(generated.status == 0, "\(generated.error)")
        let purpose = options.contains("identity") ? ["--purpose", "identity"] : []
        let issued = try Self.run(
            [
                "\(Self.programs)/applepay-sandbox", "issue", "--csr", path("\(name).csr"), "--merchant", merchant,
                "--out", path("\(name).cer"), "--directory", path("apple"),
            ] + purpose)
        try #require(issued.status == 0, "\(issued.error)")
        let uploaded = try ctl("certificate", "upload", path("\(name).cer"))
        try #require(uploaded.status == 0, "\(uploaded.error)")
        return try generated.text("publicKeyHash")
    }

    // MARK: curl

    /// - Returns: the status of the response as output, unless an option says otherwise.
    func curl(_ socket: String, _ path: String, _ arguments: String...) throws -> Outcome {
        try Self.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket] + arguments
                + ["http://localhost\(path)"])
    }

    /// - Returns: the body of the response as output.
    func curlBody(_ socket: String, _ path: String, _ arguments: String...) throws -> Outcome {
        try Self.run(["curl", "-s", "--unix-socket", socket] + arguments + ["http://localhost\(path)"])
    }
}

/// Base64url without padding, as paths contain a publicKeyHash.
func pathSpelling(_ base64: String) -> String {
    base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}
