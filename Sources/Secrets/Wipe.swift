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

// MARK: - Memory that others hold too

extension Wipe {
    /// Overwrites the memory behind an array for everybody who shares it. Only when nobody reads it any more.
    package static func sharedBytes(of array: [UInt8]) { array.withUnsafeBytes(overwrite) }

    /// As above, for a string that was made while the program ran: a literal's memory cannot be written.
    package static func sharedBytes(of text: String) {
        _ = text.utf8.withContiguousStorageIfAvailable { overwrite(UnsafeRawBufferPointer($0)) }
    }

    /// As above, for memory that is lent as if it were not to be written.
    package static func overwrite(_ bytes: UnsafeRawBufferPointer) {
        if let start = bytes.baseAddress { explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}
