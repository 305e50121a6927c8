import Foundation
import Testing

/// A file that the next start needs is moved while the daemon runs.
@Suite struct MovedFilesTests {
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.start()
    }

    /// The detail of the finding with this code; nil where there is none.
    private func finding(_ code: String) throws -> String? {
        let findings = try #require(try installation.ctlJSON("status")["findings"] as? [[String: Any]])
        return findings.first { $0["code"] as? String == code && $0["severity"] as? String == "critical" }?["detail"]
            as? String
    }

    private func move(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: installation.path(from), toPath: installation.path(to))
    }

    @Test func `a lock file that is moved away is critical until it is back, and admits no second daemon`() throws {
        #expect(try finding("lockFileMissing") == nil)
        try move("state/merchantkeyd.lock", "aside")
        try installation.eventually("the missing lock file is reported") { try finding("lockFileMissing") != nil }
        #expect(try installation.ctl("status", "--check").status == 2)
        for attempt in 0..<2 {
            // The second attempt finds the file that the first one made.
            let second = try installation.failedStart("--state-directory", installation.path("state"))
            #expect(second.status == 1 && second.error.contains("in use by another merchantkeyd"), "\(second.error)")
            let exists = FileManager.default.fileExists(atPath: installation.path("state/merchantkeyd.lock"))
            #expect(exists, "attempt \(attempt)")
        }
        let diagnosis = try Installation.run([
            "\(Installation.programs)/merchantkeyd", "diagnose", "--state-directory", installation.path("state"),
        ])
        #expect(diagnosis.output.contains("is not its lock file"), "\(diagnosis.output)")
        #expect(try finding("lockFileMissing") != nil, "another file in its place is not the lock file")
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.lock"))
        try move("aside", "state/merchantkeyd.lock")
        try installation.eventually("the lock file is back") { try finding("lockFileMissing") == nil }
        #expect(try installation.ctl("status").status == 0)
    }

    @Test func `a master key that is moved away or replaced is critical until the same key is back`() throws {
        let key = installation.path("state/master.key")
        let content = try Data(contentsOf: URL(filePath: key))
        #expect(try finding("masterKeyMissing") == nil)
        try move("state/master.key", "aside")
        try installation.eventually("the missing master key is reported") { try finding("masterKeyMissing") != nil }
        #expect(try installation.ctl("status", "--check").status == 2)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example").status == 0)

        func put(_ data: Data) throws {
            try data.write(to: URL(filePath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        try put(Data(repeating: 7, count: content.count))
        try installation.eventually("another key is reported") {
            try finding("masterKeyMissing")?.contains("another key") == true
        }
        try put(content)
        try installation.eventually("the master key is back") { try finding("masterKeyMissing") == nil }
        for text in [content.base64EncodedString(), content.map { String(format: "%02x", $0) }.joined()] {
            #expect(!installation.log.contains(text))
        }
    }

    @Test func `a rotation of the master key is not reported as a missing master key`() throws {
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        try installation.eventually("the rotation is done") {
            try (installation.ctlJSON("master-key", "status")["rotation"] as? [String: Any])?["state"] as? String
                == "finished"
        }
        #expect(!installation.log.contains("which the database needs"))
        #expect(try finding("masterKeyMissing") == nil)
    }
}
