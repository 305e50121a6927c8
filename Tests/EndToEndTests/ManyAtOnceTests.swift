import Foundation
import MerchantTestSupport
import Testing

/// Many merchants, CSRs and certificates at once, with the real programs.
@Suite struct ManyAtOnceTests {
    private func count(_ installation: Installation, _ state: String) throws -> Int? {
        (try installation.ctlJSON("status")["keyPairs"] as? [String: Int])?[state]
    }

    @Test func `an import that is killed with its daemon goes on where it was and makes no key twice`() throws {
        let installation = try Installation()
        try installation.start()
        let lines = (1...300).map { "merchant.com.many.shop\($0),\"Shop, \($0)\",\($0 % 2 + 1)" }
        let file = try installation.write(
            "merchantIdentifier,name,targetActiveKeyPairs\r\n\(lines.joined(separator: "\r\n"))\r\n", "m.csv")
        let arguments = ["merchant", "import", file, "--generate-keys", "--csr-directory", installation.path("csr")]
        let importer = try installation.startCtl(arguments)
        let report = installation.path("m.csv.report.jsonl")
        for _ in 0..<400 {
            let done = (try? String(contentsOfFile: report, encoding: .utf8))?.count { $0 == "\n" } ?? 0
            guard done < 40 else { break }
            Thread.sleep(forTimeInterval: 0.005)
        }
        importer.killAndWait()
        try installation.restart(SIGKILL)
        let again = try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket] + arguments)
        #expect(again.status == 0 && again.output.contains("done before"), "\(again.output) \(again.error)")
        #expect(try count(installation, "pending") == 450)
        // What the killed run made and could not write any more.
        let csrs = try installation.ctl("key", "csr", "--all-pending", "--out", installation.path("csr"))
        #expect(csrs.status == 0, "\(csrs.output) \(csrs.error)")
        let files = try FileManager.default.contentsOfDirectory(atPath: installation.path("csr"))
        #expect(files.count { $0.hasSuffix(".certSigningRequest") } == 450)
        let third = try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket] + arguments)
        #expect(third.status == 0 && third.output.contains("done before  300"), "\(third.output)")
        #expect(try count(installation, "pending") == 450)
    }

    @Test func `every pending CSR comes out, and a directory of certificates goes in, each to its own key`() throws {
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
        let second = try installation.ctl("certificate", "upload", installation.path("cer"))
        #expect(second.status == 0 && second.output.contains("done before  4"), "\(second.output) \(second.error)")
        #expect(try installation.ctl("key", "csr", "--all-pending", "--out", installation.path("csr")).status == 0)
    }

    @Test func `Ctrl-C ends a run in order: what is under way is done, and the report says where it was`() throws {
        let installation = try Installation()
        try installation.start()
        let lines = (1...20_000).map { "merchant.com.many.shop\($0)" }.joined(separator: "\n")
        let file = try installation.write("merchantIdentifier\n\(lines)\n", "m.csv")
        let importer = try installation.startCtl(["merchant", "import", file], error: installation.path("errors"))
        let report = installation.path("m.csv.report.jsonl")
        for _ in 0..<400
        where (try? FileManager.default.attributesOfItem(atPath: report)[.size] as? Int ?? 0) ?? 0 < 2_000 {
            Thread.sleep(forTimeInterval: 0.005)
        }
        importer.signal(SIGINT)
        let end = importer.wait()
        let said = try String(contentsOfFile: installation.path("errors"), encoding: .utf8)
        #expect(end == .exited(1), "\(said)")
        #expect(said.contains("run the same command again to continue"))
        // Without the header.
        let reported = try String(contentsOfFile: report, encoding: .utf8).count { $0 == "\n" } - 1
        let merchants = try installation.ctlJSON("status")["merchants"] as? Int
        #expect(reported == merchants && reported < 20_000)
    }
}
