import Foundation
import SandboxKit
import Vocabulary

/// A client that onboards merchants and rolls their keys. It records which changes were
/// acknowledged and which were only requested, to compare them with the daemon's records later.
final class OnboardingWorker: @unchecked Sendable {
    // Proof for @unchecked Sendable: one thread fills it, and it is read after that thread has ended.

    /// The state of a key pair.
    struct Entry {
        var acknowledged: String
        /// The state that was requested, until the response arrives; the key pair may be in this state or in the
        /// acknowledged one.
        var requested: String?
    }

    private(set) var merchants: [String] = []
    private(set) var keys: [String: (merchant: String, entry: Entry)] = [:]
    /// The number of successful requests.
    private(set) var acknowledged = 0
    /// Responses that were not successful.
    private(set) var unexpected: [String] = []

    private let socket: String
    private let prefix: String
    private let authority: SandboxAuthority

    init(socket: String, prefix: String, authority: SandboxAuthority) {
        self.socket = socket
        self.prefix = prefix
        self.authority = authority
    }

    /// Onboards merchants, rolls and revokes their keys, until a request fails.
    func work() {
        guard let client = try? LoadClient(socket) else { return }
        for number in 0... {
            guard (try? onboard("\(prefix).m\(number)", client)) != nil else { return }
        }
    }

    private func onboard(_ merchant: String, _ client: LoadClient) throws {
        _ = try request(client, "POST", "/v1/merchants", Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8))
        merchants.append(merchant)
        let first = try certified(merchant, client)
        try transition([first: "current"], client, "promote", first)
        let second = try certified(merchant, client)
        try transition([second: "current", first: "retiring"], client, "promote", second)
        try transition([first: "revoked"], client, "revoke", first, #"{"reason": "rolled"}"#)
    }

    /// - Returns: the publicKeyHash of a new key pair with its certificate.
    private func certified(_ merchant: String, _ client: LoadClient) throws -> String {
        let generated = try request(client, "POST", "/v1/merchants/\(merchant)/keys")
        guard let hash = generated["publicKeyHash"] as? String, let csr = generated["csr"] as? String,
            let identifier = MerchantIdentifier(merchant)
        else { throw LoadClient.ConnectionLost() }
        keys[hash] = (merchant, Entry(acknowledged: "pending", requested: "standby"))
        let certificate = try authority.issue(
            csr: Array(csr.utf8), merchant: identifier, notBefore: Timestamp(Date()).adding(.seconds(-60)))
        _ = try request(client, "POST", "/v1/merchants/\(merchant)/certificates", certificate)
        keys[hash]?.entry = Entry(acknowledged: "standby")
        return hash
    }

    private func transition(
        _ states: [String: String], _ client: LoadClient, _ operation: String, _ hash: String, _ body: String = ""
    ) throws {
        for (key, state) in states { keys[key]?.entry.requested = state }
        _ = try request(client, "POST", "/v1/keys/\(pathSpelling(hash))/\(operation)", Array(body.utf8))
        for (key, state) in states { keys[key]?.entry = Entry(acknowledged: state) }
    }

    private func request(
        _ client: LoadClient, _ method: String, _ path: String, _ body: [UInt8] = []
    ) throws -> [String: Any] {
        let (status, object) = try client.object(method, path, body)
        guard (200...201).contains(status) else {
            unexpected.append("\(method) \(path): \(status) \(object["code"] ?? "")")
            throw LoadClient.ConnectionLost()
        }
        acknowledged += 1
        return object
    }

    /// - Returns: each unexpected response, and each difference between the daemon's records and what it acknowledged.
    func missing(by client: LoadClient) throws -> [String] {
        var findings = unexpected
        for merchant in merchants {
            let (status, page) = try client.object("GET", "/v1/merchants/\(merchant)/keys?limit=1000")
            guard status == 200, let items = page["items"] as? [[String: Any]] else {
                findings.append("\(merchant) was acknowledged and is missing: \(status)")
                continue
            }
            var found: [String: [String: Any]] = [:]
            for item in items { found[item["publicKeyHash"] as? String ?? ""] = item }
            if items.count(where: { $0["state"] as? String == "current" }) > 1 {
                findings.append("\(merchant) has two current keys")
            }
            for (hash, key) in keys where key.merchant == merchant {
                let state = found[hash]?["state"] as? String ?? "missing"
                guard state == key.entry.acknowledged || state == key.entry.requested else {
                    findings.append("\(hash) was acknowledged as \(key.entry.acknowledged) and is \(state)")
                    continue
                }
                let certificates = found[hash]?["certificates"] as? [[String: Any]] ?? []
                if certificates.isEmpty != (state == "pending") {
                    findings.append("\(hash) is \(state) and has \(certificates.count) certificates")
                }
            }
            let promoted = keys.values.filter { $0.merchant == merchant && $0.entry.requested == "current" }
            // One transaction makes the new key current and the former current key retiring.
            if promoted.count == 1, items.count == 2 {
                let states = Set(items.compactMap { $0["state"] as? String })
                if states != ["current", "standby"], states != ["current", "retiring"] {
                    findings.append("\(merchant) has half a promotion: \(states)")
                }
            }
        }
        return findings
    }
}
