import FoundationEssentials

/// The textual encoding of RFC 7468: 64 characters a line.
package enum PEM {
    package static func encode(_ der: some Sequence<UInt8>, label: String) -> String {
        let base64 = Data(der).base64EncodedString()
        var text = "-----BEGIN \(label)-----\n"
        var rest = Substring(base64)
        while !rest.isEmpty {
            text += rest.prefix(64)
            text += "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }
}
