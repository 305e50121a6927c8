import Crypto
import Foundation
import Glibc
import Testing

/// After an attempt, card numbers, names and keys are not in the daemon's memory, its files or its log.
@Suite(.enabled(if: MemorySearch.isPossible, "only root can read another process's memory"))
struct ErasedCardTests {
    private static let attempts = 5

    let issuer: IssuerInstallation
    private var installation: Installation { issuer.installation }

    init() throws { issuer = try IssuerInstallation() }

    /// The shared secret of an attempt, which only Apple can compute besides the daemon.
    private func sharedSecret(_ pass: [String: Any]) throws -> [UInt8] {
        let point = try #require(Data(base64Encoded: pass["ephemeralPublicKey"] as? String ?? ""))
        let pem = try String(
            contentsOfFile: installation.path("apple/provisioning-leaf.key.pem"), encoding: .utf8)
        let secret = try P256.KeyAgreement.PrivateKey(pemRepresentation: pem)
            .sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: point))
        return secret.withUnsafeBytes { Array($0) }
    }

    /// The AES key, by the single-step key derivation of EV_ECC_v2.
    private func symmetricKey(_ secret: [UInt8], _ pass: [String: Any]) throws -> [UInt8] {
        let point = try #require(Data(base64Encoded: pass["ephemeralPublicKey"] as? String ?? ""))
        var hasher = SHA256()
        for part in [[0, 0, 0, 1], secret, [13], Array("id-aes256-GCMApple".utf8), Array(point)] as [[UInt8]] {
            hasher.update(data: part)
        }
        return Array(hasher.finalize())
    }

    /// The environment variables that the systemd unit sets.
    private func unitEnvironment() throws -> [String: String] {
        let unit = URL(filePath: #filePath).appending(path: "../../../../etc/merchantkeyd.service").standardized
        let prefix = "Environment="
        let variables = try String(contentsOf: unit, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix(prefix)
        }
        .map { $0.dropFirst(prefix.count).split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(uniqueKeysWithValues: variables.map { ($0[0], $0[1]) })
    }

    @Test func `card data and keys are erased after encrypted and refused attempts`() throws {
        try issuer.write("audit-last-four-digits: true", "activation: {command: [/bin/sh, -c, 'cat >&2; exit 1']}")
        try issuer.start(environment: unitEnvironment())
        var search = MemorySearch()
        search.add("card number", Array(IssuerInstallation.cardNumber.utf8))
        search.add("cardholder", Array(IssuerInstallation.cardholder.utf8))
        var ephemeralKeys: [String: Data] = [:]
        for number in 1...Self.attempts {
            let pass = try issuer.send(issuer.request(nonce: "0000000\(number)"))
            try #require(pass["code"] == nil, "\(pass["detail"] ?? "")")
            ephemeralKeys["ephemeral key \(number)"] = Data(
                base64Encoded: pass["ephemeralPublicKey"] as? String ?? "")
            let secret = try sharedSecret(pass)
            search.add("shared secret \(number)", secret)
            search.add("shared secret \(number) backwards", secret.reversed())
            search.add("key \(number)", try symmetricKey(secret, pass))
        }
        let refused: [(String, (inout [String: Any]) -> Void)] = [
            ("nonceAlreadyClaimed", { $0["nonce"] = "00000001" }),
            ("provisioningDataInvalid", { $0["nonce"] = "00" }),
            ("provisioningDataInvalid", { $0["certificates"] = [] as [String] }),
            ("malformed", { $0["network"] = IssuerInstallation.cardNumber }),
            ("malformed", { $0[IssuerInstallation.cardNumber] = IssuerInstallation.cardholder }),
            ("activationFailed", { $0["activationData"] = nil }),
        ]
        for (code, change) in refused {
            #expect(try issuer.code(issuer.request(nonce: "00000009", change)) == code)
        }
        let process = try #require(installation.process)
        #expect(try search.findings(inMemoryOf: process) == [])
        try #require(ephemeralKeys.count == Self.attempts)
        #expect(try PrivateKeySearch(of: ephemeralKeys).findings(inMemoryOf: process) == [])
        #expect(try installation.diagnose().outcome("core dumps") == "success")
        installation.stop()
        #expect(try search.findings(inFilesBelow: installation.stateDirectory) == [])
        #expect(try search.findings(inFile: installation.path("daemon.log")) == [])
    }

    /// Without this test, a search that finds nothing would prove nothing.
    @Test(arguments: [false, true], [8, (1 << 20) - 16, (3 << 20) - 8])
    func `a private key in memory is found, in either byte order and on the border of two reads`(
        isReversed: Bool, offset: Int
    ) throws {
        let size = 4 << 20
        let number = Array(SHA256.hash(data: Data("a private key".utf8)))
        let (key, other) = (
            try P256.KeyAgreement.PrivateKey(rawRepresentation: number), P256.KeyAgreement.PrivateKey()
        )
        let search = PrivateKeySearch(of: [
            "key": key.publicKey.x963Representation, "other": other.publicKey.x963Representation,
        ])
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        let start = UInt64(UInt(bitPattern: memory.baseAddress))
        let range = start..<start + UInt64(size)
        #expect(try search.findings(inMemoryOf: getpid(), within: range) == [])
        UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + number.count])
            .copyBytes(from: isReversed ? number.reversed() : number)
        #expect(try search.findings(inMemoryOf: getpid(), within: range) == ["key"])
    }
}
