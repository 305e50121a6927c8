import MerchantCore
import Testing
import Vocabulary

@Suite struct RevocationRulesTests {
    func warningCount(_ state: KeyState, replacements: Int, active: Int, reason: String) throws -> Int {
        let keyPair = RollLifecycleTests.keyPair(PublicKeyHash(of: [1]), state)
        return try RevocationRules.check(
            keyPair, remaining: .init(replacements: replacements, active: active), target: 2, reason: reason
        ).count
    }

    @Test func `an active key without a replacement cannot be revoked, unless it is compromised`() throws {
        for active in 0...3 {
            let error = #expect(throws: MerchantError.self) {
                try warningCount(.retiring, replacements: 0, active: active, reason: "rolled")
            }
            #expect(error?.code == .lastActiveKey)
            #expect(try warningCount(.current, replacements: 0, active: active, reason: "compromised") > 0)
        }
    }

    @Test func `an active key's revocation that leaves fewer active keys than the target gives a warning`() throws {
        #expect(try warningCount(.current, replacements: 1, active: 1, reason: "r") == 1)
        #expect(try warningCount(.current, replacements: 1, active: 2, reason: "r") == 0)
        #expect(try warningCount(.pending, replacements: 0, active: 0, reason: "r") == 0)
    }

    @Test func `the target does not count identity keys`() throws {
        func warnings(replacements: Int, active: Int) throws -> Int {
            let identity = KeyPair(
                publicKeyHash: PublicKeyHash(of: [1]), merchantIdentifier: RollLifecycleTests.merchant,
                algorithm: .rsaV1, purpose: .identity, origin: .generated, state: .current,
                createdAt: RollLifecycleTests.now, stateSince: RollLifecycleTests.now)
            return try RevocationRules.check(
                identity, remaining: .init(replacements: replacements, active: active), target: 2,
                reason: RevocationRules.compromised
            ).count
        }
        #expect(try warnings(replacements: 1, active: 1) == 0)
        #expect(try warnings(replacements: 0, active: 0) == 1)
    }
}

@Suite struct CertificateRulesTests {
    let now = Timestamp(millisecondsSince1970: 1_700_000_000_000)

