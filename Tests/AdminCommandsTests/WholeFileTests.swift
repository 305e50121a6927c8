import AdminCommands
import Foundation
import Glibc
import Testing
import Vocabulary
import WireAPI

@Suite("Whole files")
struct WholeFileTests {
    /// link(2) on a file system without hard links, such as FAT.
    private static func noLink(_ path: String, _ newPath: String) -> Int32 {
        errno = EPERM
        return -1
    }

    private static func link(hasLinks: Bool) -> WholeFile.Link {
        if hasLinks { return { Glibc.link($0, $1) } }
        return noLink
    }

    private static func names(_ program: Program) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.directory)
    }

    private static func content(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            .failed, "\(path) exists with other content; move the file away, or use 'key csr --all-pending --force'")
    }

    @Test(
        "A CSR file with the same content is unchanged; one with other content is overwritten only if requested",
        arguments: [true, false])
    func existing(hasLinks: Bool) throws {
        let program = try Program()
        defer { program.remove() }
        let path = program.path("x")
        func write(_ text: String, overwrites: Bool = false) throws -> Bool {
            try CSRFile.write(
                Data(text.utf8), to: path, overwrites: overwrites, link: Self.link(hasLinks: hasLinks))
        }
        #expect(try write("a"), "a new file")
        #expect(try !write("a"))
        #expect(throws: Self.failure(path)) { try write("b") }
        #expect(try Self.content(path) == "a")
        #expect(try write("b", overwrites: true))
        #expect(try Self.content(path) == "b")
        #expect(try Self.names(program) == ["x"])
    }

    @Test(
        "A CSR file that another program creates after the first check is not overwritten", arguments: [true, false],
        ["a", "b"])
    func createdMeanwhile(hasLinks: Bool, other: String) throws {
        let program = try Program()
        defer { program.remove() }
        let path = program.path("x")
        func write(_ text: String) throws -> Bool {
            try CSRFile.write(Data(text.utf8), to: path, overwrites: false) { from, to in
                _ = try? program.write(other, to: "x")
                return Self.link(hasLinks: hasLinks)(from, to)
            }
        }
        if other == "a" {
            #expect(try !write("a"))
        } else {
            #expect(throws: Self.failure(path)) { try write("a") }
        }
        #expect(try Self.content(path) == other)
        #expect(try Self.names(program) == ["x"])
    }

    @Test("A file whose content can't be written is removed, also without hard links")
    func incomplete() throws {
        let program = try Program()
        defer { program.remove() }
        let path = program.path("x")
        var calls = 0
        let outcome = WholeFile.write(to: path, overwrites: false, link: Self.noLink) { _ in
            calls += 1
            return calls == 1 ? 0 : ENOSPC
        }
        #expect(outcome == .failed(code: ENOSPC) && calls == 2)
        let atFirst = WholeFile.write(to: path, overwrites: false) { _ in ENOSPC }
        #expect(atFirst == .failed(code: ENOSPC))
        #expect(try Self.names(program).isEmpty)
    }

    @Test("'key csr --all-pending' leaves files with the same content, and reports those with other content")
    func allPending() async throws {
        try await FakeDaemon.with({ request in
            if request.target == "/v1/status" { return try .json(Samples.status([])) }
            guard request.target.hasPrefix("/v1/keys?") else { return .text(Samples.csr, "application/x-pem-file") }
            return try .json(Page(items: [Samples.key(state: .pending)], nextCursor: nil))
        }) { program, daemon in
            func run(_ more: String...) async throws -> Program.Transcript {
                try await program.run(
                    ["key", "csr", "--all-pending", "--out", "csrs", "--socket", daemon.socketPath] + more)
            }
            let first = try await run()
            #expect(first.status == 0, "\(first)")
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: program.path("csrs"))
                    .first { $0.hasSuffix(".certSigningRequest") })
            let path = program.path("csrs/\(name)")
            #expect(try Self.content(path) == Samples.csr)
            let again = try await run("--report", "other.jsonl")
            #expect(again.status == 0 && again.output.contains("unchanged   1"), "\(again)")
            _ = try program.write("edited", to: "csrs/\(name)")
            let refused = try await run()
            #expect(refused.status == 1 && refused.output.contains(Self.failure("csrs/\(name)").message), "\(refused)")
            #expect(try Self.content(path) == "edited")
            let forced = try await run("--force")
            #expect(forced.status == 0, "\(forced)")
            #expect(try Self.content(path) == Samples.csr)
        }
    }
}
