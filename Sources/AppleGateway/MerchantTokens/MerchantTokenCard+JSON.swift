import MerchantCore
import StrictJSON

extension MerchantTokenCard {
    /// The entries of `cardArt` beyond this number are dropped. Apple specifies no limit.
    private static let maximumCardArt = 32

    /// Reads Apple's `merchantTokenMetadata`.
    ///
    /// A code that is longer than Apple's limit is dropped, because a truncated code has another meaning. A description
    /// is truncated.
    ///
    /// - Returns: nil if the metadata contains nothing about the card.
    init?(_ metadata: JSONObject) {
        let fields = metadata.object("cardMetadata") ?? JSONObject(members: [])
        self.init(
            cardCountry: fields.code("cardCountry", limit: 2), expirationDate: fields.code("expirationDate", limit: 8),
            fpanSuffix: fields.code("fpanSuffix", limit: 4),
            longDescription: fields.displayText("longDescription", limit: 128),
            shortDescription: fields.displayText("shortDescription", limit: 64),
            cardArt: Array(metadata.array("cardArt").lazy.compactMap(CardArt.init).prefix(Self.maximumCardArt)))
        if self == MerchantTokenCard() { return nil }
    }
}

extension MerchantTokenCard.CardArt {
    /// - Returns: nil for an entry that violates Apple's limits. Such an entry is dropped.
    fileprivate init?(_ value: JSONValue) {
        guard case .object(let entry) = value, let name = entry.code("name", limit: 64),
            let type = entry.code("type", limit: 64), let url = entry.code("url", limit: 128)
        else { return nil }
        self.init(name: name, type: type, url: url)
    }
}

extension JSONObject {
    func string(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    func object(_ name: String) -> JSONObject? {
        if case .object(let object)? = self[name] { object } else { nil }
    }

    func array(_ name: String) -> [JSONValue] {
        if case .array(let items)? = self[name] { items } else { [] }
    }

    /// A text that is shown to people: at most `limit` characters, with `?` for each control character.
    ///
    /// - Returns: nil if the field is missing or empty, or is not a string.
    func displayText(_ name: String, limit: Int) -> String? {
        guard let text = string(name), !text.isEmpty else { return nil }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit).map { $0.isControl ? "?" : $0 }))
    }

    /// A text that must not be truncated.
    ///
    /// - Returns: nil if the field is missing or empty, is not a string, has more than `limit` characters, or contains
    ///   a control character.
    fileprivate func code(_ name: String, limit: Int) -> String? {
        guard let text = string(name), (1...limit).contains(text.unicodeScalars.count),
            !text.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        return text
    }

    /// The first field that has the form of Apple's encrypted token metadata, as JSON; nil if there is none.
    ///
    /// The form is the only means to find this field, because Apple does not publish its name.
    var encryptedTokenMetadata: [UInt8]? {
        for member in members {
            if case .object(let object) = member.value, object.isEncryptedTokenMetadata {
                return Array(JSONText.compact(member.value).utf8)
            }
        }
        return nil
    }

    private var isEncryptedTokenMetadata: Bool {
        ["data", "publicKeyHash", "signature"].allSatisfy { string($0) != nil }
            && (string("ephemeralPublicKey") != nil || string("wrappedKey") != nil)
    }
}

extension Unicode.Scalar {
    /// Whether the character can change how a text around it is displayed: control and format characters.
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
