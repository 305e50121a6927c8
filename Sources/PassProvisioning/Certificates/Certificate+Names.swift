import SwiftASN1
import Vocabulary
import X509

extension DistinguishedName {
    /// The maximum length of a name in a message, in characters.
    private static let longestText = 200

    /// The common names, in the order of the name.
    var commonNames: [String] {
        flatMap { part in
            part.filter { $0.type == .RDNAttributeType.commonName }.compactMap { String($0.value) }
        }
    }

    /// The name as text for messages, without control characters.
    var text: String { Self.displayed(description) }

    /// The common names as text for messages.
    var commonNameText: String { Self.displayed(commonNames.joined(separator: ", ")) }

    private static func displayed(_ text: String) -> String {
        String(text.printable(keepingLines: false).prefix(longestText))
    }
}
