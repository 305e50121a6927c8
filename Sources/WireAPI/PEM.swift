import FoundationEssentials

/// The textual encoding of RFC 7468, with 64 characters in each line.
package enum PEM {
    package static func encode(_ der: some Sequence<UInt8>, label: String) -> String {
        // `Data` inserts the line ends, because splitting a `String` into lines is slower. The decryptor server
        // encodes a certificate for each requested key that is not in its cache.
        let lines = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\(lines.isEmpty ? "" : "\n")-----END \(label)-----\n"
    }
}
