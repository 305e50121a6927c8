import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// The order in which the daemon's servers stop.
@Suite struct ShutdownOrderTests {
    @Test func `the decryptor socket serves until the other servers have finished their requests`() throws {
        let installation = try Installation()
        try installation.start(config: installation.write("metrics:\n  listen: 0\n", "config.yaml"))
        // The shutdown waits for the rest of this request.
        let admin = try ChildProcess(
            [
                "python3", "-c", Self.slowRequest, installation.adminSocket, installation.path("begun"),
                installation.path("continue"),
            ], output: .file(installation.path("output")), error: .file(installation.path("errors")))
        defer { admin.killAndWait() }
        try installation.eventually("the request has begun") {
            FileManager.default.fileExists(atPath: installation.path("begun"))
        }
        kill(try #require(installation.process), SIGTERM)
        try installation.eventually("the admin socket and the port for metrics are closed") {
            installation.log.contains("metrics closed")
                && !FileManager.default.fileExists(atPath: installation.adminSocket)
        }
        #expect(try installation.curl(installation.decryptorSocket, "/v1/health").output == "200")
        _ = try installation.write("", "continue")
        #expect(admin.wait() == .exited(0))
        let answer = try String(contentsOfFile: installation.path("output"), encoding: .utf8)
        #expect(answer.hasPrefix("HTTP/1.1 201 ") && answer.lowercased().contains("connection: close"), "\(answer)")
        #expect(installation.stop() == 0)
    }

    /// Sends a request, and its last byte only when a file exists. The arguments are the socket, the file that the
    /// script creates after the first bytes, and the file for which it waits.
    private static let slowRequest = """
        import os, socket, sys, time
        path, begun, proceed = sys.argv[1:]
        body = b'{"merchantIdentifier": "merchant.com.example"}'
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        head = "POST /v1/merchants HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
        s.sendall((head % len(body)).encode() + body[:-1])
        open(begun, "w").close()
        while not os.path.exists(proceed): time.sleep(0.01)
        s.sendall(body[-1:])
        answer = b""
        while part := s.recv(65536): answer += part
        print(answer.decode())
        """
}
