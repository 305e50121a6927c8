import Foundation
import MerchantTestSupport
import SandboxKit
import Testing

/// The two servers that the client is held against, without a change to the client.
enum Opponent: String, CaseIterable, Sendable, CustomStringConvertible {
    case sandbox, pythonTLS13, pythonTLS12, pythonWithIntegerCodes

    var description: String { rawValue }

    /// Runs the server while `body` runs.
    func serve(_ bench: Bench, _ body: (_ url: String) async throws -> Void) async throws {
        switch self {
        case .sandbox: try await withSandbox(bench) { try await body($0.url) }
        case .pythonTLS13: try await withPython(bench, [], body)
        case .pythonTLS12: try await withPython(bench, ["--newest-tls", "1.2"], body)
        case .pythonWithIntegerCodes: try await withPython(bench, ["--integer-codes"], body)
        }
    }
}

func withSandbox(
    _ bench: Bench, faults: [GatewayFault] = [], slowness: Duration = .seconds(5),
    _ body: (SandboxGateway) async throws -> Void
) async throws {
    var settings = SandboxGateway.Settings()
    settings.faults = faults
    settings.slowness = slowness
    let sandbox = try await SandboxGateway(authority: bench.authority, settings: settings)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(sandbox)) } catch { outcome = .failure(error) }
    await sandbox.stop()
    try outcome.get()
}

func withPython(_ bench: Bench, _ options: [String], _ body: (_ url: String) async throws -> Void) async throws {
    let script = try #require(Bundle.module.url(forResource: "gateway", withExtension: "py", subdirectory: "Scripts"))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
        [
            "python3", script.path, "--certificate", bench.scratch.path("server.pem"), "--private-key",
            bench.scratch.path("server.key"), "--client-ca", bench.scratch.path("clients.pem"),
        ] + options
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
        // A child of a thread of Dispatch's inherits SIGTERM blocked, and Python leaves it so.
        kill(process.processIdentifier, SIGKILL)
        process.waitForExit()
    }
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), "\(line)")
    try await body("https://localhost:\(port)")
}
