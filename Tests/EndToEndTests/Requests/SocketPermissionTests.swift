import Foundation
import Testing

/// The errors for a user whom the operating system does not let connect.
@Suite(.enabled(if: geteuid() == 0, "only root can run a command as another user")) struct SocketPermissionTests {
    private static let nobody: uid_t = 65_534
    let installation: Installation

    init() throws { installation = try Installation() }

    /// Runs `merchantkeyctl status` as a user without any rights.
    ///
    /// - Parameter program: a copy of the program where that user can read it.
    private func status(_ socket: String, _ program: String) throws -> (status: Int32, error: [String: Any]) {
        let outcome = try Installation.run([
            "setpriv", "--reuid", "\(Self.nobody)", "--regid", "\(Self.nobody)", "--clear-groups", program,
            "--socket", socket, "--output", "json", "status",
        ])
        let document = try JSONSerialization.jsonObject(with: Data(outcome.error.utf8)) as? [String: Any]
        return (outcome.status, try #require(document?["error"] as? [String: Any]))
    }

    @Test func `the error for a user without rights names the socket or its directory as the cause`() throws {
        let program = installation.path("merchantkeyctl")
        try FileManager.default.copyItem(atPath: "\(Installation.programs)/merchantkeyctl", toPath: program)
        #expect(chmod(installation.directory, 0o755) == 0 && chmod(program, 0o755) == 0)
        try installation.start()
        let hidden = try status(installation.adminSocket, program)
        #expect(chmod(installation.stateDirectory, 0o755) == 0)
        let closed = try status(installation.adminSocket, program)
        for found in [hidden, closed] {
            #expect(found.status == 3 && found.error["code"] as? String == "notPermitted", "\(found)")
        }
        let details = [hidden, closed].compactMap { $0.error["detail"] as? String }
        #expect(details.count == 2 && details[0] != details[1])
        let missing = try status(installation.path("no.sock"), program)
        #expect(missing.status == 3 && missing.error["code"] as? String == "unreachable", "\(missing)")
    }
}
