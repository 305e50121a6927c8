import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// The sockets that systemd opens for the daemon. A program in Python stands in for systemd.
@Suite(.enabled(if: Installation.hasPythonSQLite, "needs python3")) struct SocketActivationTests {
    private let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.createStateDirectory()
    }

    /// The daemon's command line, behind the program that passes the sockets.
    ///
    /// - Parameter sockets: each as `NAME=TYPE=PATH`, see pass_sockets.py.
    private func command(_ sockets: [String]) throws -> [String] {
        let script = try #require(Bundle.module.path(forResource: "pass_sockets", ofType: "py", inDirectory: "Scripts"))
        return ["python3", script] + sockets
            + ["--", "\(Installation.programs)/merchantkeyd", "--state-directory", installation.stateDirectory]
    }

    private func isServing(_ daemon: ChildProcess) throws -> Bool {
        try installation.curl(installation.adminSocket, "/v1/health").output == "200"
            && installation.curl(installation.decryptorSocket, "/v1/health").output == "200" || !daemon.isRunning
    }

    /// The second pair are the names of socket units without `FileDescriptorName=`. The daemon then recognizes
    /// the sockets by their paths.
    @Test(arguments: [
        ["admin", "decryptor"], ["merchantkeyd-admin.socket", "merchantkeyd-decryptor.socket"], ["", "admin"],
    ])
    func `the daemon serves on the sockets that it inherits, and leaves their files`(names: [String]) throws {
        var paths = [installation.adminSocket, installation.decryptorSocket]
        if names[0].isEmpty { paths.reverse() }
        let daemon = try ChildProcess(
            command(zip(names, paths).map { "\($0)=stream=\($1)" }), error: .file(installation.path("daemon.log")))
        defer { daemon.killAndWait() }
        try installation.eventually("the daemon serves", within: .seconds(20)) { try isServing(daemon) }
        for path in paths {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        daemon.signal(SIGTERM)
        #expect(daemon.wait() == .exited(0), "\(installation.log)")
        for path in paths { #expect(FileManager.default.fileExists(atPath: path)) }
    }

    @Test func `the daemon creates the socket that it does not inherit, and removes its file`() throws {
        let daemon = try ChildProcess(
            command(["decryptor=stream=\(installation.decryptorSocket)"]), error: .file(installation.path("daemon.log"))
        )
        defer { daemon.killAndWait() }
        try installation.eventually("the daemon serves", within: .seconds(20)) { try isServing(daemon) }
        daemon.signal(SIGTERM)
        #expect(daemon.wait() == .exited(0), "\(installation.log)")
        #expect(FileManager.default.fileExists(atPath: installation.decryptorSocket))
        #expect(!FileManager.default.fileExists(atPath: installation.adminSocket))
    }

    /// Sockets that the daemon refuses, with a part of the reason. `{}` is the test's directory.
    private static let refused: [(sockets: [String], reason: String)] = [
        (["admin=stream={}/other.sock"], "systemd passed the socket 'admin' at {}/other.sock"),
        (["other=stream={}/other.sock"], "systemd passed the socket {}/other.sock"),
        (["admin=datagram={}/state/admin.sock"], "{}/state/admin.sock) is not a stream socket"),
        (["admin=bound={}/state/admin.sock"], "{}/state/admin.sock) does not listen"),
        (
            ["admin=stream={}/state/admin.sock", "decryptor=stream={}/state/decryptor.sock", "x=stream={}/x.sock"],
            "systemd passed the socket {}/x.sock"
        ),
    ]

    @Test(arguments: refused.indices)
    func `a start with wrong sockets is refused before the daemon creates its database`(number: Int) throws {
        func inDirectory(_ text: String) -> String {
            text.replacingOccurrences(of: "{}", with: installation.directory)
        }
        let (sockets, reason) = Self.refused[number]
        let outcome = try Installation.run(
            ["timeout", "--signal=KILL", "60"] + command(sockets.map(inDirectory)))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains(inDirectory(reason)), "\(outcome.error)")
        #expect(!FileManager.default.fileExists(atPath: installation.database))
    }
}
