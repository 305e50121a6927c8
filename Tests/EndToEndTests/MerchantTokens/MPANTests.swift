import Foundation
import MerchantTestSupport
import Testing

/// The account number of a merchant token: with `store-mpan` it is sealed in the database and read on the decryptor
/// socket. Without the setting it is not stored.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct MPANTests {
    private static let merchant = "merchant.com.example.subscription"
    private static let token = "DAPLMC0001"
    /// A card number for tests, which appears nowhere else.
    private static let mpan = "5204247750002586"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    /// Starts the daemon, and delivers an event with an account number.
    private func start(_ apple: ApplePeer, _ webhook: WebhookReceiver, _ settings: String...) throws {
        try installation.start(
            config: installation.subscriptionSettings(apple, webhook, port: Installation.freePort(), settings))
        try installation.addWithIdentity(Installation.integrator)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key")
        let event = try apple.createEvent(
            "UPDATED_METADATA", of: Self.token, Self.merchant,
            [
                "tokenNotificationURL": installation.notificationURL(Self.merchant),
                "encryptedMetadata": [
                    "certificate": installation.path("key.cer"), "mpan": Self.mpan, "mpanId": "mpan-2",
                    "expirationDate": "310630",
                ],
            ])
        let delivery = try webhook.delivery(of: event, to: installation)
        #expect(delivery.mpanIdentifier == "mpan-2")
    }

    /// The response of the decryptor socket.
    private func response() throws -> [String: Any] {
        let outcome = try installation.curlBody(
            installation.decryptorSocket, "/v1/merchant-tokens/\(Self.token)/mpan")
        let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(json as? [String: Any], "\(outcome.output)")
    }

    @Test(.onlyOnSQLite, arguments: ApplePeer.Kind.allCases)
    func `the account number that Apple encrypted is read back, also after a rotation, and erased by an unlink`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        try start(apple, webhook, "store-mpan: true")
        for reads in 1...2 {
            let response = try response()
            #expect(response["mpan"] as? String == Self.mpan && response.count == 2, "\(response.keys)")
            #expect(response["merchantTokenIdentifier"] as? String == Self.token)
            let audit = try installation.auditRecords("mpanRead")
            #expect(audit.count == reads)
            #expect(audit.allSatisfy { $0["reason"] as? String == "merchantTokenIdentifier=\(Self.token)" })
            guard reads == 1 else { break }
            #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        }
        let backup = try installation.ctl("backup", "create", installation.path("state/mpan.backup"))
        #expect(backup.status == 0, "\(backup.error)")
        try expectNoAccountNumber(in: webhook)

        #expect(try installation.ctl("merchant-token", "unlink", Self.token, "--yes").status == 0)
        #expect(try response()["code"] as? String == "mpanNotStored")
        #expect(try installation.auditRecords("mpanRead").count == 2)
        installation.stop()
        #expect(try installation.sql("SELECT erased, sealed_bytes = zeroblob(48) FROM sealed_mpans") == "1 1")
    }

    @Test(.onlyOnSQLite) func `without the setting the account number is not stored`() throws {
        let apple = try ApplePeer(.sandbox, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        try start(apple, webhook)
        #expect(try response()["code"] as? String == "mpanNotStored")
        try expectNoAccountNumber(in: webhook)
        installation.stop()
        #expect(try installation.sql("SELECT count(*) FROM sealed_mpans") == "0")
    }

    /// Expects that no file of the daemon, no output of these commands and no delivery contains the account number.
    private func expectNoAccountNumber(in webhook: WebhookReceiver) throws {
        #expect(!installation.log.contains(Self.mpan))
        #expect(try webhook.events().allSatisfy { !$0.text.contains(Self.mpan) })
        for command in [
            ["audit", "list", "--limit", "1000"], ["event", "list"], ["merchant-token", "show", Self.token],
        ] {
            let outcome = try Installation.run(
                ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json"]
                    + command)
            #expect(outcome.status == 0 && !outcome.output.contains(Self.mpan), "\(command) \(outcome.error)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        #expect(files.contains("merchantkeyd.sqlite"))
        for file in files {
            // A socket cannot be read.
            guard let bytes = FileManager.default.contents(atPath: installation.path("state/\(file)")) else { continue }
            #expect(bytes.firstRange(of: Data(Self.mpan.utf8)) == nil, "\(file) contains an account number")
        }
    }
}
