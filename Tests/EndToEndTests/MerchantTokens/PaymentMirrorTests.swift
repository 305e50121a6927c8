import Foundation
import MerchantTestSupport
import Testing

/// The merchant tokens of decrypted payment tokens in the daemon's mirror, without any event from Apple.
@Suite struct PaymentMirrorTests {
    private static let merchant = "merchant.com.example.subscription"
    private static let token = "DAPLMC0001"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    private func start(recordsPayments: Bool?) throws {
        let setting = recordsPayments.map { "merchant-tokens: {record-payments: \($0)}\n" } ?? ""
        try installation.start(
            config: installation.write(
                "environment: sandbox\ntrust:\n  token-roots: [\(installation.path("apple/root.pem"))]\n\(setting)",
                "config.yaml"))
    }

    /// Starts the daemon with a merchant, and decrypts a payment token that contains a merchant token.
    private func pay(recordsPayments: Bool?) throws {
        try start(recordsPayments: recordsPayments)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key")
        try installation.apple(
            "mint-token", "--certificate", installation.path("key.cer"), "--merchant-token", Self.token, "--out",
            installation.path("token.json"))
        #expect(try show().refusalCode == "merchantTokenNotFound")
        let paid = try installation.ctl(
            "token", "decrypt", installation.path("token.json"), "--merchant", Self.merchant, "--raw")
        #expect(paid.status == 0, "\(paid.error)")
        #expect(try paid.text("merchantTokenIdentifier") == Self.token)
    }

    private func show() throws -> Installation.Outcome {
        try installation.ctl("--output", "json", "merchant-token", "show", Self.token)
    }

    private func expectLinkedToken() throws {
        let shown = try show()
        #expect(try shown.text("merchantTokenIdentifier") == Self.token)
        #expect(try shown.text("merchantIdentifier") == Self.merchant)
        #expect(try shown.text("state") == "linked")
        #expect(try shown.json()["lastEvent"] == nil)
    }

    @Test func `the merchant token of a decrypted payment token enters the mirror without an event from Apple`() throws
    {
        try pay(recordsPayments: nil)
        try installation.eventually("the merchant token is in the mirror", within: .seconds(30)) {
            try show().status == 0
        }
        try expectLinkedToken()
    }

    // The daemon stores the payments of the last seconds when it shuts down, so after a clean shutdown no payment
    // can still be missing from the mirror.
    @Test(arguments: [true, false])
    func `a payment before a shutdown enters the mirror, unless record-payments is false`(
        recordsPayments: Bool
    ) throws {
        try pay(recordsPayments: recordsPayments)
        #expect(installation.stop() == 0)
        try start(recordsPayments: nil)
        if recordsPayments {
            try expectLinkedToken()
        } else {
            let shown = try show()
            #expect(shown.status != 0 && shown.refusalCode == "merchantTokenNotFound", "\(shown.error)")
            #expect(Installation.items(try installation.ctlJSON("merchant-token", "list")["items"]).isEmpty)
        }
    }
}
