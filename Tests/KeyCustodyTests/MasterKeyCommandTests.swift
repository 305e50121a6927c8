import Foundation
import Glibc
import KeyCustody
import MerchantCore
import Synchronization
import Testing

/// A master key that a program prints.
@Suite struct MasterKeyCommandTests {
    private func failure(_ script: String, within seconds: Int = 5) -> String {
        refusal { try MasterKey.load(from: ["/bin/sh", "-c", script], within: seconds) }?.detail ?? "none"
    }

    @Test func `the program's output is the same key as a file with the same bytes`() throws {
        let scratch = try Scratch()
        let path = try scratch.file("master.key", (0..<32).map { UInt8($0) })
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let printed = try MasterKey.load(from: ["/bin/cat", path], within: 5)
        #expect(printed.identifier == (try MasterKey.load(from: path).identifier))
    }

    @Test(arguments: [
        ("printf 1234", "printed 4 bytes, expected exactly 32 raw bytes"),
        ("printf '%032d\\n' 1", "printed more than 32 bytes, expected exactly 32 raw bytes without a line end"),
        ("cat /dev/zero", "printed more than 32 bytes"),
        (
            "echo the vault is sealed >&2; exit 3",
            "exited with status 3, expected exit status 0: its error output: the vault is sealed"
        ),
        ("kill -9 $$", "was killed by signal 9"),
    ])
    func `a program that fails or does not print 32 bytes is refused with a reason`(script: String, expected: String) {
        #expect(failure(script).contains(expected), "\(failure(script))")
    }

    @Test func `the program inherits no open file of the process, such as a caller's connection`() throws {
        // Like an accepted connection, which has no close-on-exec flag.
        let open = dup(STDERR_FILENO)
        defer { close(open) }
        let script = "test ! -e /proc/$$/fd/\(open) || exit 7; printf %032d 1"
        _ = try MasterKey.load(from: ["/bin/sh", "-c", script], within: 5)
    }

    @Test func `the program inherits no ignored signal`() throws {
        // The daemon ignores SIGPIPE too.
        signal(SIGPIPE, SIG_IGN)
        let script = """
            # glibc's posix_spawn ignores its own signals 32 and 33.
            test $((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status) & 0x7fffffff)) -eq 0 || exit 7
            printf %032d 1
            """
        _ = try MasterKey.load(from: ["/bin/sh", "-c", script], within: 5)
    }

    @Test func `a program that does not exit is killed with its process group`() {
        #expect(failure("sleep 600 & sleep 600", within: 1).contains("did not exit within 1 second"))
        #expect(failure("exec >&- 2>&-; sleep 600", within: 1).contains("did not exit within 1 second"))
    }

    @Test func `signals during the wait neither end nor lengthen it`() {
        signal(SIGURG) { _ in }
        let thread = pthread_self()
        let isDone = Mutex(false)
        let sender = Thread {
            while !isDone.withLock({ $0 }) {
                pthread_kill(thread, SIGURG)
                usleep(1000)
            }
        }
        sender.start()
        let begin = ContinuousClock.now
        let found = failure("printf 1234; sleep 600", within: 1)
        isDone.withLock { $0 = true }
        while !sender.isFinished { usleep(1000) }
        #expect(found.contains("did not exit within 1 second"), "\(found)")
        #expect(ContinuousClock.now - begin < .seconds(5))
    }

    @Test func `a missing program is reported as such`() {
        let found = refusal { try MasterKey.load(from: ["/nowhere/at-all"], within: 5) }?.detail ?? "none"
        #expect(found.contains("/nowhere/at-all cannot be run: No such file"), "\(found)")
    }
}
