/// The associated data of an AES-GCM encryption: an encoded list of fields. Decryption succeeds only with the same
/// fields. Each field is preceded by its length, so that two different lists of fields never have the same bytes.
struct AssociatedData {
    private(set) var bytes: [UInt8] = []

    /// - Parameter label: the first field. It names the type of the encrypted data, so that data of one type cannot be
    ///   decrypted as data of another type.
    init(label: String) {
        append(label)
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Appends the number as a field of eight bytes, big-endian.
    mutating func append(_ number: Int) {
        append((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
    }

    mutating func append(_ field: [UInt8]) {
        let count = UInt32(field.count)  // fields are identifiers and digests, far below 2^32 bytes
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        bytes += field
    }
}
