import Foundation
import Testing

extension Installation {
    /// `GET /v1/health`.
    struct Health {
        /// The status of the response.
        let status: String
        let isReady: Bool
        /// The codes of the findings.
        let findings: Set<String>
    }

    func health(_ socket: String? = nil) throws -> Health {
        let socket = socket ?? decryptorSocket
        let document = try curlBody(socket, "/v1/health").json()
        return Health(
            status: try curl(socket, "/v1/health").output, isReady: document["ready"] as? Bool ?? false,
            findings: Self.codes(document["findings"]))
    }

    /// The exit status of `merchantkeyctl status --check`: 0 OK, 1 warning, 2 critical, 3 unknown.
    func checkStatus() throws -> Int32 { try ctl("status", "--check").status }

    /// The codes of the findings that `merchantkeyctl status` reports.
    func findings() throws -> Set<String> { Self.codes(try ctlJSON("status")["findings"]) }

    /// The finding with this code; nil if `status` does not report it.
    func finding(_ code: String) throws -> [String: Any]? {
        try Self.items(ctlJSON("status")["findings"]).first { $0["code"] as? String == code }
    }

    /// The details of the finding with this code: those of its most urgent subjects, at most 5, and its own; "" if
    /// `status` does not report the finding.
    func details(of code: String) throws -> String {
        guard let finding = try finding(code) else { return "" }
        let subjects = Self.items(finding["mostUrgent"]).compactMap { $0["detail"] as? String }
        return (subjects + [finding["detail"] as? String ?? ""]).joined(separator: "\n")
    }

    /// Waits up to 20 seconds until the portal listens.
    ///
    /// - Returns: the portal's port.
    func portalPort() throws -> String {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if let url = try ctlJSON("status")["portalURL"] as? String, let port = URL(string: url)?.port, port > 0 {
                return "\(port)"
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return try #require(nil as String?, "the portal does not listen: \(log)")
    }

    /// The records with this action among the newest 1000 audit records.
    func auditRecords(_ action: String) throws -> [[String: Any]] {
        try Self.items(ctlJSON("audit", "list", "--limit", "1000")["items"]).filter {
            $0["action"] as? String == action
        }
    }

    /// The outcome of each check of `merchantkeyctl diagnose`, by name, with the exit status.
    func diagnose(_ arguments: String...) throws -> Diagnosis {
        let outcome = try Self.run(
            [
                "\(Self.programs)/merchantkeyctl", "diagnose", "--output", "json", "--state-directory", stateDirectory,
            ] + arguments)
        return Diagnosis(status: outcome.status, checks: Self.items(try outcome.json()["checks"]))
    }

    struct Diagnosis {
        let status: Int32
        fileprivate let checks: [[String: Any]]

        fileprivate init(status: Int32, checks: [[String: Any]]) { (self.status, self.checks) = (status, checks) }

        /// `success`, `warning` or `failure`; nil if there is no such check.
        func outcome(_ check: String) -> String? { self[check]?["outcome"] as? String }

        func detail(_ check: String) -> String { self[check]?["detail"] as? String ?? "" }

        /// The names of the checks that failed.
        var failures: Set<String> {
            Set(checks.filter { $0["outcome"] as? String == "failure" }.compactMap { $0["name"] as? String })
        }

        /// The codes of all findings of the next start.
        var codes: Set<String> { Set(checks.compactMap { $0["code"] as? String }) }

        /// The codes of the findings for which the next start would be refused.
        var refusals: Set<String> {
            Set(checks.filter { $0["outcome"] as? String == "failure" }.compactMap { $0["code"] as? String })
        }

        private subscript(check: String) -> [String: Any]? { checks.first { $0["name"] as? String == check } }
    }

    static func items(_ value: Any?) -> [[String: Any]] { value as? [[String: Any]] ?? [] }

    private static func codes(_ value: Any?) -> Set<String> { Set(items(value).compactMap { $0["code"] as? String }) }
}

extension Installation {
    /// The base point of P-256 as an ephemeral public key: it restores a symmetric key with any EC key pair.
    static let ephemeral =
        #"{"ephemeralPublicKey": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q=="}"#

    /// The statuses of resolving a key and of restoring a symmetric key with it.
    func uses(_ hash: String) throws -> [String] {
        [
            try curl(decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output,
            try curl(decryptorSocket, "/v1/keys/\(pathSpelling(hash))/symmetric-key", "-d", Self.ephemeral).output,
        ]
    }

    /// Runs statements on a database, as a user with access to its file could.
    ///
    /// - Parameter file: the path of a SQLite database; nil for the main database. With PostgreSQL, this is ignored.
    func sql(_ script: String, in file: String? = nil) throws -> String {
        if let rows = try store.execute(script) { return rows }
        let code = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            for statement in sys.argv[2].split(";"):
                for row in db.execute(statement): print(*row)
            """
        let done = try Self.run(["python3", "-c", code, file ?? database, script])
        try #require(done.status == 0, "\(done.error)")
        return done.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
