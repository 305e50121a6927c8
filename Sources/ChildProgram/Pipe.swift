import Glibc

/// The two ends of a pipe. They are closed when the value is destroyed.
struct Pipe: ~Copyable {
    private(set) var reader: Int32
    private(set) var writer: Int32

    /// - Returns: nil if the pipe cannot be created; `errno` then says why.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
    }

    /// Does nothing if the end is closed already.
    mutating func closeReader() {
        if reader >= 0 { close(reader) }
        reader = -1
    }

    /// Does nothing if the end is closed already.
    mutating func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    deinit {
        if reader >= 0 { close(reader) }
        if writer >= 0 { close(writer) }
    }
}
