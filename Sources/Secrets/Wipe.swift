package import FoundationEssentials
import Glibc

/// Overwrites secrets with zeros in types that do not do this themselves, such as `Data`, arrays and strings.
package enum Wipe {
    /// Overwrites the bytes in place. `data` must be the only reference to its buffer: otherwise copy-on-write makes a
    /// copy of the buffer, and only this copy is overwritten.
    package static func bytes(_ data: inout Data) {
        data.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }

    /// Overwrites the bytes in place. `array` must be the only reference to its buffer: otherwise copy-on-write makes a
    /// copy of the buffer, and only this copy is overwritten.
    package static func bytes(_ array: inout [UInt8]) {
        array.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }
}

// MARK: - Shared buffers

extension Wipe {
    /// Overwrites the buffer of an array without copy-on-write, so that every array that shares the buffer contains
    /// zeros. Call this only if no code reads these arrays again.
    package static func sharedBytes(of array: [UInt8]) { array.withUnsafeBytes(overwrite) }

    /// Overwrites the buffer of a string, so that every string that shares the buffer contains zeros. The string must
    /// not be a literal, because the memory of a literal is read-only. Strings of up to 15 bytes have no buffer and are
    /// not overwritten.
    package static func sharedBytes(of text: String) {
        _ = text.utf8.withContiguousStorageIfAvailable { overwrite(UnsafeRawBufferPointer($0)) }
    }

    /// Overwrites memory behind a read-only pointer. The memory itself must be writable.
    package static func overwrite(_ bytes: UnsafeRawBufferPointer) {
        if let start = bytes.baseAddress { explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}
