import FoundationEssentials

/// The textual encoding of RFC 7468, with 64 characters in each line.
package enum PEM {
    package static func encode(_ der: [UInt8], label: String) -> String {
        // `Data` inserts the line ends, because splitting a `String` into lines is slower. The decryptor server
        // encodes a certificate for each requested key that is not in its cache. This initializer of `Data` is faster
        // than the generic one, which looks up the type of its argument at run time.
        let bytes = der.withUnsafeBytes { der in der.baseAddress.map { Data(bytes: $0, count: der.count) } ?? Data() }
        let lines = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\(lines.isEmpty ? "" : "\n")-----END \(label)-----\n"
    }
}
