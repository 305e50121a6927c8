import Crypto
import FoundationEssentials
import PassProvisioning
import SwiftASN1
import Testing
import X509

@Suite struct CertificateCheckTests {
    @Test(arguments: CertificateFault.all)
    func `a broken chain is refused with exactly its findings`(fault: CertificateFault) throws {
        var chain = try TestChain()
        try fault.change(&chain)
        let certificates = try ProvisioningCertificates(chain.sent())
        let trust = try chain.trust()
        #expect(certificates.findings(trust: trust, at: TestChain.now).map(\.kind) == fault.codes)
        let error = #expect(throws: CertificateFinding.self) {
            try certificates.verified(trust: trust, at: TestChain.now)
        }
        #expect(error?.kind == fault.codes.first)
    }

    @Test func `a valid chain is accepted in either order, and its leaf key is used`() throws {
        let chain = try TestChain()
        let trust = try chain.trust()
        let sent = try chain.sent()
        for (certificates, isSwapped) in [(sent, false), (Array(sent.reversed()), true)] {
            let parsed = try ProvisioningCertificates(certificates)
            #expect(parsed.findings(trust: trust, at: TestChain.now) == [])
            #expect(parsed.isSwapped == isSwapped)
            #expect(parsed.summary.isSwapped == isSwapped)
            #expect(parsed.summary.leaf.subject.contains(TestChain.leafName))
            #expect(parsed.summary.subCA.subject.contains(ProvisioningTrust.subCACommonName))
            let verified = try parsed.verified(trust: trust, at: TestChain.now)
            #expect(verified.leafPublicKey.x963Representation == chain.leafKey.publicKey.x963Representation)
        }
    }

    @Test(arguments: CertificateFault.all)
    func `the order of the certificates does not change the findings`(fault: CertificateFault) throws {
        var chain = try TestChain()
        try fault.change(&chain)
        let swapped = try ProvisioningCertificates(chain.sent().reversed())
        #expect(swapped.findings(trust: try chain.trust(), at: TestChain.now).map(\.kind) == fault.codes)
    }

    @Test(arguments: [KeyUsage(keyEncipherment: true), KeyUsage(keyAgreement: true)])
    func `one of the two key usages of Apple's leaf is enough`(usage: KeyUsage) throws {
        var chain = try TestChain()
        chain.leaf.keyUsage = usage
        #expect(try chain.findings() == [])
    }

    @Test func `the first and the last second of a validity period belong to it`() throws {
        let chain = try TestChain()
        #expect(try chain.findings(at: chain.leaf.notBefore) == [])
        #expect(try chain.findings(at: chain.leaf.notAfter) == [])
        #expect(try chain.findings(at: chain.leaf.notBefore - 1).map(\.kind) == [.notYetValid])
        #expect(try chain.findings(at: chain.leaf.notAfter + 1).map(\.kind) == [.expired])
    }

    @Test func `validity periods are not checked if the setting says so`() throws {
        let chain = try TestChain()
        let longAgo = Date(timeIntervalSince1970: 0)
        #expect(try chain.findings(validityPeriod: .ignored, at: longAgo) == [])
        #expect(try chain.findings(at: longAgo).map(\.kind) == [.notYetValid, .notYetValid, .notYetValid])
    }

    @Test func `test certificates are accepted only in the sandbox and under a configured root`() throws {
        var chain = try TestChain()
        chain.subCA.subject = "Test Apple Worldwide Developers Relations CA - ECC"
        chain.leaf.issuer = chain.subCA.subject
        chain.leaf.subject = "ecc-crypto-services-encipherment_UC6-InMemory"
        #expect(try chain.findings(.sandbox) == [])
        #expect(try chain.findings(.production).map(\.kind) == [.testCertificate, .testCertificate])
        let certificates = try ProvisioningCertificates(chain.sent())
        let apple = try ProvisioningTrust(environment: .sandbox)
        #expect(certificates.findings(trust: apple, at: TestChain.now).map(\.kind) == [.untrustedRoot])
    }

    @Test func `the sandbox also accepts the names of production`() throws {
        #expect(try TestChain().findings(.sandbox) == [])
    }

    @Test func `every finding of every fault has a code, a message and an action`() throws {
        var seen: Set<CertificateFinding.Code> = []
        for fault in CertificateFault.all {
            var chain = try TestChain()
            try fault.change(&chain)
            for finding in try chain.findings() {
                seen.insert(finding.kind)
                #expect(finding.code == finding.kind.rawValue)
                #expect(finding.description == "\(finding.message): \(finding.action)")
                #expect(!finding.message.isEmpty && !finding.message.hasSuffix("."))
                #expect(!finding.action.isEmpty && !finding.action.hasSuffix("."))
            }
        }
        // The faults cover every check of the chain. The other codes are about the reading of
        // certificates and roots.
        let foundWhileReading: [CertificateFinding.Code] = [
            .wrongCertificateCount, .sameCertificateTwice, .invalidBase64, .base64Twice, .base64InsteadOfDER,
            .pemInsteadOfDER, .malformedCertificate, .unsupportedAlgorithm, .noRoots, .malformedRoot, .notARoot,
        ]
        #expect(seen == Set(CertificateFinding.Code.allCases).subtracting(foundWhileReading))
    }
}
