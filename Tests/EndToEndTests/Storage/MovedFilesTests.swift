import Foundation
import Testing

/// Files that the next start needs are moved while the daemon runs.
@Suite(.onlyOnSQLite) struct MovedFilesTests {
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.start()
    }

    /// The detail of the critical finding with this code; nil if there is none.
    private func finding(_ code: String) throws -> String? {
        let finding = try installation.finding(code)
        return finding?["severity"] as? String == "critical" ? finding?["detail"] as? String : nil
    }

    private func move(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: installation.path(from), toPath: installation.path(to))
    }

    @Test func `a missing lock file is critical until the same file is back, and a second daemon is refused`() throws {
        #expect(try finding("lockFileMissing") == nil)
        try move("state/merchantkeyd.lock", "aside")
        try installation.eventually("the missing lock file is reported") { try finding("lockFileMissing") != nil }
        #expect(try installation.ctl("status", "--check").status == 2)
        for attempt in 0..<2 {
            let second = try installation.failedStart("--state-directory", installation.path("state"))
            #expect(second.status == 1 && second.error.contains(installation.stateDirectory), "\(second.error)")
            let exists = FileManager.default.fileExists(atPath: installation.path("state/merchantkeyd.lock"))
            #expect(exists == (attempt == 1), "a refused start creates no lock file")
            // The second attempt finds another file in the place of the lock file.
            try Data().write(to: URL(filePath: installation.path("state/merchantkeyd.lock")))
        }
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.outcome("daemon") == "failure", "\(diagnosis)")
        #expect(try finding("lockFileMissing") != nil, "another file in its place is not the lock file")
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.lock"))
        try move("aside", "state/merchantkeyd.lock")
        try installation.eventually("the lock file is back") { try finding("lockFileMissing") == nil }
        #expect(try installation.ctl("status").status == 0)
    }

    @Test func `a missing or replaced master key is critical until the same key is back`() throws {
        let key = installation.path("state/master.key")
        let content = try Data(contentsOf: URL(filePath: key))
        #expect(try finding("masterKeyMissing") == nil)
        try move("state/master.key", "aside")
        try installation.eventually("the missing master key is reported") { try finding("masterKeyMissing") != nil }
        #expect(try installation.ctl("status", "--check").status == 2)
        let missing = try finding("masterKeyMissing")
        #expect(try installation.ctl("merchant", "add", "merchant.com.example").status == 0)

        func writeKey(_ data: Data) throws {
            try data.write(to: URL(filePath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        try writeKey(Data(repeating: 7, count: content.count))
        try installation.eventually("another key is reported differently") {
            let detail = try finding("masterKeyMissing")
            return detail != nil && detail != missing
        }
        try writeKey(content)
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
        #expect(!installation.log.contains("level=critical"))
        #expect(try finding("masterKeyMissing") == nil)
    }
}
