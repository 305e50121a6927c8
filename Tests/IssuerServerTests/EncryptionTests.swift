import Foundation
import IssuerServer
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PassProvisioning
import SandboxKit
import Testing
import Vocabulary
import WireAPI

/// `POST /v1/in-app-provisioning/requests`.
@Suite struct EncryptionTests {
    @Test func `the response decrypts to the card data with nonce, signature and version`() async throws {
        try await TestIssuer().run { issuer in
            let reply = try await issuer.encrypt(issuer.body())
            try #require(reply.status == 200, "\(reply.text)")
            #expect(Set(reply.json.keys) == ["encryptedPassData", "ephemeralPublicKey", "activationData"])
            #expect(reply.string("activationData") == "T1RQLTEyMw==")
            let point = Data(base64Encoded: reply.string("ephemeralPublicKey") ?? "")
            #expect(point?.count == 65 && point?.first == 4)
            let plaintext = try issuer.plaintext(reply)
            let object = try JSONSerialization.jsonObject(with: Data(plaintext.utf8))
            let card = try #require(object as? [String: String])
            #expect(card["primaryAccountNumber"] == TestIssuer.cardNumber && card["name"] == TestIssuer.cardholder)
            #expect(card["nonce"] == "9c023092" && card["version"] == "1" && card["nonceSignature"]?.count == 162)
            #expect(issuer.count(.encrypted) == 1)
        }
    }

    @Test func `the certificates may come in either order`() async throws {
        try await TestIssuer().run { issuer in
            let body = try issuer.body { body in
                body["certificates"] = (body["certificates"] as? [String] ?? []).reversed() as [String]
            }
            let reply = try await issuer.encrypt(body)
            #expect(reply.status == 200, "\(reply.text)")
        }
    }

    @Test func `each response has its own ephemeral key`() async throws {
        try await TestIssuer().run { issuer in
            let first = try await issuer.encrypt(issuer.body(nonce: "00000001"))
            let second = try await issuer.encrypt(issuer.body(nonce: "00000002"))
            #expect(first.status == 200 && second.status == 200)
            #expect(first.string("ephemeralPublicKey") != second.string("ephemeralPublicKey"))
            #expect(first.string("encryptedPassData") != second.string("encryptedPassData"))
        }
    }

    @Test func `a nonce is accepted once, and a repeat gets no encrypted card data`() async throws {
        try await TestIssuer().run { issuer in
            let first = try await issuer.encrypt(issuer.body())
            #expect(first.status == 200)
            let repeated = try await issuer.encrypt(issuer.body())
            #expect(repeated.status == 409 && repeated.code == "nonceAlreadyClaimed")
            #expect(repeated.string("encryptedPassData") == nil)
            // The nonce in upper case is the same nonce.
            let upperCase = try await issuer.encrypt(issuer.body(nonce: "9C023092"))
            #expect(upperCase.status == 409)
            // Another device may have the same nonce: its signature differs.
            let other = try await issuer.encrypt(
                issuer.body { $0["nonceSignature"] = "40" + String(repeating: "5b", count: 80) })
            #expect(other.status == 200, "\(other.text)")
            #expect(issuer.count(.nonceAlreadyClaimed) == 2)
        }
    }

