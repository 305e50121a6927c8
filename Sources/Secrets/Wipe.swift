package import FoundationEssentials
import Glibc

/// Overwrites copies that a library made us hold.
package enum Wipe {
    /// Overwrites the bytes in place. Pass the only reference: a shared buffer would be copied first, and the copy wiped.
    package static func bytes(_ data: inout Data) {
        data.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }

    /// As above, for an array.
    package static func bytes(_ array: inout [UInt8]) {
        array.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }
}
