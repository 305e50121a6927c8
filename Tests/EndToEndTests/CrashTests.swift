import Foundation
import Testing

/// `kill -9` under load: whatever was acknowledged is there after the restart.
@Suite struct CrashTests {
    @Test func `no acknowledged key is lost to a kill`() async throws {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.crash.0").status == 0)
        var acknowledged: Set<String> = []
        for round in 1...5 {
            // Four clients generate keys for merchants of their own while the daemon is killed.
            let names = (0..<4).map { "merchant.com.crash.r\(round).c\($0)" }
            for name in names { #expect(try installation.ctl("merchant", "add", name).status == 0) }
            let hashes = try await withThrowingTaskGroup(of: [String].self) { group in
                for name in names {
                    group.addTask {
                        var hashes: [String] = []
                        while hashes.count < 60 {
                            let answer = try installation.curlBody(
                                installation.adminSocket, "/v1/merchants/\(name)/keys", "-X", "POST", "--fail")
                            guard answer.status == 0 else { break }
                            hashes.append(try answer.text("publicKeyHash"))
                        }
                        return hashes
                    }
                }
                group.addTask {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...600)))
                    installation.stop(SIGKILL)
                    return []
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            acknowledged.formUnion(hashes)
            try installation.start()
            for hash in acknowledged {
                #expect(
                    try installation.curl(installation.adminSocket, "/v1/keys/\(pathSpelling(hash))").output == "200",
                    "\(hash) was acknowledged in a round up to \(round)")
            }
        }
        #expect(acknowledged.count > 20)
        let audit = try installation.ctlJSON("status")["auditRecords"] as? Int
        #expect(try #require(audit) >= acknowledged.count)
    }
}