    @Test func `exactly one of simultaneous requests with the same nonce gets encrypted card data`() async throws {
        try await TestIssuer().run { issuer in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<24 { tasks.addTask { try await issuer.encrypt(issuer.body()).status } }
                return try await tasks.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 409 }.count == 23)
        }
    }

    @Test func `all faults of certificates, nonce and card are reported together; nothing is claimed`() async throws {
        try await TestIssuer(fault: .markerNotCritical).run { issuer in
            let reply = try await issuer.encrypt(
                issuer.body(nonce: "9c02") { body in
                    body["nonceSignature"] = "40"
                    body["card"] = [
                        "primaryAccountNumber": "5204740009900015", "expiration": "2030", "name": TestIssuer.cardholder,
                    ]
                })
            #expect(reply.status == 422 && reply.code == "provisioningDataInvalid")
            let codes = Set(reply.codes("findings"))
            #expect(codes.isSuperset(of: ["markerNotCritical", "nonceLength", "nonceSignatureLength"]))
            #expect(codes.isSuperset(of: ["cardNumberCheckDigit", "expirationForm"]))
            for code in codes { #expect(reply.string("detail")?.contains(code) == true) }
            #expect(!reply.text.contains("520474000990001") && !reply.text.contains(TestIssuer.cardholder))
            #expect(issuer.nonces.count == 0 && issuer.count(.dataInvalid) == 1)
            #expect(issuer.activation.questions.value.isEmpty)
        }
    }

    @Test(
        "a certificate with a fault is refused", arguments: ProvisioningCertificateFault.allCases)
    func certificateFault(fault: ProvisioningCertificateFault) async throws {
        try await TestIssuer(fault: fault).run { issuer in
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.status == 422 && reply.code == "provisioningDataInvalid")
            #expect(!reply.codes("findings").isEmpty && issuer.nonces.count == 0)
        }
    }

    @Test func `expired certificates are refused`() async throws {
        try await TestIssuer().run { issuer in
            issuer.clock.advance(by: .seconds(800 * 86_400))
            let expired = try await issuer.encrypt(issuer.body())
            #expect(expired.status == 422 && expired.code == "provisioningDataInvalid")
        }
    }

    @Test(
        "a body without a field, or with another type of value, is malformed, and no error quotes a value",
        arguments: [
            "certificates", "nonce", "nonceSignature", "configuration", "network", "card",
        ])
    func shape(field: String) async throws {
        try await TestIssuer().run { issuer in
            let wrong: [any Sendable] = [[TestIssuer.cardNumber: 1], true, TestIssuer.cardNumber + "x"]
            let missing = try await issuer.encrypt(issuer.body { $0[field] = nil })
            #expect(missing.status == 400 && missing.code == "malformed")
            for value in wrong {
                // A text is valid for these two fields; its content is not.
                let isText = ["nonce", "nonceSignature"].contains(field) && value is String
                let isObject = field == "card" && value is [String: Int]
                let reply = try await issuer.encrypt(issuer.body { $0[field] = value })
                #expect(reply.status == (isText || isObject ? 422 : 400), "\(field): \(reply.text)")
                #expect(!reply.text.contains(TestIssuer.cardNumber), "\(field)")
            }
            #expect(issuer.nonces.count == 0)
        }
    }

    @Test func `an unknown field is refused without its name, because it may be card data`() async throws {
        try await TestIssuer().run { issuer in
            let reply = try await issuer.encrypt(issuer.body { $0[TestIssuer.cardNumber] = TestIssuer.cardholder })
            #expect(reply.status == 400 && reply.code == "malformed")
            #expect(!reply.text.contains(TestIssuer.cardNumber) && !reply.text.contains(TestIssuer.cardholder))
        }
    }

    @Test func `while provisioning is switched off, every request is refused, also one that is not valid`() async throws
    {
        try await TestIssuer().run { issuer in
            issuer.policy.update { $0.isEnabled = false }
            issuer.changes.send()
            for nonce in ["9c023092", "invalid"] {
                let reply = try await issuer.encrypt(issuer.body(nonce: nonce))
                #expect(reply.status == 503 && reply.code == "provisioningDisabled")
            }
            #expect(issuer.nonces.count == 0 && issuer.count(.disabled) == 2)
            issuer.policy.update { $0.isEnabled = true }
            issuer.changes.send()
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.status == 200)
        }
    }

    @Test func `a configuration that cannot be checked is a warning`() async throws {
        try await TestIssuer().run { issuer in
            let reply = try await issuer.encrypt(
                issuer.body { body in
                    body["configuration"] = 2
                    body["network"] = "American Express"
                    body["card"] = [
                        "primaryAccountNumber": "370000000000002", "expiration": "12/49",
                        "name": TestIssuer.cardholder, "productType": "AMEX",
                    ]
                })
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.codes("warnings").contains("configurationNotValidated"))
        }
    }

    @Test func `an expired card is refused, and a number of another network is a warning`() async throws {
        try await TestIssuer().run { issuer in
            let expired = try await issuer.encrypt(
                issuer.body { body in
                    var card = body["card"] as? [String: any Sendable] ?? [:]
                    card["expiration"] = "12/20"
                    body["card"] = card
                })
            #expect(expired.status == 422)
            #expect(expired.codes("findings") == ["expirationPast"])
            let other = try await issuer.encrypt(issuer.body { $0["network"] = "Visa" })
            #expect(other.status == 200, "\(other.text)")
            #expect(Set(other.codes("warnings")) == ["configurationUnusual", "cardNumberOtherNetwork"])
        }
    }

    // MARK: Activation data

    @Test func `activation data of the request is returned, and the hook is not asked`() async throws {
        try await TestIssuer().run { issuer in
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.string("activationData") == "T1RQLTEyMw==" && reply.codes("warnings").isEmpty)
            #expect(issuer.activation.questions.value.isEmpty)
        }
    }

    @Test func `without activation data in the request, the hook is asked for it`() async throws {
        try await TestIssuer().run { issuer in
            issuer.activation.result.value = .success(Array("from the hook".utf8))
            let reply = try await issuer.encrypt(issuer.body(activationData: nil))
            #expect(reply.string("activationData") == Data("from the hook".utf8).base64EncodedString())
            let questions = issuer.activation.questions.value
            #expect(questions.count == 1 && questions.first?.network == .mastercard)
            #expect(questions.first?.nonce == "9c023092" && questions.first?.configuration == .cardNumber)
        }
    }

    @Test func `without activation data from the request or the hook, the response has a warning`() async throws {
        try await TestIssuer().run { issuer in
            let reply = try await issuer.encrypt(issuer.body(activationData: nil))
            #expect(reply.status == 200 && reply.string("activationData") == nil)
            #expect(reply.codes("warnings") == ["activationDataMissing"])
        }
    }

    @Test(
        "after a failed hook, the nonce can be used again",
        arguments: [(MerchantError.Code.activationFailed, 502), (MerchantError.Code.activationUnavailable, 503)])
    func failingHook(code: MerchantError.Code, status: Int) async throws {
        try await TestIssuer().run { issuer in
            issuer.activation.result.value = .failure(MerchantError(code, "the hook failed"))
            let refused = try await issuer.encrypt(issuer.body(activationData: nil))
            #expect(refused.status == status && refused.code == code.rawValue)
            #expect(issuer.nonces.count == 0 && issuer.count(.activationFailed) == 1)
            issuer.activation.result.value = .success([1])
            let reply = try await issuer.encrypt(issuer.body(activationData: nil))
            #expect(reply.status == 200)
        }
    }

    // MARK: Storage

    @Test func `if the claim cannot be stored, nothing is encrypted`() async throws {
        try await TestIssuer().run { issuer in
            issuer.nonces.fail(MerchantError(.storeUnavailable, "the disk is full"))
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.status == 503 && reply.code == "storeUnavailable")
            #expect(reply.string("encryptedPassData") == nil && issuer.count(.failed) == 1)
        }
    }

    @Test func `the audit has each attempt with its outcome, and of the card at most four digits`() async throws {
        try await TestIssuer().run { issuer in
            _ = try await issuer.encrypt(issuer.body())
            _ = try await issuer.encrypt(issuer.body())
            _ = try await issuer.encrypt(issuer.body(nonce: "invalid"))
            issuer.policy.update { $0.auditsLastFourDigits = true }
            _ = try await issuer.encrypt(issuer.body(nonce: "00000001"))
            let records = try await issuer.auditRecords()
            #expect(
                records.map(\.action) == [.cardDataEncrypted, .cardDataRefused, .cardDataRefused, .cardDataEncrypted])
            #expect(
                records.map(\.after) == ["encrypted", "provisioningDataInvalid", "nonceAlreadyClaimed", "encrypted"])
            for record in records {
                #expect(record.reason?.hasPrefix("network Mastercard, configuration 1") == true)
                #expect(record.caller.process != nil && record.requestId != nil)
                #expect(!"\(record)".contains(TestIssuer.cardNumber) && !"\(record)".contains(TestIssuer.cardholder))
            }
            #expect(records.first?.reason?.hasSuffix("card number ends with 0014") == true)
            #expect(records.last?.reason?.contains("0014") == false)
        }
    }

    @Test func `the log has no card data, activation data or nonce signature`() async throws {
        try await TestIssuer().run { issuer in
            _ = try await issuer.encrypt(issuer.body())
            _ = try await issuer.encrypt(issuer.body())
            _ = try await issuer.encrypt(issuer.body { $0["card"] = [TestIssuer.cardNumber: TestIssuer.cardholder] })
            issuer.activation.result.value = .failure(MerchantError(.activationFailed, "the hook failed"))
            _ = try await issuer.encrypt(issuer.body(nonce: "00000001", activationData: nil))
            let log = issuer.log.all.joined(separator: "\n")
            #expect(log.contains("card data encrypted for in-app provisioning") && log.contains("the hook failed"))
            for secret in [TestIssuer.cardNumber, TestIssuer.cardholder, "T1RQLTEyMw", "OTP-123", "5a5a5a"] {
                #expect(!log.contains(secret))
            }
        }
    }
}
