package import EventDelivery
import MerchantCore
import Vocabulary

/// `events`: how long events are kept and which webhooks receive them.
package struct EventSettings: Sendable {
    package static let maximumWebhooks = 16

    package let retention: Duration
    package let webhooks: [Webhook]

    init(reading reader: SettingsReader) throws {
        let days = reader.value(
            "events.retention-days", .integer(in: 1...3_650), default: "400",
            "How many days an event is kept. An event that a webhook has not received yet is kept longer.")
        retention = .seconds(days * 86_400)
        webhooks =
            reader.table("events.webhooks", maximum: Self.maximumWebhooks, whenUnset: "none") {
                try Self.webhook($0, $1)
            } ?? []
        for (index, webhook) in webhooks.enumerated()
        where webhooks[..<index].contains(where: { $0.name == webhook.name }) {
            reader.record(
                "'events.webhooks' has two entries named '\(webhook.name)', expected a different 'name' for each")
        }
    }

    private static func webhook(_ entry: SettingsReader, _ path: String) throws -> Webhook {
        let name = entry.optional(
            "name", .text, whenUnset: "the URL's host", "The webhook's name in status, log and commands.")
        let url = entry.optional(
            "url", .text, whenUnset: "required", "The URL to which events are sent as POST requests; https only.")
        let secretFile = entry.optional(
            "secret-file", .text, whenUnset: "required",
            "A file with one or two secrets that sign events, each on a line of 16 to 1024 bytes; mode 0600 or 0640.")
        let allowsInternalAddresses = entry.value(
            "allow-internal-addresses", .boolean, default: "false",
            "Whether the URL may lead to this machine or a private network.")
        let kinds = entry.list(
            "kinds", SettingFormat<Event.Kind>.choice, whenUnset: "every kind",
            "The kinds of events that the webhook receives.")
        let rootFiles = entry.list(
            "trust-roots", .text, whenUnset: "the system's roots",
            "PEM files with the roots that the TLS certificate of the webhook's server must chain to.")

        func required(_ text: String?, _ field: String) throws -> String {
            guard let text, !text.isEmpty else { throw SettingsError("'\(path)' has no '\(field)'; add it") }
            return text
        }
        let address = entry.collect {
            do { return try WebhookAddress(try required(url, "url")) } catch let fault as WebhookConfigurationError {
                throw SettingsError("'\(path).url' \(fault)")
            }
        }
        if let shownName = name ?? address?.host {
            do { _ = try DisplayText(shownName, longest: 255) } catch { entry.record("'\(path).name' \(error)") }
        }
        if kinds == [] {
            entry.record("'\(path).kinds' is empty; name at least one kind, or remove the line to send every kind")
        }
        let roots = rootFiles?.map { file in
            entry.collect { try SmallFile.read(file, named: "'\(path).trust-roots' names \(file), which") }
        }
        let areRootsRead = roots?.allSatisfy { $0 != nil } ?? true
        let secretPath = entry.collect { try required(secretFile, "secret-file") }
        guard let address, let secretPath else { throw SettingsReader.ProblemsRecorded() }
        do {
            return try Webhook(
                name: name ?? address.host, address: address, secretFile: secretPath,
                kinds: kinds.map(Set.init), trustRoots: areRootsRead ? roots?.compactMap(\.self) : nil,
                allowsInternalAddresses: allowsInternalAddresses)
        } catch {
            throw SettingsError("the webhook '\(name ?? address.host)' ('\(path)') \(error)")
        }
    }
}
