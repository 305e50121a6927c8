import Foundation
import Glibc
import Synchronization

/// A real PostgreSQL server that a test process starts. The server listens on a Unix socket only. The server is
/// stopped, and its files are removed, when this value is released or the test process ends, even if the process is
/// killed.
package final class PostgresServer: Sendable {
    /// A server without durable commits, for all tests of a process that need no server of their own. Each test uses
    /// its own database.
    package static let shared = Result {
        try PostgresServer(settings: [
            "fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=1000",
            "shared_buffers=64MB",
        ])
    }

    /// The directory of the Unix socket.
    package let directory: String
    /// The path of the program `psql`.
    private let psql: String
    private let process: ChildProcess
    private let output: String
    private let scratch: Scratch
    /// The standard input of the process. The process stops the server when this descriptor is closed.
    private let input: Int32
    private let databases = Atomic(0)
    private let commands = Mutex(0)

    /// Starts a server with PostgreSQL's default settings, except for `settings`, each `NAME=VALUE`.
    package init(settings: [String] = []) throws {
        scratch = try Scratch()
        output = scratch.path("output")
        var ends: [Int32] = [0, 0]
        // ``ChildProcess`` passes no other descriptor to a program, so only this process holds the end for writing.
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        input = ends[1]
        defer { close(ends[0]) }
        process = try ChildProcess(
            ["python3", TestScript.postgresServer] + settings, input: .descriptor(ends[0]), output: .file(output),
            error: .file(scratch.path("errors")))
        do {
            let line = try process.firstLine(in: output).split(separator: " ").map(String.init)
            guard line.count == 2 else { throw ChildProcess.NotAnnounced(output: line.joined(separator: " ")) }
            (directory, psql) = (line[0], line[1])
        } catch {
            close(input)
            process.wait()
            throw ChildProcess.Failure(
                command: ["postgres-server.py"],
                outcome: .init(status: 1, outputBytes: [], errorBytes: (try? scratch.bytes("errors")) ?? []))
        }
    }

    deinit {
        close(input)
        process.wait()
    }

    /// Stops the server as a crash does: no process of the server writes or syncs anything more.
    package func crash() throws { try command("crash") }

    /// Starts the server after ``crash()``.
    package func start() throws { try command("start") }

    private func command(_ text: String) throws {
        try commands.withLock { count in
            count += 1
            let line = Array("\(text)\n".utf8)
            guard write(input, line, line.count) == line.count else { throw POSIXError(.EPIPE) }
            let expected = count
            _ = try process.announcement(in: output) { output in
                output.split(separator: "\n").filter { $0 == "done" }.count >= expected ? true : nil
            }
        }
    }

    /// libpq's connection string of a database.
    package func connection(to database: String) -> String { "host=\(directory) user=merchantkeyd dbname=\(database)" }

    /// Runs SQL statements, as a superuser.
    ///
    /// - Returns: the values of the rows: one row on each line, values separated by `|`.
    @discardableResult
    package func execute(_ sql: String, in database: String = "postgres") throws -> String {
        let output = try ChildProcess.output(
            of: [
                psql, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
                "--file=-", connection(to: database),
            ], input: Array(sql.utf8))
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Creates a database.
    ///
    /// - Parameter template: a database to copy, to which no client is connected.
    /// - Returns: the name of the new database.
    package func createDatabase(from template: String = "template1") throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        try execute("CREATE DATABASE \(name) TEMPLATE \(template)")
        return name
    }

    package func dropDatabase(_ name: String) throws { try execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
}
