import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Sealed account numbers in SQLite: rotation, and erasure from the files.
@Suite struct MPANTests {
    private let temporary: TemporaryStore
    private var store: SQLiteStore { temporary.store }

    init() throws { temporary = try TemporaryStore() }

    private static func sealed(_ token: Int, byte: UInt8, dataKey: Int = 1) -> SealedMPAN {
        SealedMPAN(
            owner: SealedMPAN.Owner(Sample.token(token), of: Sample.merchant), version: 1, dataKeyIdentifier: dataKey,
            bytes: [UInt8](repeating: byte, count: SealedMPAN.length))
    }

    private static func resealed(_ old: SealedMPANRow, byte: UInt8) -> SealedMPAN {
        SealedMPAN(
            owner: old.sealed.owner, version: 1, dataKeyIdentifier: 128,
            bytes: [UInt8](repeating: byte, count: SealedMPAN.length))
    }

    private func erasures() async throws -> Int {
        try await store.read { try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 100) }
            .count { $0.entry.action == .damagedMPANErased }
    }

    /// Stores tokens 1 to `count`, each with an account number that is sealed under data key 1.
    private func storeMPANs(_ count: Int) async throws {
        try await store.write { transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            for number in 1...count {
                try transaction.store(Sample.merchantToken(number))
                try transaction.store(StoredMPAN(sealed: Self.sealed(number, byte: 0x5A), receivedAt: Sample.time))
            }
        }
    }

    private func begin() async throws -> KeyRotation {
        try await store.beginRotation(
            to: SealedDataKey(
                identifier: 128, bytes: [UInt8](repeating: 7, count: 60), masterKeyCheck: [8], createdAt: Sample.time),
            replacesMasterKey: false, generatedMasterKey: nil, recording: Sample.entry(.masterKeyRotationStarted))
    }

    @Test func `a data key is erased only when no account number is sealed under it`() async throws {
        try await storeMPANs(5)
        let rotation = try await begin()
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 5)
        var row = 0
        while case let page = try await store.sealedMPANs(notUnder: 128, after: row, limit: 2), let last = page.last {
            row = last.row
            // As if the account number of token 3 could not be unsealed.
            for old in page {
                if old.sealed.owner.merchantTokenIdentifier == Sample.token(3) {
                    try await store.erase(old, recording: Sample.entry(.damagedMPANErased))
                } else {
                    try await store.replace([(old: old, new: Self.resealed(old, byte: 0x11))])
                }
            }
        }
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 0)
        let stored = try await store.read { try $0.mpans(after: nil, limit: 9) }
        #expect(stored.map(\.sealed) == [1, 2, 4, 5].map { Self.sealed($0, byte: 0x11, dataKey: 128) })
        #expect(try await erasures() == 1)
        await #expect(throws: MerchantError.self) {
            try await store.write {
                try $0.store(StoredMPAN(sealed: Self.sealed(3, byte: 0x5A), receivedAt: Sample.time))
            }
        }
    }

    @Test func `a rotation neither restores an erased account number nor replaces a new one`() async throws {
        try await storeMPANs(2)
        let rows = try await store.sealedMPANs(notUnder: 128, after: 0, limit: 9)
        try await store.write { transaction in
            try transaction.eraseMPAN(of: Sample.token(1))
            try transaction.store(StoredMPAN(sealed: Self.sealed(2, byte: 0x22), receivedAt: Sample.time))
        }
        _ = try await begin()
        try await store.replace(rows.map { (old: $0, new: Self.resealed($0, byte: 0x33)) })
        for row in rows { try await store.erase(row, recording: Sample.entry(.damagedMPANErased)) }
        let stored = try await store.read { try $0.mpans(after: nil, limit: 9) }
        #expect(stored.map(\.sealed) == [Self.sealed(2, byte: 0x22)])
        #expect(try await erasures() == 0)
    }

    @Test func `after an erasure, neither the file nor the log contains the account number`() async throws {
        try await storeMPANs(50)
        try await store.write { transaction in
            for number in 1...25 { try transaction.eraseMPAN(of: Sample.token(number)) }
            for number in 26...50 {
                var token = Sample.merchantToken(number)
                token.state = .unlinked
                try transaction.store(token)
            }
        }
        try await store.eraseCopiesOfDestroyedSecrets()
        let mark = Data(repeating: 0x5A, count: SealedMPAN.length)
        for suffix in ["", "-wal"] {
            let bytes = FileManager.default.contents(atPath: temporary.path + suffix) ?? Data()
            #expect(bytes.firstRange(of: mark) == nil, "\(suffix)")
        }
    }
}
