import Foundation
import Testing

/// `kill -9` under load: whatever was acknowledged is there after the restart.
@Suite struct CrashTests {
    @Test func `no acknowledged key is lost to a kill`() throws {
        let installation = try Installation()
        try installation.start()
        var acknowledged = 0
        for round in 1...5 {
            let merchants = (0..<4).map { "merchant.com.crash.r\(round).c\($0)" }
            for merchant in merchants { #expect(try installation.ctl("merchant", "add", merchant).status == 0) }
            let clients = try merchants.map { try client(of: installation, generatingFor: $0) }
            // Somewhere in the middle of their work: there is no clock of ours to move.
            Thread.sleep(forTimeInterval: Double.random(in: 0.1...0.5))
            installation.stop(SIGKILL)
            for client in clients { client.waitUntilExit() }
            try installation.start()
            for merchant in merchants {
                let kept = try installation.ctl("key", "list", merchant).output
                let answers = try String(contentsOfFile: installation.path(merchant), encoding: .utf8)
                for line in answers.split(separator: "\n") {
                    // The last answer may have been cut off: then it was not one.
                    guard let answer = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                        let hash = answer["publicKeyHash"] as? String
                    else { continue }
                    acknowledged += 1
                    #expect(kept.contains(hash), "\(hash) was acknowledged in round \(round)")
                }
            }
        }
        #expect(acknowledged > 20)
        let audit = try installation.ctlJSON("status")["auditRecords"] as? Int
        #expect(try #require(audit) >= acknowledged)
    }

    /// Asks for key pairs, one after the other, until the daemon is gone; each answer is a line of the merchant's file.
    func client(of installation: Installation, generatingFor merchant: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            for i in $(seq 60); do
              curl -s --fail --max-time 20 --unix-socket "$0" -X POST "http://localhost/v1/merchants/$1/keys" || exit 0
              echo
            done
            """, installation.adminSocket, merchant,
        ]
        let file = installation.path(merchant)
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: file)
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}
