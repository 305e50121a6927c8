import FoundationEssentials

/// The textual encoding of RFC 7468: 64 characters a line.
package enum PEM {
    package static func encode(_ der: some Sequence<UInt8>, label: String) -> String {
        // By bytes: characters of a string are found by walking through it, and every resolved key comes through here.
        let lines = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\(lines.isEmpty ? "" : "\n")-----END \(label)-----\n"
    }
}
