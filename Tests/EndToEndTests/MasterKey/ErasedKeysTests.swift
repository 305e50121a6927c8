import Foundation
import Testing

/// A rotation erases the old keys from the process, its files and later backups.
@Suite(
    .onlyOnSQLite,
    .enabled(if: MemorySearch.isPossible && Installation.hasPython, "needs root, python3 and its package cryptography"))
struct ErasedKeysTests {
    private struct OldKeys: Decodable {
        let master: String
        let dataKey: String
        let sealedDataKey: String
        let seals: [String]
    }

    /// Unseals the data key without the daemon's code.
    private static let script = """
        import json, sqlite3, struct, sys
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        state = sys.argv[1]
        master = open(state + "/master.key", "rb").read()
        db = sqlite3.connect("file:" + state + "/merchantkeyd.sqlite?mode=ro", uri=True)
        number, sealed = db.execute("SELECT id, sealed_bytes FROM data_keys ORDER BY id DESC").fetchone()
        fields = [b"merchantkeyd data key 1", struct.pack(">q", number)]
        associated = b"".join(struct.pack(">I", len(f)) + f for f in fields)
        plain = AESGCM(master).decrypt(sealed[:12], sealed[12:], associated)
        seals = [row[0].hex() for row in db.execute("SELECT sealed_bytes FROM sealed_private_keys")]
        print(json.dumps({"master": master.hex(), "dataKey": plain.hex(), "sealedDataKey": sealed.hex(), "seals": seals}))
        """

    @Test func `a rotation erases the old keys from memory, files and later backups`() throws {
        let installation = try Installation()
        try installation.start()
        let population = try KeyPopulation(300, certified: 100, by: installation.adminSocket)
        _ = try population.symmetricKeys(by: installation.decryptorSocket)
        let state = installation.path("state")
        let read = try Installation.run(["python3", "-c", Self.script, state])
        try #require(read.status == 0, "\(read.error)")
        let old = try JSONDecoder().decode(OldKeys.self, from: read.bytes)
        #expect(old.seals.count == 300)
        var keys = MemorySearch()
        keys.add("master key", bytes(old.master))
        keys.add("data key", bytes(old.dataKey))
        var seals = MemorySearch()
        seals.add("sealed data key", bytes(old.sealedDataKey))
        for (number, seal) in old.seals.enumerated() { seals.add("seal \(number)", bytes(seal)) }

        // Before the rotation the searches find the keys: the data key in memory, the master key in its file.
        let process = try #require(installation.process)
        #expect(try keys.findings(inMemoryOf: process).contains { $0.contains(" data key") })
        #expect(try keys.findings(inFilesBelow: state).contains { $0.contains(": master key") })
        #expect(try !seals.findings(inFilesBelow: state).isEmpty)

        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        try #require(rotated.status == 0, "\(rotated.error)")
        #expect(try population.symmetricKeys(by: installation.decryptorSocket).values.allSatisfy { $0.count == 44 })
        let backup = installation.path("after.backup")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        for search in [keys, seals] {
            #expect(try search.findings(inMemoryOf: process) == [])
            #expect(try search.findings(inFilesBelow: state) == [])
            #expect(try search.findings(inFile: backup) == [])
        }
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }
}