    func facts(
        hash: PublicKeyHash, merchant: MerchantIdentifier?, keyEncipherment: Bool = true, usages: [String]? = nil,
        isAuthority: Bool = false, begins: Int64 = -1000, ends: Int64 = 1000
    ) -> CertificateFacts {
        CertificateFacts(
            der: [], fingerprint: [], publicKeyHash: hash, keyTypeName: "P-256",
            merchantIdentifierHash: merchant.map { MerchantIdentifierHash(of: $0) },
            hasKeyEncipherment: keyEncipherment,
            hasDigitalSignature: false, extendedKeyUsages: usages, isCertificateAuthority: isAuthority,
            notBefore: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + begins),
            notAfter: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + ends), serialNumber: "01",
            subject: "", issuer: "CN=someone")
    }

    func code(
        _ facts: CertificateFacts, purpose: KeyPurpose = .paymentProcessing, issuer: IssuerFinding = .notConfigured,
        allowsExpired: Bool = false
    ) throws -> MerchantError.Code? {
        let merchant = try #require(MerchantIdentifier("merchant.a"))
        do throws(MerchantError) {
            try CertificateRules.check(
                facts, for: (PublicKeyHash(of: [1]), purpose), of: merchant, issuer: issuer, at: now,
                allowsExpired: allowsExpired)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a certificate that violates a rule is refused with the error code of this rule`() throws {
        let merchant = MerchantIdentifier("merchant.a")
        let other = MerchantIdentifier("merchant.b")
        let hash = PublicKeyHash(of: [1])
        let clientAuthentication = ["1.3.6.1.5.5.7.3.2"]
        #expect(try code(facts(hash: hash, merchant: merchant)) == nil)
        #expect(try code(facts(hash: PublicKeyHash(of: [2]), merchant: merchant)) == .certificateKeyUnknown)
        #expect(try code(facts(hash: hash, merchant: other)) == .certificateForAnotherMerchant)
        #expect(try code(facts(hash: hash, merchant: nil)) == .certificateForAnotherMerchant)
        #expect(try code(facts(hash: hash, merchant: merchant, isAuthority: true)) == .certificateWrongKind)
        #expect(try code(facts(hash: hash, merchant: merchant, keyEncipherment: false)) == .certificateWrongKind)
        #expect(try code(facts(hash: hash, merchant: merchant, usages: clientAuthentication)) == .certificateWrongKind)
        #expect(try code(facts(hash: hash, merchant: merchant), purpose: .identity) == .certificateWrongKind)
        #expect(
            try code(facts(hash: hash, merchant: merchant, usages: clientAuthentication), purpose: .identity) == nil)
        #expect(try code(facts(hash: hash, merchant: merchant, begins: 1)) == .certificateNotYetValid)
        #expect(try code(facts(hash: hash, merchant: merchant, ends: -1)) == .certificateExpired)
        #expect(try code(facts(hash: hash, merchant: merchant, ends: -1), allowsExpired: true) == nil)
        #expect(
            try code(facts(hash: hash, merchant: merchant), issuer: .untrusted("no CA signed it"))
                == .certificateIssuerUntrusted)
        #expect(try code(facts(hash: hash, merchant: merchant), issuer: .verified) == nil)
    }

    @Test func `the newest valid certificate is in use or, if none is valid, the one that expires last`() {
        func stored(_ begins: Int64, _ ends: Int64) -> StoredCertificate {
            StoredCertificate(
                der: [], fingerprint: [UInt8(truncatingIfNeeded: begins)], serialNumber: "", subject: "", issuer: "",
                notBefore: Timestamp(millisecondsSince1970: begins), notAfter: Timestamp(millisecondsSince1970: ends),
                issuerVerified: false, storedAt: Timestamp(millisecondsSince1970: 0))
        }
        let certificates = [stored(0, 100), stored(50, 150), stored(200, 300)]
        func beginOfCertificateInUse(_ milliseconds: Int64) -> Int64? {
            certificates.certificateInUse(at: Timestamp(millisecondsSince1970: milliseconds))?.notBefore
                .millisecondsSince1970
        }
        #expect(beginOfCertificateInUse(60) == 50)
        #expect(beginOfCertificateInUse(120) == 50)
        #expect(beginOfCertificateInUse(250) == 200)
        #expect(beginOfCertificateInUse(400) == 200)
        #expect([StoredCertificate]().certificateInUse(at: Timestamp(millisecondsSince1970: 0)) == nil)
    }
}

@Suite struct CallerPolicyTests {
    func caller(uid: UInt32, gid: UInt32 = 100) -> CallingProcess {
        CallingProcess(uid: uid, gid: gid, pid: 1, program: "/bin/x")
    }

    @Test
    func `by default root and the daemon's user have every permit but exportPrivateKey, and other users have none`() {
        let policy = CallerPolicy.standard(ownUID: 1000)
        for uid in [0, 1000] as [UInt32] {
            for permit in Permit.allCases {
                let isGranted = policy.grants(for: caller(uid: uid)).allow(permit)
                #expect(isGranted == (permit != .exportPrivateKey))
            }
        }
        for permit in Permit.allCases {
            #expect(!policy.grants(for: caller(uid: 1001)).allow(permit))
        }
    }

    @Test func `a rule for a group applies to all members, whether it is their primary group or not`() {
        let policy = CallerPolicy(rules: [.init(subject: .gid(990), grant: Grant(permits: [.resolve], merchants: nil))])
        let member = CallingProcess(uid: 7, gid: 100, supplementaryGroups: [4, 990], pid: 1, program: "")
        #expect(!policy.grants(for: member).allowNothing)
        #expect(!policy.grants(for: caller(uid: 7, gid: 990)).allowNothing)
        #expect(policy.grants(for: caller(uid: 990, gid: 100)).allowNothing)
    }

    @Test func `the merchants of one rule do not widen another rule's permit`() throws {
        let (a, b) = (try #require(MerchantIdentifier("merchant.a")), try #require(MerchantIdentifier("merchant.b")))
        let policy = CallerPolicy(rules: [
            .init(subject: .uid(5), grant: Grant(permits: [.resolve], merchants: nil)),
            .init(subject: .gid(100), grant: Grant(permits: [.decrypt], merchants: [a])),
        ])
        let grants = policy.grants(for: caller(uid: 5))
        #expect(grants.allow(.resolve, for: b))
        #expect(grants.allow(.decrypt, for: a))
        #expect(!grants.allow(.decrypt, for: b))
        #expect(!grants.allowsEveryMerchant(.decrypt))
    }
}

@Suite struct AuditRecordTests {
    let entry = AuditEntry(
        .keyRevoked, by: Caller(uid: 1, gid: 2, pid: 3, program: "p"), at: Timestamp(millisecondsSince1970: 4),
        before: "current", after: "revoked", reason: "r")

    @Test func `a record that was changed is not intact`() {
        let record = AuditRecord(entry, sequence: 1, after: AuditRecord.genesis)
        #expect(record.isIntact)
        let edited = AuditEntry(
            .keyRevoked, by: entry.caller, at: entry.at, before: "current", after: "revoked", reason: "R")
        #expect(!AuditRecord(sequence: 1, entry: edited, previousHash: record.previousHash, hash: record.hash).isIntact)
        #expect(!AuditRecord(sequence: 2, entry: entry, previousHash: record.previousHash, hash: record.hash).isIntact)
        #expect(!AuditRecord(sequence: 1, entry: entry, previousHash: record.hash, hash: record.hash).isIntact)
    }

    @Test func `text that moves from one field to the next changes the hash`() {
        let moved = AuditEntry(
            .keyRevoked, by: entry.caller, at: entry.at, before: "currentr", after: "evoked", reason: "r")
        let absent = AuditEntry(.keyRevoked, by: entry.caller, at: entry.at, before: "current", after: "revoked")
        let empty = AuditEntry(
            .keyRevoked, by: entry.caller, at: entry.at, before: "current", after: "revoked", reason: "")
        let hashes = [entry, moved, absent, empty].map { AuditRecord($0, sequence: 1, after: AuditRecord.genesis).hash }
        #expect(Set(hashes).count == 4)
    }
}
