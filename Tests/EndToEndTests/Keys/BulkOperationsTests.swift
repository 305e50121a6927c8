import Foundation
import MerchantTestSupport
import Testing

/// Bulk operations on merchants, CSRs and certificates, with the real programs.
@Suite struct BulkOperationsTests {
    private func count(_ installation: Installation, _ state: String) throws -> Int? {
        (try installation.ctlJSON("status")["keyPairs"] as? [String: Int])?[state]
    }

    @Test func `an import that is killed with its daemon resumes and generates no key twice`() throws {
        let installation = try Installation()
        try installation.start()
        let lines = (1...300).map { "merchant.com.many.shop\($0),\"Shop, \($0)\",\($0 % 2 + 1)" }
        let file = try installation.write(
            "merchantIdentifier,name,targetActiveKeyPairs\r\n\(lines.joined(separator: "\r\n"))\r\n", "m.csv")
        let arguments = ["merchant", "import", file, "--generate-keys", "--csr-directory", installation.path("csr")]
        let importer = try installation.startCtl(arguments)
        let report = installation.path("m.csv.report.jsonl")
        try installation.eventually("40 merchants are imported") {
            (try? String(contentsOfFile: report, encoding: .utf8))?.count { $0 == "\n" } ?? 0 >= 40
        }
        importer.killAndWait()
        try installation.restart(SIGKILL)
        let resumed = try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json"]
                + arguments)
        #expect(resumed.status == 0, "\(resumed.error)")
        #expect(try resumed.json()["skipped"] as? Int ?? 0 > 0)
        #expect(try count(installation, "pending") == 450)
        // The killed run may have generated key pairs without writing their CSRs.
        let csrs = try installation.ctl("key", "csr", "--all-pending", "--out", installation.path("csr"))
        #expect(csrs.status == 0, "\(csrs.output) \(csrs.error)")
        let files = try FileManager.default.contentsOfDirectory(atPath: installation.path("csr"))
        #expect(files.count { $0.hasSuffix(".certSigningRequest") } == 450)
        let third = try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json"]
                + arguments)
        #expect(third.status == 0, "\(third.error)")
        #expect(try third.json()["skipped"] as? Int == 300)
        #expect(try count(installation, "pending") == 450)
    }

    @Test func `all pending CSRs are written, and each certificate of a directory is stored with its own key pair`()
        throws
    {
        let installation = try Installation()
        try installation.start()
        try installation.apple("init")
        for number in 1...4 {
            #expect(try installation.ctl("merchant", "add", "merchant.com.many.shop\(number)").status == 0)
            #expect(try installation.ctl("key", "generate", "merchant.com.many.shop\(number)").status == 0)
        }
        let out = try installation.ctl("key", "csr", "--all-pending", "--out", installation.path("csr"))
        #expect(out.status == 0, "\(out.error)")
        try FileManager.default.createDirectory(atPath: installation.path("cer"), withIntermediateDirectories: false)
        for file in try FileManager.default.contentsOfDirectory(atPath: installation.path("csr")).sorted()
        where file.hasSuffix(".certSigningRequest") {
            let merchant = try #require(file.firstMatch(of: /^(merchant\..*)-[0-9a-f]{8}\./)).1
            let checked = try Installation.run([
                "openssl", "req", "-verify", "-noout", "-in", installation.path("csr/\(file)"),
            ])
            #expect(checked.status == 0, "\(checked.error)")
            try installation.apple(
                "issue", "--csr", installation.path("csr/\(file)"), "--merchant", String(merchant), "--out",
                installation.path("cer/\(merchant).cer"))
        }
        _ = try installation.write("no certificate", "cer/broken.pem")
        let first = try installation.ctl("certificate", "upload", installation.path("cer"))
        #expect(first.status == 1 && first.output.contains("broken.pem"), "\(first.output)")
        #expect(try count(installation, "standby") == 4 && count(installation, "pending") == 0)
        try FileManager.default.removeItem(atPath: installation.path("cer/broken.pem"))
        #expect(try installation.ctlJSON("certificate", "upload", installation.path("cer"))["skipped"] as? Int == 4)
        #expect(try installation.ctl("key", "csr", "--all-pending", "--out", installation.path("csr")).status == 0)
    }

    @Test
    func `an interrupted import completes the requests in progress, and its report lists every imported merchant`()
        throws
    {
        let installation = try Installation()
        try installation.start()
        let lines = (1...20_000).map { "merchant.com.many.shop\($0)" }.joined(separator: "\n")
        let file = try installation.write("merchantIdentifier\n\(lines)\n", "m.csv")
        let importer = try installation.startCtl(
            ["--output", "json", "merchant", "import", file], output: installation.path("summary"))
        let report = installation.path("m.csv.report.jsonl")
        try installation.eventually("some merchants are imported") {
            let size = try? FileManager.default.attributesOfItem(atPath: report)[.size] as? Int
            return size ?? 0 >= 2_000
        }
        importer.signal(SIGINT)
        #expect(importer.wait() == .exited(1))
        let summary = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: installation.path("summary"))))
                as? [String: Any])
        #expect(summary["stopped"] as? Bool == true && summary["failed"] as? Int == 0, "\(summary)")
        // The first line is a header.
        let reported = try String(contentsOfFile: report, encoding: .utf8).count { $0 == "\n" } - 1
        let merchants = try installation.ctlJSON("status")["merchants"] as? Int
        #expect(reported == merchants && reported < 20_000)
    }
}
