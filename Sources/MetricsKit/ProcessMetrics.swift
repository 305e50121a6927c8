import Glibc

/// The standard metrics of a process, under the names that the client libraries of Prometheus use.
package struct ProcessMetrics: MetricsSource {
    private let startTimeSeconds: Int

    /// - Parameter startTimeSeconds: when the daemon started, in seconds since 1970.
    package init(startTimeSeconds: Int) { self.startTimeSeconds = startTimeSeconds }

    package func append(to page: inout MetricsText) {
        page.append(
            "process_cpu_seconds_total", .counter, "Processor time that the daemon has used, in user and system mode.",
            [.init(value: "\(Self.processorSeconds)")])
        let pages = Self.memoryPages()
        let pageSize = sysconf(CInt(_SC_PAGESIZE))
        page.append(
            gauge: "process_resident_memory_bytes", "Memory that the daemon uses.", pages.map { $0.resident * pageSize }
        )
        page.append(
            gauge: "process_virtual_memory_bytes", "Address space that the daemon has reserved.",
            pages.map { $0.total * pageSize })
        page.append(gauge: "process_open_fds", "Open file descriptors.", Self.openDescriptors())
        page.append(
            gauge: "process_max_fds", "The largest number of file descriptors that the daemon may open.",
            Self.maximumDescriptors)
        page.append(gauge: "process_start_time_seconds", "Time at which the daemon started.", startTimeSeconds)
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The size of the address space and of the resident memory, in pages, from proc(5).
    ///
    /// - Returns: nil if they cannot be read.
    private static func memoryPages() -> (total: Int, resident: Int)? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let numbers = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let total = Int(numbers[0]), let resident = Int(numbers[1]) else { return nil }
        return (total, resident)
    }

    /// - Returns: nil if the number cannot be read.
    private static func openDescriptors() -> Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the directory itself.
        return max(0, count - 3)
    }

    private static var maximumDescriptors: Int? {
        let limit = sysconf(CInt(_SC_OPEN_MAX))
        return limit > 0 ? limit : nil
    }
}
