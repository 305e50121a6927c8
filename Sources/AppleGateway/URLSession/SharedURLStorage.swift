import FoundationNetworking
import Glibc

/// The storages for cookies and responses that `URLSession` uses by default. This program stores nothing in them.
package enum SharedURLStorage {
    /// The variables of the XDG Base Directory Specification from which Foundation derives the storages' directories.
    private static let variableNames = ["XDG_CACHE_HOME", "XDG_DATA_HOME"]

    /// Creates the storages without directories.
    ///
    /// On Linux, the first `URLSessionConfiguration` creates both storages, whatever its properties are set to later.
    /// Each storage creates a directory below `.cache` or `.local` in the user's home directory, which is the daemon's
    /// state directory. If the directory cannot be created, the storage works without one. So this method sets the
    /// variables to the path of a file while the storages are created. Then it restores the variables, because the
    /// programs that the daemon starts need the original values.
    ///
    /// Call this before another thread reads the environment.
    package static func createWithoutDirectories() {
        let values = variableNames.map { name in getenv(name).map { String(cString: $0) } }
        for name in variableNames { setenv(name, "/dev/null", 1) }
        _ = (URLCache.shared, HTTPCookieStorage.shared)
        for (name, value) in zip(variableNames, values) {
            if let value { setenv(name, value, 1) } else { unsetenv(name) }
        }
    }
}
