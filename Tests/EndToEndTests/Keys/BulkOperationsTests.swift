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

    @Test func `key import-all imports PKCS#12 and PEM keys to the merchants of their certificates, once`() throws {
        let installation = try Installation()
        try installation.start()
        try installation.apple("init")
        try FileManager.default.createDirectory(atPath: installation.path("keys"), withIntermediateDirectories: false)
        for name in ["a", "b", "c"] {
            let stem = installation.path("keys/\(name)")
            let csr = try Installation.run([
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=merchant.com.imported.\(name)", "-keyout", "\(stem).key", "-out", "\(stem).csr",
            ])
            #expect(csr.status == 0, "\(csr.error)")
            if name != "c" {
                #expect(try installation.ctl("merchant", "add", "merchant.com.imported.\(name)").status == 0)
            }
        }
        let keys = installation.path("keys")
        try installation.apple("issue", keys)
        let (key, pem) = (installation.path("keys/a.key"), installation.path("a.pem"))
        for command in [
            ["x509", "-inform", "DER", "-in", installation.path("keys/a.cer"), "-out", pem],
            ["pkcs12", "-export", "-inkey", key, "-in", pem, "-passout", "pass:secret", "-out", "\(keys)/a.p12"],
        ] {
            let run = try Installation.run(["openssl"] + command)
            #expect(run.status == 0, "\(run.error)")
        }
        for name in ["a.key", "a.cer"] {
            try FileManager.default.removeItem(atPath: installation.path("keys/\(name)"))
        }
        let passphrase = try installation.write("secret\n", "passphrase")
        // c's merchant does not exist.
        let first = try installation.ctl("key", "import-all", keys, "--passphrase-file", passphrase)
        #expect(first.status == 1 && first.output.contains("merchantNotFound"), "\(first.output) \(first.error)")
        #expect(try count(installation, "standby") == 2)
        #expect(try installation.ctl("merchant", "add", "merchant.com.imported.c").status == 0)
        let second = try installation.ctl("key", "import-all", keys, "--passphrase-file", passphrase)
        #expect(second.status == 0 && second.output.contains(/skipped +2/), "\(second.output) \(second.error)")
        #expect(try count(installation, "standby") == 3)
        for name in ["a", "b", "c"] {
            let list = try installation.ctl("key", "list", "merchant.com.imported.\(name)")
            #expect(list.output.contains("standby"), "\(list.output)")
        }
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
