import CLinux
import Glibc

/// Protects the process's memory, which contains keys, from other programs and from core dumps.
enum ProcessProtection {
    /// The signals for which Swift's crash reporter may have installed a handler.
    private static let crashSignals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP]

    /// Disables core dumps, access to the process's memory by other processes of the same user, and Swift's own crash
    /// reporter, which would print registers and the memory they point to.
    ///
    /// - Returns: what failed, for the log.
    static func apply() -> [String] {
        var failures: [String] = []
        // The default action terminates the process without Swift's crash reporter.
        for crashSignal in crashSignals { signal(crashSignal, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 {
            failures.append("core dumps could not be disabled")
        }
        if clinux_make_undumpable() != 0 { failures.append("the process could not be made undumpable") }
        return failures
    }
}
