import ServerKit
import Vocabulary

/// An address on which a server listens: `HOST:PORT`. The host is an IPv4 address, an IPv6 address in brackets, or a
/// host name. With port 0, the kernel picks a free port.
package struct ListenAddress: TextValue {
    /// The host; an IPv6 address without its brackets.
    package let host: String
    package let port: Int

    package init?(text: String) {
        guard text.utf8.count <= 260, let colon = text.lastIndex(of: ":") else { return nil }
        let portText = text[text.index(after: colon)...]
        guard (1...5).contains(portText.utf8.count), portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(portText), port <= 65_535
        else { return nil }
        let hostText = text[..<colon]
        if hostText.first == "[" {
            guard hostText.last == "]", let address = RemoteAddress(String(hostText.dropFirst().dropLast())),
                hostText.contains(":")
            else { return nil }
            host = address.description
        } else {
            guard !hostText.isEmpty, hostText.utf8.allSatisfy(Self.isHostCharacter) else { return nil }
            host = String(hostText)
        }
        self.port = port
    }

    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(64))', expected HOST:PORT such as 0.0.0.0:8443 or [::1]:8443"
    }

    /// Whether a host name or an IPv4 address may contain the byte.
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
