import MerchantCore
import Testing
import Vocabulary

/// The contract of ``RegistrationReading`` and ``RegistrationWriting``.
@Suite struct RegistrationContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a registration is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        var registration = Sample.registration(1)
        try await store.write { [registration] in try $0.insert(registration) }
        #expect(try await store.read { try $0.registration(Sample.partner(1)) } == registration)
        registration.desired.domainNames = [Sample.domain("b.example"), Sample.domain("c.example")]
        registration.appleRecord = AppleRecord(
            details: AppleRecord.Details(
                partnerMerchantName: "Shop", encryptToHash: Sample.identifier(0).appleHash,
                domainNames: ["b.example", "other.example"]),
            learnedAt: Sample.time(3))
        registration.changedAt = Sample.time(4)
        try await store.write { [registration] in try $0.update(registration) }
        #expect(try await store.read { try $0.registration(Sample.partner(1)) } == registration)
        #expect(try await store.refusal { try $0.update(Sample.registration(2)) } == .registrationNotFound)
        #expect(try await store.refusal { try $0.insert(Sample.registration(1)) } == .internalError)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a list has the registrations with domains, or all of them`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.insert(Sample.registration(2))
            try transaction.insert(Sample.registration(1))
            try transaction.insert(Sample.registration(3, Sample.wanted()))
        }
        func list(after cursor: Int?, all: Bool) async throws -> [PartnerInternalMerchantIdentifier] {
            try await store.read {
                try $0.registrations(after: cursor.map(Sample.partner), limit: 9, all: all)
                    .map(\.partnerInternalMerchantIdentifier)
            }
        }
        #expect(try await list(after: nil, all: false) == [Sample.partner(1), Sample.partner(2)])
        #expect(try await list(after: 1, all: true) == [Sample.partner(2), Sample.partner(3)])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a registration has at most one open call, and a call is closed at most once`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        let content = RegistrationCall.Content.register(Sample.wanted("b.example"), merchant: nil)
        try await store.write { try $0.insert(Sample.registration(1)) }
        let call = try await store.write {
            try $0.open(content, of: Sample.partner(1), requestId: "r", at: Sample.time(1))
        }
        #expect(call.content == content && call.openedAt == Sample.time(1))
        #expect(try await store.read { try $0.openCall(of: Sample.partner(1)) } == call)
        #expect(try await store.read { try $0.openCalls(after: nil, limit: 9) } == [call])
        #expect(try await store.read { try $0.openCalls(after: call, limit: 9).isEmpty })
        let second = try await store.refusal {
            _ = try $0.open(content, of: Sample.partner(1), requestId: "r", at: Sample.time(2))
        }
        #expect(second == .registrationConflict)
        let unknown = try await store.refusal {
            _ = try $0.open(content, of: Sample.partner(9), requestId: "r", at: Sample.time(2))
        }
        #expect(unknown == .registrationNotFound)
        try await store.write { try $0.close(call, .repeated, finding: nil, at: Sample.time(3)) }
        #expect(try await store.read { try $0.openCall(of: Sample.partner(1)) } == nil)
        #expect(try await store.read { try $0.repeatedCalls(of: Sample.partner(1), since: Sample.time(0)) } == [call])
        #expect(try await store.read { try $0.repeatedCalls(of: Sample.partner(1), since: Sample.time(1)).isEmpty })
        let again = try await store.refusal { try $0.close(call, .done, finding: nil, at: Sample.time(4)) }
        #expect(again == .internalError)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant is named by registrations with domains and by open calls`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        try await store.write { transaction in
            try transaction.insert(Sample.registration(1, Sample.wanted("a.example", encryptTo: 0)))
            try transaction.insert(Sample.registration(2, Sample.wanted(encryptTo: 2)))
        }
        func naming(_ merchant: Int) async throws -> PartnerInternalMerchantIdentifier? {
            try await store.read { try $0.registration(naming: Sample.identifier(merchant)) }
        }
        #expect(try await naming(0) == Sample.partner(1))
        #expect(try await naming(2) == nil)
        try await store.write {
            _ = try $0.open(
                .register(Sample.wanted("b.example", encryptTo: 2), merchant: Sample.identifier(1)),
                of: Sample.partner(2), requestId: "r", at: Sample.time(1))
        }
        #expect(try await naming(1) == Sample.partner(2))
        #expect(try await naming(2) == Sample.partner(2))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the registrations of a merchant are those with domains or an open call, oldest first`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        try await store.write { transaction in
            for (number, domains, merchant) in [(3, true, 0), (1, true, 1), (2, false, 0), (4, false, 0)] {
                let wanted = domains ? Sample.wanted("a.example") : Sample.wanted()
                var registration = Sample.registration(number, wanted)
                registration.merchantIdentifier = Sample.identifier(merchant)
                try transaction.insert(registration)
            }
            _ = try transaction.open(
                .register(Sample.wanted("b.example"), merchant: Sample.identifier(0)), of: Sample.partner(4),
                requestId: "r", at: Sample.time(9))
        }
        func list(after cursor: Int?, limit: Int) async throws -> [PartnerInternalMerchantIdentifier] {
            try await store.read {
                try $0.registrations(of: Sample.identifier(0), after: cursor.map(Sample.partner), limit: limit)
                    .map(\.partnerInternalMerchantIdentifier)
            }
        }
        #expect(try await list(after: nil, limit: 9) == [Sample.partner(3), Sample.partner(4)])
        #expect(try await list(after: nil, limit: 1) == [Sample.partner(3)])
        #expect(try await list(after: 3, limit: 9) == [Sample.partner(4)])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the domain verification file is the one that was stored last`(store: StoreUnderTest) async throws {
        let store = try store.open()
        #expect(try await store.read { try $0.domainFile() } == nil)
        for byte: UInt8 in [1, 2] {
            try await store.write { try $0.store(DomainFile(bytes: [byte], storedAt: Sample.time(Int(byte)))) }
        }
        #expect(try await store.read { try $0.domainFile() } == DomainFile(bytes: [2], storedAt: Sample.time(2)))
    }
}
