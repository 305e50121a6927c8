import Configuration
package import EventDelivery
import MerchantCore
import Vocabulary

/// The settings under `events`.
package struct EventSettings: Sendable {
    package static let mostWebhooks = 16

    package var retention: Duration
    package var webhooks: [Webhook]

    /// - Parameter count: how many webhooks the file has.
    static func read(_ reader: ConfigReader, webhooks count: Int) throws -> EventSettings {
        guard count <= mostWebhooks else {
            throw SettingsError("'events.webhooks' has \(count) entries, expected at most \(mostWebhooks)")
        }
        let webhooks = try (0..<count).map { try webhook(reader, "events.webhooks.\($0)") }
        for (index, webhook) in webhooks.enumerated()
        where webhooks[..<index].contains(where: { $0.name == webhook.name }) {
            throw SettingsError(
                "'events.webhooks' has two entries named '\(webhook.name)', expected a 'name' of its own for each")
        }
        return EventSettings(retention: try retention(reader), webhooks: webhooks)
    }

    private static func retention(_ reader: ConfigReader) throws -> Duration {
        guard let text = reader.string(forKey: "events.retention-days") else { return .seconds(400 * 86_400) }
        guard let days = Int(text), (1...3_650).contains(days) else {
            throw SettingsError("'events.retention-days' is '\(text)', expected 1 to 3650")
        }
        return .seconds(days * 86_400)
    }

    private static func webhook(_ reader: ConfigReader, _ path: String) throws -> Webhook {
        func required(_ field: String) throws -> String {
            guard let text = reader.string(forKey: ConfigKey("\(path).\(field)")), !text.isEmpty else {
                throw SettingsError("'\(path)' has no '\(field)', expected one")
            }
            return text
        }
        let address: WebhookAddress
        do { address = try WebhookAddress(try required("url")) } catch let fault as WebhookFault {
            throw SettingsError("'\(path).url' \(fault)")
        }
        let name = reader.string(forKey: ConfigKey("\(path).name"), default: address.host)
        do { _ = try DisplayText(name, longest: 255) } catch { throw SettingsError("'\(path).name' \(error)") }
        let roots = try reader.stringArray(forKey: ConfigKey("\(path).trust-roots")).map { files in
            try files.map { try SmallFile.read($0, named: "'\(path).trust-roots' names \($0), which") }
        }
        do {
            return try Webhook(
                name: name, address: address, secretFile: try required("secret-file"),
                kinds: try kinds(reader, path), trustRoots: roots,
                allowsInternalAddresses: try flag(reader, "\(path).allow-internal-addresses"))
        } catch let fault as WebhookFault {
            throw SettingsError("the webhook '\(name)' ('\(path)') \(fault)")
        }
    }

    private static func kinds(_ reader: ConfigReader, _ path: String) throws -> Set<Event.Kind>? {
        guard let names = reader.stringArray(forKey: ConfigKey("\(path).kinds")) else { return nil }
        let kinds = try names.map { name in
            guard let kind = Event.Kind(rawValue: name) else {
                throw SettingsError(
                    "'\(path).kinds' has '\(name)', expected some of \(Event.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            return kind
        }
        guard !kinds.isEmpty else {
            throw SettingsError("'\(path).kinds' is empty, expected at least one kind, or no such line for every kind")
        }
        return Set(kinds)
    }

    private static func flag(_ reader: ConfigReader, _ name: String) throws -> Bool {
        switch reader.string(forKey: ConfigKey(name)) {
        case nil, "false": return false
        case "true": return true
        case let text?: throw SettingsError("'\(name)' is '\(text)', expected true or false")
        }
    }
}
