import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Inspecting a token without a key")
struct InspectionTests {
    @Test("An inspection contains the certificates with their OIDs and dates, and the signing time")
    func minted() throws {
        let token = try TestMint(applicationData: "order 4711").token()
        let inspection = token.inspection()
        #expect(inspection.transactionId == token.transactionId.hex)
        #expect(inspection.publicKeyHash == token.publicKeyHashBase64)
        #expect(inspection.applicationDataHash?.utf8.count == 64)
        #expect(inspection.ciphertextLength == TestMint.plaintext.utf8.count)
        #expect(inspection.signingTime == TestMint.signedAt.date)
        #expect(inspection.certificates.map(\.subject) == ["ecc-smp-broker-sign_UC4-PROD", "Test Integration CA"])
        #expect(inspection.certificates.map(\.issuer) == ["Test Integration CA", "Test Root CA"])
        #expect(inspection.certificates[0].serialNumber == "21")
        #expect(inspection.certificates[0].extensionOIDs.contains(TestAuthority.leafMarker))
        #expect(inspection.certificates[1].extensionOIDs.contains(TestAuthority.intermediateMarker))
        #expect(inspection.certificates[0].notAfter == Timestamp(rfc3339: "2030-01-01T00:00:00Z")?.date)
    }

    @Test("An inspection of an unreadable signature contains no certificates and no signing time")
    func unreadable() throws {
        var parts = try TestMint().parts()
        parts.signature = [UInt8](repeating: 7, count: 100)
        let inspection = try parts.token().inspection()
        #expect(inspection.signingTime == nil)
        #expect(inspection.certificates == [])
        #expect(inspection.signatureLength == 100)
    }

    @Test(
        "An inspection of a real token contains Apple's intermediate",
        .enabled(if: Fixture.areAvailable, "MERCHANTKEYD_FIXTURES is not set"),
        arguments: Fixture.all)
    func real(_ fixture: Fixture) throws {
        let inspection = try fixture.token().inspection()
        #expect(inspection.signingTime == (try fixture.signedAt().date))
        #expect(
            inspection.certificates.map(\.sha256Fingerprint).last
                == "a64b099dbd73ebb036b4204e1675e8aa821637d09b84980899104ad59d664a3b")
    }
}
