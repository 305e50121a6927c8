import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Seals are overwritten in place, and a data key is erased only when no private key is sealed under it.
@Suite struct RotationTests {
    private let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private func dataKey(_ identifier: Int) -> SealedDataKey {
        SealedDataKey(
            identifier: identifier, bytes: [UInt8](repeating: 7, count: 60), masterKeyCheck: [8],
            createdAt: Sample.time)
    }

    private func begin(_ identifier: Int) async throws -> KeyRotation {
        try await temporary.store.beginRotation(
            to: dataKey(identifier), replacesMasterKey: true, generatedMasterKey: nil,
            recording: Sample.entry(.masterKeyRotationStarted))
    }

    /// Replaces every seal in batches, as the daemon does, with a seal that repeats `byte`.
    private func replaceSeals(_ rotation: KeyRotation, byte: UInt8) async throws {
        var row = 0
        while case let page = try await temporary.store.sealedKeys(
            notUnder: rotation.dataKeyIdentifier, after: row, limit: 64), let last = page.last
        {
            row = last.row
            try await temporary.store.replace(
                page.map { seal in
                    let count = seal.sealedKeyPair.sealedPrivateKey.bytes.count
                    return (
                        seal,
                        SealedPrivateKey(
                            version: 1, dataKeyIdentifier: rotation.dataKeyIdentifier,
                            bytes: [UInt8](repeating: byte, count: count))
                    )
                }, in: rotation)
        }
    }

    private func marks(in path: String) throws -> Int {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            .components(separatedBy: Sample.sealedMark).count - 1
    }

    @Test
    func `after a rotation neither file nor log contains an old seal, although the new identifier makes rows longer`()
        async throws
    {
        for seed in 0..<600 { try await temporary.onboard(Sample.merchant(seed % 20), .pending, seed: seed) }
        let rotation = try await begin(128)
        #expect(rotation.total == 600)
        try await replaceSeals(rotation, byte: 0x11)
        #expect(try await temporary.store.eraseOldDataKeysIfUnused(in: rotation) == 0)
        try await temporary.store.eraseCopiesOfOldKeys(after: rotation)
        #expect(try marks(in: temporary.path) == 0 && marks(in: temporary.path + "-wal") == 0)
        #expect(try temporary.store.dataKeys().map(\.isRetired) == [true, false])
        try await temporary.store.finish(
            rotation, at: Sample.time, recording: Sample.entry(.masterKeyRotationFinished))
        let last = try await temporary.store.lastRotation()
        #expect(last?.state == .finished && last?.done == 600)
        #expect(try await temporary.store.quickCheck() == [])
    }

    @Test func `a rotation between data keys with two-byte identifiers moves no row`() async throws {
        for seed in 0..<300 { try await temporary.onboard(Sample.merchant(seed % 20), .pending, seed: seed) }
        let first = try await begin(128)
        try await replaceSeals(first, byte: 0x11)
        #expect(try await temporary.store.eraseOldDataKeysIfUnused(in: first) == 0)
        try await temporary.store.eraseCopiesOfOldKeys(after: first)
        try await temporary.store.finish(first, at: Sample.time, recording: Sample.entry(.masterKeyRotationFinished))
        let second = try await begin(129)
        try await replaceSeals(second, byte: 0x22)
        #expect(try await temporary.store.eraseOldDataKeysIfUnused(in: second) == 0)
        // Does not rewrite the file, so a row that had moved would leave its old seal behind.
        try await temporary.store.eraseCopiesOfDestroyedSecrets()
        let bytes = try Data(contentsOf: URL(filePath: temporary.path))
        #expect(bytes.range(of: Data(repeating: 0x11, count: 16)) == nil)
        #expect(bytes.range(of: Data(repeating: 0x22, count: 16)) != nil)
    }

    @Test func `a data key is kept while a private key is sealed under it, and an erased one seals nothing`()
        async throws
    {
        let kept = try await temporary.onboard(Sample.merchant, .revoked, seed: 1)
        try await temporary.onboard(Sample.merchant, .pending, seed: 2)
        let rotation = try await begin(128)
        #expect(try await temporary.store.eraseOldDataKeysIfUnused(in: rotation) == 2)
        #expect(try temporary.store.dataKeys().map(\.isRetired) == [false, false])
        // A key that is destroyed after its seal was read stays destroyed.
        let page = try await temporary.store.sealedKeys(notUnder: 128, after: 0, limit: 10)
        try await temporary.store.write { try $0.removeSealedPrivateKey(of: kept.publicKeyHash) }
        try await temporary.store.replace(
            page.map {
                (
                    $0,
                    SealedPrivateKey(version: 1, dataKeyIdentifier: 128, bytes: $0.sealedKeyPair.sealedPrivateKey.bytes)
                )
            },
            in: rotation)
        #expect(try await temporary.store.read { try $0.sealedPrivateKey(of: kept.publicKeyHash) } == nil)
        #expect(try await temporary.store.lastRotation()?.done == 1)
        #expect(try await temporary.store.eraseOldDataKeysIfUnused(in: rotation) == 0)
        let late = await #expect(throws: MerchantError.self) {
            try await temporary.onboard(Sample.merchant, .pending, seed: 3)
        }
        #expect(late?.code == .overloaded)
        let second = await #expect(throws: MerchantError.self) { _ = try await begin(129) }
        #expect(second?.code == .masterKeyConflict)
    }
}
