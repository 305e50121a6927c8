import Foundation
import MerchantTestSupport
import SandboxKit
import Testing

/// The servers to which tests connect the real client.
enum TestGatewayServer: String, CaseIterable, Sendable, CustomStringConvertible {
    case sandbox, pythonTLS13, pythonTLS12, pythonWithIntegerCodes

    var description: String { rawValue }

    /// Runs the server while `body` runs.
    func serve(_ fixture: GatewayFixture, _ body: (_ url: String) async throws -> Void) async throws {
        switch self {
        case .sandbox: try await withSandbox(fixture) { try await body($0.url) }
        case .pythonTLS13: try await withPython(fixture, [], body)
        case .pythonTLS12: try await withPython(fixture, ["--newest-tls", "1.2"], body)
        case .pythonWithIntegerCodes: try await withPython(fixture, ["--integer-codes"], body)
        }
    }
}

func withSandbox(
    _ fixture: GatewayFixture, faults: [GatewayFault] = [], slowness: Duration = .seconds(5),
    _ body: (SandboxGateway) async throws -> Void
) async throws {
    var settings = SandboxGateway.Settings()
    settings.faults = faults
    settings.slowReplyDelay = slowness
    let sandbox = try await SandboxGateway(authority: fixture.authority, settings: settings)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(sandbox)) } catch { outcome = .failure(error) }
    await sandbox.stop()
    try outcome.get()
}

func withPython(_ fixture: GatewayFixture, _ options: [String], _ body: (_ url: String) async throws -> Void)
    async throws
{
    let script = try #require(Bundle.module.url(forResource: "gateway", withExtension: "py", subdirectory: "Scripts"))
    let output = fixture.scratch.path("gateway.out")
    let process = try ChildProcess(
        [
            "python3", script.path, "--certificate", fixture.scratch.path("server.pem"), "--private-key",
            fixture.scratch.path("server.key"), "--client-ca", fixture.scratch.path("clients.pem"),
        ] + options, output: .file(output))
    defer { process.killAndWait() }
    let line = try process.firstLine(in: output)
    let port = try #require(Int(line), "\(line)")
    try await body("https://localhost:\(port)")
}
