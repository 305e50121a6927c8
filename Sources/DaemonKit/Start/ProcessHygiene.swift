import CLinux
import Glibc

/// Keeps the process's memory to itself.
enum ProcessHygiene {
    /// What ends the process where its own code is at fault.
    private static let crashes = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP]

    /// No core dumps, no reading of our memory by others of our uid, and no report of a crash: where Swift's own is installed,
    /// it prints registers and the memory they point to, and answers nobody meanwhile.
    ///
    /// - Returns: what could not be done, in words for the log.
    static func apply() -> [String] {
        var complaints: [String] = []
        for crash in crashes { signal(crash, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 {
            complaints.append("core dumps could not be switched off")
        }
        if clinux_make_undumpable() != 0 { complaints.append("the process could not be made undumpable") }
        return complaints
    }
}
