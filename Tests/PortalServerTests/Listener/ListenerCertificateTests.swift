import Foundation
import Glibc
import Logging
import MerchantTestSupport
import PortalServer
import Testing
import Vocabulary

@Suite struct ListenerCertificateTests {
    private func error(_ files: PortalTLS.Files, at time: Timestamp = Timestamp(Date())) -> String? {
        do throws(PortalTLSError) {
            _ = try PortalTLS(reading: files, at: time)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("a file that cannot be used is refused, and the error says why")
    func unusableFiles() throws {
        let issued = try TestCertificates()
        try issued.issue("other")
        try issued.write("not a certificate\n", "text.pem")
        try issued.write("", "empty.pem")
        #expect(chmod(issued.path("server.pem"), 0o644) == 0)
        let good = issued.settings()
        #expect(error(good) == nil)
        func expect(_ change: (inout PortalTLS.Files) -> Void, _ parts: String...) {
            var files = good
            change(&files)
            let found = error(files) ?? "no error"
            for part in parts { #expect(found.contains(part), "\(found)") }
        }
        expect({ $0.certificate = issued.path("absent.pem") }, "'portal.tls.certificate'", "absent.pem", "No such file")
        expect({ $0.certificate = issued.path("text.pem") }, "'portal.tls.certificate'", "no certificate in PEM")
        expect({ $0.certificate = issued.path("empty.pem") }, "'portal.tls.certificate'", "has 0 bytes")
        expect({ $0.certificate = "/dev/null" }, "'portal.tls.certificate'", "not a regular file")
        expect({ $0.privateKey = issued.path("other.key") }, "'portal.tls.private-key'", "does not belong")
        expect({ $0.privateKey = issued.path("server.pem") }, "other users can access", "chmod 0600")
        expect({ $0.clientCA = issued.path("text.pem") }, "'portal.tls.client-ca'", "no certificate in PEM")
        #expect(chmod(issued.path("server.pem"), 0o600) == 0)
        expect({ $0.privateKey = issued.path("server.pem") }, "no private key in PEM")
        #expect(chmod(issued.path("server.key"), 0o640) == 0)
        #expect(error(good) == nil, "the group may read the key")
        #expect(chmod(issued.path("server.key"), 0o604) == 0)
        #expect(error(good)?.contains("has mode 0604") == true)
    }

    @Test("a certificate that is not valid now is refused")
    func validity() throws {
        let issued = try TestCertificates()
        defer { withExtendedLifetime(issued) {} }
        let files = issued.settings()
        let now = Timestamp(Date())
        #expect(error(files, at: now.adding(.seconds(3 * 86_400)))?.contains("expired at") == true)
        #expect(error(files, at: now.adding(.seconds(-86_400)))?.contains("is not valid before") == true)
    }

    @Test("new files are used for new connections, and open connections stay open")
    func reload() async throws {
        try await ListenerFixture.run { portal in
            let old = try portal.files.serial("server")
            try portal.files.issue("next")
            let output = portal.files.path("output")
            let go = portal.files.path("go")
            let script = """
                import os
                def serial():
                    # The new certificate does not chain to the old one.
                    context = ssl.create_default_context()
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    s = context.wrap_socket(tcp())
                    return s, ssl.DER_cert_to_PEM_cert(s.getpeercert(True))
                def ask(s):
                    s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                    data = part = s.recv(65536)
                    while part and b"body=0" not in data:
                        part = s.recv(65536)
                        data += part
                    return data.split(b"\\r\\n")[0].decode()
                first, before = serial()
                print(ask(first), flush=True)
                while not os.path.exists(sys.argv[3]): time.sleep(0.01)
                second, after = serial()
                print(ask(first), ask(second), before != after, flush=True)
                """
            let client = try ChildProcess(
                [
                    "python3", "-c", TestCommand.pythonClient + script, "\(portal.port)",
                    portal.files.path("server.pem"), go,
                ],
                output: .file(output), error: .file(portal.files.path("errors")))
            defer { client.killAndWait() }
            while (try? String(contentsOfFile: output, encoding: .utf8))?.contains("\n") != true {
                try await Task.sleep(for: .milliseconds(10))
            }
            try portal.files.move("next.pem", to: "server.pem")
            try portal.files.move("next.key", to: "server.key")
            portal.certificates.reloadIfChanged()
            #expect(try portal.files.serial("server") != old)
            try portal.files.write("", "go")
            while client.isRunning { try await Task.sleep(for: .milliseconds(10)) }
            let lines = try String(contentsOfFile: output, encoding: .utf8)
            #expect(lines == "HTTP/1.1 200 OK\nHTTP/1.1 200 OK HTTP/1.1 200 OK True\n", "\(lines)")
            #expect(portal.certificates.finding == nil && portal.findings.value.isEmpty)
        }
    }

    @Test("a new certificate that does not belong to the private key is reported, and the former pair stays in use")
    func badReload() async throws {
        try await ListenerFixture.run { portal in
            try portal.files.issue("other")
            let old = try String(contentsOfFile: portal.files.path("server.pem"), encoding: .utf8)
            try portal.files.write(old, "trusted.pem")
            try portal.files.move("other.pem", to: "server.pem")
            portal.certificates.reloadIfChanged()
            #expect(portal.certificates.finding?.contains("does not belong") == true)
            #expect(portal.certificates.finding?.contains("the previous certificate stays in use until") == true)
            // An unchanged problem is reported once.
            portal.certificates.reloadIfChanged()
            #expect(portal.findings.value.count == 1)
            let answer = try await portal.curl("/", ["--cacert", portal.files.path("trusted.pem")])
            #expect(answer.hasPrefix("peer=127.0.0.1 "))
            try portal.files.write(old, "server.pem")
            portal.certificates.reloadIfChanged()
            #expect(portal.certificates.finding == nil)
            #expect(portal.findings.value.count == 2 && portal.findings.value.last == .some(nil))
        }
    }

    @Test("a change of the key's mode alone is noticed")
    func modeChange() throws {
        let issued = try TestCertificates()
        let logger = Logger(label: "listener") { _ in SwiftLogNoOpLogHandler() }
        let certificates = try PortalCertificates(issued.settings(), now: { Timestamp(Date()) }, logger: logger)
        #expect(chmod(issued.path("server.key"), 0o644) == 0)
        certificates.reloadIfChanged()
        #expect(certificates.finding?.contains("chmod 0600") == true)
        #expect(chmod(issued.path("server.key"), 0o600) == 0)
        certificates.reloadIfChanged()
        #expect(certificates.finding == nil)
    }

    @Test("a certificate that expires while the portal runs is reported")
    func expiry() throws {
        let issued = try TestCertificates()
        // Read after openssl has issued the certificate, which is not valid before that second.
        let time = Guarded(Timestamp(Date()))
        let logger = Logger(label: "listener") { _ in SwiftLogNoOpLogHandler() }
        let certificates = try PortalCertificates(issued.settings(), now: { time.value }, logger: logger)
        certificates.reloadIfChanged()
        #expect(certificates.finding == nil)
        time.value = certificates.notAfter.adding(.seconds(1))
        certificates.reloadIfChanged()
        #expect(certificates.finding?.contains("expired at \(certificates.notAfter)") == true)
    }
}
