import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// Many key pairs of many merchants, which a running daemon generates. Some of them get certificates.
struct KeyPopulation {
    private static let keysPerMerchant = 50
    private static let clients = 8

    /// The publicKeyHash of each key pair with a certificate.
    let certified: [String]

    /// - Parameters:
    ///   - count: how many key pairs.
    ///   - certified: how many of them get a certificate, rounded up to the same number for each merchant.
    init(_ count: Int, certified: Int, by socket: String) throws {
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        let merchants = (count + Self.keysPerMerchant - 1) / Self.keysPerMerchant
        let hashes = Guarded<[String]>([])
        let failures = Guarded<[String]>([])
        let certifiedPerMerchant = (certified + merchants - 1) / merchants
        let threads = (0..<Self.clients).map { client in
            BackgroundThread {
                do {
                    let load = try LoadClient(socket)
                    for merchant in stride(from: client, to: merchants, by: Self.clients) {
                        let keys = min(Self.keysPerMerchant, count - merchant * Self.keysPerMerchant)
                        let new = try Self.onboard(
                            "merchant.com.many.m\(merchant)", keys, certifiedPerMerchant, load, authority)
                        hashes.update { $0 += new }
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
        _ = try post(client, "/v1/merchants", #"{"merchantIdentifier": "\#(merchant)"}"#)
        let identifier = try #require(MerchantIdentifier(merchant))
        return try (0..<keys).compactMap { number in
            let generated = try post(client, "/v1/merchants/\(merchant)/keys", "{}")
            guard number < certified, let csr = generated["csr"] as? String else { return nil }
            let certificate = try authority.issue(
                csr: Array(csr.utf8), merchant: identifier, notBefore: Timestamp(Date()).adding(.seconds(-60)))
            let (status, _) = try client.object("POST", "/v1/merchants/\(merchant)/certificates", certificate)
            #expect(status == 200 || status == 201)
            return generated["publicKeyHash"] as? String
        }
    }

    private static func post(_ client: LoadClient, _ path: String, _ body: String) throws -> [String: Any] {
        let (status, object) = try client.object("POST", path, Array(body.utf8))
        try #require((200...201).contains(status), "\(path): \(status) \(object)")
        return object
    }

    /// Restores a symmetric key with each certified key pair, always from the same ephemeral public key.
    ///
    /// - Returns: the symmetric key by publicKeyHash; for a refused request, the status and code instead.
    func symmetricKeys(by socket: String) throws -> [String: String] {
        let client = try LoadClient(socket)
        var keys: [String: String] = [:]
        for hash in certified { keys[hash] = try Self.symmetricKey(of: hash, client) }
        return keys
    }

    static func symmetricKey(of hash: String, _ client: LoadClient) throws -> String {
        let (status, answer) = try client.object(
            "POST", "/v1/keys/\(pathSpelling(hash))/symmetric-key", Array(Installation.ephemeral.utf8))
        return status == 200
            ? answer["symmetricKey"] as? String ?? "no symmetricKey" : "\(status) \(answer["code"] ?? "")"
    }
}
