import Foundation
import SandboxKit
import Vocabulary

/// What one client was told was done, and what it asked for and was not told of: to be held against the daemon later.
final class Ledger: @unchecked Sendable {
    // Proof for @unchecked Sendable: one thread fills it, and it is read after that thread has ended.

    /// A key pair's state as it was acknowledged, and the one it may have come to since.
    struct Entry {
        var acknowledged: String
        var asked: String?
    }

    private(set) var merchants: [String] = []
    private(set) var keys: [String: (merchant: String, entry: Entry)] = [:]
    /// How many requests were answered with success.
    private(set) var acknowledged = 0
    /// Answers that were neither success nor the end.
    private(set) var strange: [String] = []

    private let socket: String
    private let prefix: String
    private let authority: SandboxAuthority

    init(socket: String, prefix: String, authority: SandboxAuthority) {
        self.socket = socket
        self.prefix = prefix
        self.authority = authority
    }

    /// Onboards merchants, rolls and revokes their keys, until the daemon is gone.
    func work() {
        guard let client = try? LoadClient(socket) else { return }
        for number in 0... {
            guard (try? onboard("\(prefix).m\(number)", client)) != nil else { return }
        }
    }

    private func onboard(_ merchant: String, _ client: LoadClient) throws {
        _ = try done(client, "POST", "/v1/merchants", Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8))
        merchants.append(merchant)
        let first = try certified(merchant, client)
        try move([first: "current"], client, "promote", first)
        let second = try certified(merchant, client)
        try move([second: "current", first: "retiring"], client, "promote", second)
        try move([first: "revoked"], client, "revoke", first, #"{"reason": "rolled"}"#)
    }

    /// - Returns: the publicKeyHash of a new key pair with its certificate.
    private func certified(_ merchant: String, _ client: LoadClient) throws -> String {
        let made = try done(client, "POST", "/v1/merchants/\(merchant)/keys")
        guard let hash = made["publicKeyHash"] as? String, let csr = made["csr"] as? String,
            let identifier = MerchantIdentifier(merchant)
        else { throw LoadClient.Gone() }
        keys[hash] = (merchant, Entry(acknowledged: "pending", asked: "standby"))
        let certificate = try authority.issue(
            csr: Array(csr.utf8), merchant: identifier, notBefore: Timestamp(Date()).adding(.seconds(-60)))
        _ = try done(client, "POST", "/v1/merchants/\(merchant)/certificates", certificate)
        keys[hash]?.entry = Entry(acknowledged: "standby")
        return hash
    }

    private func move(
        _ states: [String: String], _ client: LoadClient, _ verb: String, _ hash: String, _ body: String = ""
    ) throws {
        for (key, state) in states { keys[key]?.entry.asked = state }
        _ = try done(client, "POST", "/v1/keys/\(pathSpelling(hash))/\(verb)", Array(body.utf8))
        for (key, state) in states { keys[key]?.entry = Entry(acknowledged: state) }
    }

    private func done(
        _ client: LoadClient, _ method: String, _ path: String, _ body: [UInt8] = []
    ) throws -> [String: Any] {
        let (status, object) = try client.object(method, path, body)
        guard (200...201).contains(status) else {
            strange.append("\(method) \(path): \(status) \(object["detail"] ?? "")")
            throw LoadClient.Gone()
        }
        acknowledged += 1
        return object
    }

    /// - Returns: what the daemon does not hold as it was acknowledged.
    func missing(by client: LoadClient) throws -> [String] {
        var findings = strange
        for merchant in merchants {
            let (status, page) = try client.object("GET", "/v1/merchants/\(merchant)/keys?limit=1000")
            guard status == 200, let items = page["items"] as? [[String: Any]] else {
                findings.append("\(merchant) was acknowledged and is not there: \(status)")
                continue
            }
            var found: [String: [String: Any]] = [:]
            for item in items { found[item["publicKeyHash"] as? String ?? ""] = item }
            if items.count(where: { $0["state"] as? String == "current" }) > 1 {
                findings.append("\(merchant) has two current keys")
            }
            for (hash, key) in keys where key.merchant == merchant {
                let state = found[hash]?["state"] as? String ?? "not there"
                guard state == key.entry.acknowledged || state == key.entry.asked else {
                    findings.append("\(hash) was acknowledged as \(key.entry.acknowledged) and is \(state)")
                    continue
                }
                let certificates = found[hash]?["certificates"] as? [[String: Any]] ?? []
                if certificates.isEmpty != (state == "pending") {
                    findings.append("\(hash) is \(state) and has \(certificates.count) certificates")
                }
            }
            let promoted = keys.values.filter { $0.merchant == merchant && $0.entry.asked == "current" }
            // A promotion and what it supersedes are one change.
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
