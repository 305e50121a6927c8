import FoundationEssentials
import Glibc

extension Data {
    /// Writes every byte to a file descriptor.
    ///
    /// - Returns: 0, or errno if this failed.
    func write(to descriptor: Int32) -> Int32 {
        var rest = self
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
