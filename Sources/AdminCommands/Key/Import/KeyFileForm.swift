import FoundationEssentials

/// Checks the form of a private key file, PEM or PKCS#12, for a dry run. Decrypts nothing, so the daemon can still
/// refuse a file whose form is valid.
enum KeyFileForm {
    /// - Returns: why the daemon will refuse the file; nil if its form is valid.
    static func fault(_ file: Data, hasPassphrase: Bool) -> String? {
        let text = String(decoding: file, as: UTF8.self)
        return text.contains("-----BEGIN ")
            ? faultOfPEM(text, hasPassphrase: hasPassphrase) : faultOfPKCS12(Array(file))
    }

    // MARK: PEM, RFC 7468

    private static let keyLabels: Set<Substring> = [
        "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY",
    ]
    private static let expectedLabels = "PKCS#8, SEC 1 or PKCS#1"

    private static func faultOfPEM(_ text: String, hasPassphrase: Bool) -> String? {
        let incomplete = "the file has a PEM block that is incomplete or not Base64"
        var keyCount = 0
        /// The label of the current block; nil between two blocks.
        var label: Substring?
        var base64 = ""
        for line in text.split(whereSeparator: \.isNewline) {
            guard let current = label else {
                label = self.label(ofBeginning: line)
                base64 = ""
                continue
            }
            if line.hasPrefix("-----END \(current)-----") {
                guard !base64.isEmpty, Data(base64Encoded: base64) != nil else { return incomplete }
                label = nil
                guard current.hasSuffix("PRIVATE KEY") else { continue }
                keyCount += 1
                guard keyLabels.contains(current) else {
                    return "the file has a private key of the form '\(current)', expected \(expectedLabels)"
                }
                if current == "ENCRYPTED PRIVATE KEY", !hasPassphrase { return missingPassphrase }
            } else if line.contains(":") {
                // A header of RFC 1421, before the Base64 text.
                if line.hasPrefix("Proc-Type:"), line.contains("ENCRYPTED"), !hasPassphrase { return missingPassphrase }
            } else {
                for character in line where !character.isWhitespace { base64.append(character) }
            }
        }
        guard label == nil else { return incomplete }
        return keyCount == 1 ? nil : "the file has \(keyCount) private keys in PEM, expected one"
    }

    private static let missingPassphrase = "the private key is encrypted; name its passphrase with --passphrase-file"

    /// - Returns: nil if the line does not begin a block.
    private static func label(ofBeginning line: Substring) -> Substring? {
        let begin = "-----BEGIN "
        guard line.hasPrefix(begin), let end = line.dropFirst(begin.count).firstRange(of: "-----") else { return nil }
        return line.dropFirst(begin.count)[..<end.lowerBound]
    }

    // MARK: PKCS#12, RFC 7292

    /// A PKCS#12 file is a SEQUENCE that begins with the INTEGER 3, the version.
    private static func faultOfPKCS12(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 2, bytes[0] == 0x30 else { return "the file is neither PEM nor PKCS#12" }
        // Below 0x80: the length itself. 0x80: an indefinite length. Above: the number of bytes that contain the
        // length.
        let lengthBytes = bytes[1] > 0x80 ? Int(bytes[1] & 0x7f) : 0
        guard lengthBytes <= 4, bytes.dropFirst(2 + lengthBytes).starts(with: [0x02, 0x01, 0x03]) else {
            return "the file is neither PEM nor PKCS#12"
        }
        guard bytes[1] != 0x80 else { return nil }
        let length =
            lengthBytes == 0
            ? Int(bytes[1]) : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
        let expected = 2 + lengthBytes + length
        return bytes.count == expected
            ? nil
            : "the file has \(bytes.count) bytes, but its PKCS#12 header states \(expected) bytes: it is damaged or incomplete"
    }
}
