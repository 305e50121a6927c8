import Foundation
import MerchantTestSupport
import Testing

/// A SQLite database that another program has locked for writing.
struct LockedDatabase {
    private let locker: ChildProcess
    var process: Int32 { locker.id }

    /// Returns when the database is locked.
    init(_ database: String, _ installation: Installation) throws {
        let script = try installation.write(
            """
            import sqlite3, sys, time
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            while True: time.sleep(1)
            """, "lock.py")
        let output = installation.path("locked")
        let locker = try ChildProcess(["python3", script, database], output: .file(output))
        self.locker = locker
        do {
            try installation.eventually("the file is locked") {
                try String(contentsOfFile: output, encoding: .utf8).contains("locked")
            }
        } catch {
            locker.killAndWait()
            throw error
        }
    }

    func release() { locker.killAndWait() }
}
