import Glibc

/// The machine that the process runs on.
package enum Machine {
    /// The time since the machine booted, including the time for which the machine was suspended. This time does not
    /// change when the machine's clock is set.
    package static var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The kernel's identifier of this boot; empty if the kernel does not provide it.
    package static let bootIdentifier: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, read(file, &bytes, bytes.count))
        return String(decoding: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}
