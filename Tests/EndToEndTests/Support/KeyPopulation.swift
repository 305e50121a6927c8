import Foundation
import SandboxKit
import Testing
import Vocabulary

/// Many key pairs of many merchants, made by a running daemon, some of them with certificates.
struct KeyPopulation {
    private static let keysOfAMerchant = 50
    private static let clients = 8

    /// The publicKeyHash of each with a certificate.
    let certified: [String]

    /// - Parameters:
    ///   - count: how many key pairs.
    ///   - certified: how many of them get a certificate.
    init(_ count: Int, certified: Int, by socket: String) throws {
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        let merchants = (count + Self.keysOfAMerchant - 1) / Self.keysOfAMerchant
        let hashes = Guarded<[String]>([])
        let failures = Guarded<[String]>([])
        let certifiedOfAMerchant = (certified + merchants - 1) / merchants
        let threads = (0..<Self.clients).map { client in
            Running {
                do {
                    let load = try LoadClient(socket)
                    for merchant in stride(from: client, to: merchants, by: Self.clients) {
                        let keys = min(Self.keysOfAMerchant, count - merchant * Self.keysOfAMerchant)
                        let made = try Self.onboard(
                            "merchant.com.many.m\(merchant)", keys, certifiedOfAMerchant, load, authority)
                        hashes.update { $0 += made }
                    }
                } catch { failures.update { $0.append("\(error)") } }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.value.isEmpty, "\(failures.value)")
        self.certified = hashes.value
    }

    private static func onboard(
        _ merchant: String, _ keys: Int, _ certified: Int, _ client: LoadClient, _ authority: SandboxAuthority
    ) throws -> [String] {
        _ = try done(client, "/v1/merchants", #"{"merchantIdentifier": "\#(merchant)"}"#)
        let identifier = try #require(MerchantIdentifier(merchant))
        return try (0..<keys).compactMap { number in
            let made = try done(client, "/v1/merchants/\(merchant)/keys", "{}")
            guard number < certified, let csr = made["csr"] as? String else { return nil }
            let certificate = try authority.issue(
                csr: Array(csr.utf8), merchant: identifier, notBefore: Timestamp(Date()).adding(.seconds(-60)))
            let (status, _) = try client.object("POST", "/v1/merchants/\(merchant)/certificates", certificate)
            #expect(status == 200 || status == 201)
            return made["publicKeyHash"] as? String
        }
    }

    private static func done(_ client: LoadClient, _ path: String, _ body: String) throws -> [String: Any] {
        let (status, object) = try client.object("POST", path, Array(body.utf8))
        try #require((200...201).contains(status), "\(path): \(status) \(object)")
        return object
    }

    /// Restores a symmetric key with each; all with the same other half.
    ///
    /// - Returns: by publicKeyHash, the key; what is no key says why.
    func symmetricKeys(by socket: String) throws -> [String: String] {
        let client = try LoadClient(socket)
        var keys: [String: String] = [:]
        for hash in certified { keys[hash] = try Self.symmetricKey(of: hash, client) }
        return keys
    }

    static func symmetricKey(of hash: String, _ client: LoadClient) throws -> String {
        let (status, answer) = try client.object(
            "POST", "/v1/keys/\(pathSpelling(hash))/symmetric-key", Array(Installation.ephemeral.utf8))
        return status == 200 ? answer["symmetricKey"] as? String ?? "none" : "\(status) \(answer["detail"] ?? "")"
    }
}
