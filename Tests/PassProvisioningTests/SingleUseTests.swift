import Foundation
import MerchantTestSupport
import Testing

/// Compiles small programs that use the library of this build.
@Suite(.enabled(if: ChildProcess.succeeds("swiftc", "--version"), "swiftc is not installed"))
struct SingleUseTests {
    /// A program that encrypts with `attempt` in the given statements.
    private func program(_ statements: String) -> String {
        """
        import PassProvisioning

        func provision(_ card: CardData, _ certificates: VerifiedProvisioningCertificates) throws {
            let attempt = ProvisioningAttempt()
        \(statements)
        }
        """
    }

    private static let encryption = "    _ = try attempt.encrypt(card, for: certificates)"
    private static let tracedEncryption = "    _ = try attempt.encryptTraced(card, for: certificates)"

    @Test func `a program that encrypts once compiles`() throws {
        let outcome = try compile(program(Self.encryption))
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test(arguments: [
        [encryption, encryption], [encryption, tracedEncryption], [tracedEncryption, encryption],
        ["    for _ in 0..<2 {", encryption, "    }"],
    ])
    func `a program that would encrypt twice with the same key pair does not compile`(statements: [String]) throws {
        let outcome = try compile(program(statements.joined(separator: "\n")))
        #expect(outcome.status != 0)
        let reasons = ["'attempt' consumed more than once", "'attempt' consumed in a loop"]
        #expect(reasons.contains { outcome.error.contains($0) }, "\(outcome.error)")
    }

    @Test func `a program that copies an attempt does not compile`() throws {
        let outcome = try compile(program("    let copy = attempt\n    _ = copy\n\(Self.encryption)"))
        #expect(outcome.status != 0)
        #expect(outcome.error.contains("'attempt' consumed more than once"), "\(outcome.error)")
    }

    /// Compiles up to the checks of noncopyable values, which follow the type check and need no code generation.
    private func compile(_ program: String) throws -> ChildProcess.Outcome {
        let scratch = try Scratch()
        let source = try scratch.write(program, "Program.swift")
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let build = URL(filePath: tests).deletingLastPathComponent()
        var command = [
            "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-module-name", "Program", "-I",
            build.appending(path: "Modules").path,
        ]
        for map in try moduleMaps(build) { command += ["-Xcc", "-fmodule-map-file=\(map)"] }
        return try ChildProcess.run(command + [source])
    }

    /// The module maps of the C modules that the library's dependencies import.
    private func moduleMaps(_ build: URL) throws -> [String] {
        let files = FileManager.default
        // The build directory is PACKAGE/.build/TRIPLE/CONFIGURATION.
        let crypto = build.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "checkouts/swift-crypto/Sources").path
        let sources = try files.contentsOfDirectory(atPath: crypto).map { "\(crypto)/\($0)/include" }
        let built = try files.contentsOfDirectory(atPath: build.path).filter { $0.hasSuffix(".build") }
            .map { "\(build.path)/\($0)" }
        return (sources + built).map { "\($0)/module.modulemap" }.filter { files.fileExists(atPath: $0) }
    }
}
