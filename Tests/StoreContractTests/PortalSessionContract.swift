import MerchantCore
import Testing
import Vocabulary

/// The contract of ``PortalSessionReading`` and ``PortalSessionWriting``.
@Suite struct PortalSessionContract {
    /// Which of the sessions 1 to 9 the store has.
    private static func sessions(_ store: OpenStore) async throws -> [Int] {
        try await store.read { reader in
            try (1...9).filter {
                try reader.portalSession(secretIdentifier: Sample.secret($0).identifier) != nil
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a session is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        var merchantSession = Sample.session(1, invitation: 1)
        let operatorSessions = [
            Sample.session(2, uid: 1000, groups: [1000, 27, 4_294_967_295]), Sample.session(3, uid: 0),
        ]
        try await store.write { [merchantSession] in
            try $0.insert(Sample.invitation(1))
            try $0.insert(merchantSession)
            for session in operatorSessions { try $0.insert(session) }
        }
        for session in [merchantSession] + operatorSessions {
            let identifier = session.secret.identifier
            #expect(try await store.read { try $0.portalSession(secretIdentifier: identifier) } == session)
        }
        merchantSession.lastSeenAt = Sample.time(50)
        try await store.write { [merchantSession] in try $0.update(merchantSession) }
        let identifier = merchantSession.secret.identifier
        #expect(try await store.read { try $0.portalSession(secretIdentifier: identifier) } == merchantSession)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a removed session does not come back with its next request`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            for number in 1...2 { try transaction.insert(Sample.session(number, uid: 1000)) }
            try transaction.removePortalSession(secretIdentifier: Sample.secret(1).identifier)
            try transaction.update(Sample.session(1, uid: 1000, at: 5))
            try transaction.removePortalSession(secretIdentifier: Sample.secret(9).identifier)
        }
        #expect(try await Self.sessions(store) == [2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an invitation gets at most one session, and none after its revocation`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            var revoked = Sample.invitation(2)
            try transaction.insert(Sample.invitation(1))
            try transaction.insert(revoked)
            try transaction.insert(Sample.session(1, invitation: 1))
            revoked.revokedAt = Sample.time(1)
            try transaction.update(revoked)
        }
        #expect(try await store.refusal { try $0.insert(Sample.session(2, invitation: 1)) } == .internalError)
        #expect(try await store.refusal { try $0.insert(Sample.session(2, invitation: 2)) } == .internalError)
        #expect(try await store.refusal { try $0.insert(Sample.session(2, invitation: 3)) } == .invitationNotFound)
        #expect(try await Self.sessions(store) == [1])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the sessions of an invitation or of an operator are removed together`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            for number in 1...2 {
                try transaction.insert(Sample.invitation(number))
                try transaction.insert(Sample.session(number, invitation: number))
            }
            for (number, uid) in [(3, 1000), (4, 1000), (5, 1001)] as [(Int, UInt32)] {
                try transaction.insert(Sample.session(number, uid: uid))
            }
        }
        #expect(try await store.write { try $0.removePortalSessions(of: Sample.invitationIdentifier(1)) } == 1)
        #expect(try await store.write { try $0.removePortalSessions(of: Sample.invitationIdentifier(1)) } == 0)
        #expect(try await store.write { try $0.removePortalSessions(of: Sample.invitationIdentifier(9)) } == 0)
        #expect(try await Self.sessions(store) == [2, 3, 4, 5])
        #expect(try await store.write { try $0.removeOperatorSessions(of: 1000) } == 2)
        #expect(try await store.write { try $0.removeOperatorSessions(of: 0) } == 0)
        #expect(try await Self.sessions(store) == [2, 5])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the sessions of all operators are removed together, and those of merchants stay`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            try transaction.insert(Sample.invitation(1))
            try transaction.insert(Sample.session(1, invitation: 1))
            for (number, uid) in [(2, 0), (3, 1000), (4, 4_294_967_295)] as [(Int, UInt32)] {
                try transaction.insert(Sample.session(number, uid: uid))
            }
        }
        #expect(try await store.write { try $0.removeOperatorSessions(of: nil) } == 3)
        #expect(try await store.write { try $0.removeOperatorSessions(of: nil) } == 0)
        #expect(try await Self.sessions(store) == [1])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the logins of one or all operators are removed if they are neither used nor expired`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        func logins() async throws -> [Int] {
            try await store.read { reader in
                try (1...9).filter { try reader.operatorLogin(secretIdentifier: Sample.secret($0).identifier) != nil }
            }
        }
        // The logins expire at 60, 61 and so on.
        try await store.write { transaction in
            for (number, uid) in [(1, 1000), (2, 1000), (3, 1000), (4, 1001), (5, 0)] as [(Int, UInt32)] {
                try transaction.insert(Sample.login(number, uid: uid, at: number - 1))
            }
            var used = Sample.login(2, uid: 1000, at: 1)
            used.usedAt = Sample.time(10)
            try transaction.update(used)
        }
        #expect(try await store.write { try $0.removeOpenLogins(of: 1002, at: Sample.time(60)) } == 0)
        #expect(try await store.write { try $0.removeOpenLogins(of: 1000, at: Sample.time(60)) } == 1)
        #expect(try await logins() == [1, 2, 4, 5])
        #expect(try await store.write { try $0.removeOpenLogins(of: nil, at: Sample.time(60)) } == 2)
        #expect(try await store.write { try $0.removeOpenLogins(of: nil, at: Sample.time(60)) } == 0)
        #expect(try await logins() == [1, 2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the sessions of all invitations of a creator are removed together`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            for (number, creator) in [(1, "access:a"), (2, "access:b"), (3, "access:a")] as [(Int, String)] {
                try transaction.insert(Sample.invitation(number, createdBy: creator))
                try transaction.insert(Sample.session(number, invitation: number))
            }
            try transaction.insert(Sample.session(4, uid: 1000))
        }
        func remove(_ creator: String) async throws -> Int {
            try await store.write { try $0.removePortalSessions(ofInvitationsCreatedBy: creator) }
        }
        #expect(try await remove("access:c") == 0)
        #expect(try await remove("access:a") == 2)
        #expect(try await remove("access:a") == 0)
        #expect(try await Self.sessions(store) == [2, 4])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `all sessions and logins are removed together`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            try transaction.insert(Sample.invitation(1))
            try transaction.insert(Sample.session(1, invitation: 1))
            try transaction.insert(Sample.session(2, uid: 1000))
            try transaction.insert(Sample.login(1))
        }
        #expect(try await store.write { try $0.removeAllSessions() } == 3)
        #expect(try await store.write { try $0.removeAllSessions() } == 0)
        #expect(try await Self.sessions(store).isEmpty)
        let identifier = Sample.secret(1).identifier
        #expect(try await store.read { try $0.operatorLogin(secretIdentifier: identifier) } == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a login is read as it was stored, and used at most once, until it expires`(store: StoreUnderTest) async throws
    {
        let store = try store.open()
        try await store.write { transaction in
            for number in 1...2 { try transaction.insert(Sample.login(number)) }
        }
        func stored(_ number: Int) async throws -> OperatorLogin? {
            try await store.read { try $0.operatorLogin(secretIdentifier: Sample.secret(number).identifier) }
        }
        #expect(try await stored(1) == Sample.login(1))
        #expect(try await stored(3) == nil)
        func refusal(_ number: Int, usedAt seconds: Int?) async throws -> MerchantError.Code? {
            var login = Sample.login(number)
            login.usedAt = seconds.map(Sample.time)
            return try await store.refusal { [login] in try $0.update(login) }
        }
        #expect(try await refusal(1, usedAt: 10) == nil)
        #expect(try await stored(1)?.usedAt == Sample.time(10))
        #expect(try await refusal(1, usedAt: 11) == .internalError)
        #expect(try await refusal(1, usedAt: nil) == .internalError)
        #expect(try await refusal(2, usedAt: 61) == .internalError)
        #expect(try await refusal(3, usedAt: 10) == .internalError)
        #expect(try await stored(1)?.usedAt == Sample.time(10))
        #expect(try await stored(2) == Sample.login(2))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `sessions and logins are removed by age and last use, up to a limit`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            for number in 1...4 { try transaction.insert(Sample.session(number, uid: 1000, at: number * 10)) }
            // The sessions 1 and 4 were last used at 100.
            for number in [1, 4] {
                var session = Sample.session(number, uid: 1000, at: number * 10)
                session.lastSeenAt = Sample.time(100)
                try transaction.update(session)
            }
            for number in 1...2 { try transaction.insert(Sample.login(number, at: number * 10)) }
        }
        func remove(seenBefore seen: Int, createdBefore created: Int, limit: Int = 9) async throws -> Int {
            try await store.write {
                try $0.removeExpiredSessions(
                    seenBefore: Sample.time(seen), createdBefore: Sample.time(created), limit: limit)
            }
        }
        #expect(try await remove(seenBefore: 20, createdBefore: 10) == 0)
        #expect(try await remove(seenBefore: 31, createdBefore: 0, limit: 1) == 1)
        #expect(try await Self.sessions(store).count == 3)
        #expect(try await remove(seenBefore: 31, createdBefore: 0) == 1)
        #expect(try await Self.sessions(store) == [1, 4])
        // Removes the session 1 and the login 1.
        #expect(try await remove(seenBefore: 0, createdBefore: 11) == 2)
        #expect(try await Self.sessions(store) == [4])
        let logins = try await store.read { reader in
            try (1...2).filter { try reader.operatorLogin(secretIdentifier: Sample.secret($0).identifier) != nil }
        }
        #expect(logins == [2])
    }
}
