import Foundation
import MerchantTestSupport

/// One run of a shell script in a test installation of the real programs, which is removed afterwards.
struct ShellRun {
    static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts").path
    /// The directory of the programs, which is that of the tests.
    private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

    let status: Int32
    /// The standard output and standard error of the script and its programs.
    let output: String

    /// - Parameter body: returns the script, given the directory of the installation.
    init(_ body: (_ directory: String) throws -> String) throws {
        let directory = "/tmp/mkd-doc-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let script = """
            programs='\(Self.programs)' scripts='\(Self.scripts)' work='\(directory)'
            site_script='\(TestScript.site)'
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
            environment: ChildProcess.inheritedEnvironment.merging(["HOME": directory]) { $1 })
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
