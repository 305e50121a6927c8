import Foundation
import MerchantTestSupport

/// One run of a shell script in an installation of its own, made of the real programs; gone afterwards.
struct ShellRun {
    static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts").path
    /// Where the programs are: beside the tests.
    private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

    let status: Int32
    /// What the script and its programs printed, standard error included.
    let output: String

    /// - Parameter body: given the installation's directory, returns what is run in it.
    init(_ body: (_ directory: String) throws -> String) throws {
        let directory = "/tmp/mkd-doc-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let script = """
            programs='\(Self.programs)' scripts='\(Self.scripts)' work='\(directory)'
            documents='\(MarkdownDocument.root.appending(path: "docs").path)'
            . "$scripts/installation.sh"
            start_daemon
            \(try body(directory))
            """
        try script.write(toFile: "\(directory)/script.sh", atomically: true, encoding: .utf8)
        let output = "\(directory)/output"
        let shell = try ChildProcess(
            ["timeout", "--kill-after=10", "240", "bash", "\(directory)/script.sh"],
            output: .file(output), error: .file(output),
            environment: ProcessInfo.processInfo.environment.merging(["HOME": directory]) { $1 })
        status = shell.wait().status
        self.output = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
    }

    /// Whether a program is installed.
    static func isInstalled(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
