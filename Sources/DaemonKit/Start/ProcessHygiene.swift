import CLinux
import Glibc

/// Keeps the process's memory to itself.
enum ProcessHygiene {
    /// No core dumps, and no reading of our memory by others of our uid.
    ///
    /// - Returns: what could not be done, in words for the log.
    static func apply() -> [String] {
        var complaints: [String] = []
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 {
            complaints.append("core dumps could not be switched off")
        }
        if clinux_make_undumpable() != 0 { complaints.append("the process could not be made undumpable") }
        return complaints
    }
}
