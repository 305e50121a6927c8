import Foundation
import MerchantTestSupport
import Testing

/// Traces system calls: the daemon acknowledges no change before it is on stable storage.
@Suite(.onlyOnSQLite) struct DurabilityTraceTests {
    /// Whether strace is installed and may trace.
    static let isPossible = ChildProcess.succeeds("strace", "-f", "-o", "/dev/null", "true")

    @Test(.enabled(if: isPossible, "strace is not installed or may not trace"))
    func `the lock file records a clean shutdown only after the removal of the write-ahead log is synced`() throws {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.trace").status == 0)
        _ = try installation.ctl("merchant", "list")
        let trace = installation.path("trace")
        let tracer = try ChildProcess([
            "strace", "-f", "-y", "-s", "64", "-o", trace, "-e", "trace=unlink,pwrite64,fsync,recvfrom,read", "-p",
            "\(try #require(installation.process))",
        ])
        func lines() -> [Substring] {
            ((try? String(contentsOfFile: trace, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        try installation.eventually("the tracer sees requests") {
            _ = try installation.curl(installation.adminSocket, "/v1/health")
            return lines().contains { $0.contains("GET /v1/health") }
        }
        installation.stop()
        tracer.wait()
        let removed = lines().firstIndex { $0.contains("unlink(") && $0.contains("merchantkeyd.sqlite-wal") }
        let closed = lines().firstIndex { $0.contains("merchantkeyd.lock") && $0.contains("closed") }
        let synced = lines().lastIndex { $0.contains("fsync(") && $0.contains("/state>") && $0.contains("= 0") }
        #expect(try #require(removed) < #require(synced))
        #expect(try #require(synced) < #require(closed))
    }

    @Test(.enabled(if: isPossible, "strace is not installed or may not trace"))
    func `a sync of the write-ahead log ends before each acknowledging reply`() throws {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.trace").status == 0)
        let trace = installation.path("trace")
        let tracer = try ChildProcess([
            "strace", "-f", "-y", "-s", "64", "-o", trace, "-e",
            "trace=fsync,fdatasync,read,recvfrom,recvmsg,write,writev,sendto,sendmsg", "-p",
            "\(try #require(installation.process))",
        ])
        defer { tracer.killAndWait() }
        func lines() -> [Substring] {
            ((try? String(contentsOfFile: trace, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        // The tracer is attached once it has seen a request.
        try installation.eventually("the tracer sees requests") {
            _ = try installation.curl(installation.adminSocket, "/v1/health")
            return lines().contains { $0.contains("GET /v1/health") }
        }
        let client = try LoadClient(installation.adminSocket)
        let count = 20
        for _ in 0..<count { #expect(try client.call("POST", "/v1/merchants/merchant.com.trace/keys").status == 201) }
        try installation.eventually("the trace is complete") {
            lines().count { $0.contains("HTTP/1.1 201") } >= count
        }
        var isSynced = false
        var replies = 0
        var syncing: Set<Substring> = []
        for line in lines() {
            let process = line.prefix { $0 != " " }
            if line.contains("POST /v1/merchants/") {
                isSynced = false
            } else if line.contains("fsync(") || line.contains("fdatasync("), line.contains("-wal") {
                if line.contains("= 0") { isSynced = true } else { syncing.insert(process) }
            } else if line.contains("sync resumed>"), line.contains("= 0"), syncing.remove(process) != nil {
                isSynced = true
            } else if line.contains("HTTP/1.1 201") {
                #expect(isSynced, "acknowledged before a sync: \(line)")
                replies += 1
            }
        }
        #expect(replies == count)
    }
}
