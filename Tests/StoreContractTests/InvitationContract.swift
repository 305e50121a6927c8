import MerchantCore
import Testing
import Vocabulary

/// The contract of ``InvitationReading`` and ``InvitationWriting``.
@Suite struct InvitationContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `an invitation is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        var invitation = Sample.invitation(1)
        try await store.write { [invitation] in try $0.insert(invitation) }
        #expect(try await store.read { try $0.invitation(Sample.invitationIdentifier(1)) } == invitation)
        #expect(try await store.read { try $0.invitation(Sample.invitationIdentifier(2)) } == nil)
        #expect(
            try await store.read { try $0.invitation(secretIdentifier: Sample.secret(1).identifier) } == invitation)
        #expect(try await store.read { try $0.invitation(secretIdentifier: Sample.secret(2).identifier) } == nil)
        invitation.usedAt = Sample.time(10)
        try await store.write { [invitation] in try $0.update(invitation) }
        invitation.revokedAt = Sample.time(20)
        try await store.write { [invitation] in try $0.update(invitation) }
        #expect(try await store.read { try $0.invitation(Sample.invitationIdentifier(1)) } == invitation)
        #expect(try await store.refusal { try $0.update(Sample.invitation(2)) } == .invitationNotFound)
        #expect(try await store.refusal { try $0.insert(Sample.invitation(2, merchant: 1)) } == .merchantNotFound)
    }

    /// Stores an invitation that was used and revoked at the times `before`, and changes these times to `after`.
    ///
    /// - Returns: the code of the error; nil if the change is accepted.
    private static func refusal(
        from before: (used: Int?, revoked: Int?), to after: (used: Int?, revoked: Int?), _ store: OpenStore
    ) async throws -> MerchantError.Code? {
        try await store.storeMerchant(0)
        try await store.write { try $0.insert(Sample.invitation(1)) }
        var first = Sample.invitation(1)
        first.usedAt = before.used.map(Sample.time)
        first.revokedAt = before.revoked.map(Sample.time)
        try await store.write { [first] in try $0.update(first) }
        var second = Sample.invitation(1)
        second.usedAt = after.used.map(Sample.time)
        second.revokedAt = after.revoked.map(Sample.time)
        let code = try await store.refusal { [second] in try $0.update(second) }
        let stored = try await store.read { try $0.invitation(Sample.invitationIdentifier(1)) }
        #expect(stored == (code == nil ? second : first))
        return code
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an invitation is used at most once, not after its expiry or revocation`(store: StoreUnderTest) async throws {
        for (before, after) in [(10, 11), (10, nil), (nil, 101)] as [(Int?, Int?)] {
            let code = try await Self.refusal(from: (before, nil), to: (after, nil), store.open())
            #expect(code == .internalError)
        }
        #expect(try await Self.refusal(from: (nil, 10), to: (20, 10), store.open()) == .internalError)
        #expect(try await Self.refusal(from: (nil, nil), to: (100, nil), store.open()) == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a revoked invitation stays revoked`(store: StoreUnderTest) async throws {
        for revoked in [nil, 11] as [Int?] {
            let code = try await Self.refusal(from: (nil, 10), to: (nil, revoked), store.open())
            #expect(code == .internalError)
        }
        #expect(try await Self.refusal(from: (10, nil), to: (10, 20), store.open()) == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the open invitations of a creator are revoked together`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            for number in 1...4 {
                try transaction.insert(Sample.invitation(number, createdBy: "access:a"))
            }
            try transaction.insert(Sample.invitation(5, createdBy: "access:b"))
            var used = Sample.invitation(2, createdBy: "access:a")
            used.usedAt = Sample.time(1)
            try transaction.update(used)
            var revoked = Sample.invitation(3, createdBy: "access:a")
            revoked.revokedAt = Sample.time(2)
            try transaction.update(revoked)
        }
        func revoke(_ creator: String, at seconds: Int) async throws -> Int {
            try await store.write { try $0.revokeOpenInvitations(createdBy: creator, at: Sample.time(seconds)) }
        }
        #expect(try await revoke("access:c", at: 10) == 0)
        #expect(try await revoke("access:a", at: 10) == 2)
        #expect(try await revoke("access:a", at: 11) == 0)
        // The invitation expires at 100.
        #expect(try await revoke("access:b", at: 100) == 0)
        let times: [Timestamp?] = try await store.read { reader in
            try (1...5).map { try reader.invitation(Sample.invitationIdentifier($0))?.revokedAt }
        }
        #expect(times == [Sample.time(10), nil, Sample.time(2), Sample.time(10), nil])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `invitations are listed newest first, of one merchant or of all`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        try await store.write { transaction in
            for (number, merchant) in [(3, 0), (1, 1), (2, 0)] {
                try transaction.insert(Sample.invitation(number, merchant: merchant))
            }
            var used = Sample.invitation(3)
            used.usedAt = Sample.time(1)
            try transaction.update(used)
        }
        func list(
            of merchant: Int?, after cursor: Int? = nil, limit: Int = 9
        ) async throws -> [InvitationIdentifier] {
            try await store.read {
                try $0.invitations(
                    of: merchant.map(Sample.identifier), after: cursor.map(Sample.invitationIdentifier), limit: limit
                ).map(\.identifier)
            }
        }
        #expect(try await list(of: nil) == [2, 1, 3].map(Sample.invitationIdentifier))
        #expect(try await list(of: nil, after: 2, limit: 1) == [Sample.invitationIdentifier(1)])
        #expect(try await list(of: 0) == [2, 3].map(Sample.invitationIdentifier))
        #expect(try await list(of: 0, after: 2) == [Sample.invitationIdentifier(3)])
        #expect(try await list(of: 0, after: 3).isEmpty)
        #expect(try await list(of: 2).isEmpty)
    }
}
