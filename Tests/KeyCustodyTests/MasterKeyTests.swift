import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct MasterKeyTests {
    private func failure(_ path: String) -> MerchantError? { refusal { try MasterKey.load(from: path) } }

    @Test func `a created master key is a file of 32 bytes with mode 0600 and loads again`() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/master.key"
        let store = MemoryStore()
        _ = try Keyring(opening: store, with: try MasterKey.create(at: path), at: .now)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try scratch.read("master.key").count == 32)
        // The same key: it opens a seal of the created one.
        #expect(throws: Never.self) { try Keyring(opening: store, with: try MasterKey.load(from: path), at: .now) }
    }

    @Test func `creating never overwrites a master key and leaves no temporary file`() throws {
        let scratch = try Scratch()
        let path = try scratch.file("master.key", Array(repeating: 7, count: 32))
        #expect(refusal { try MasterKey.create(at: path) }?.code == .storeUnavailable)
        #expect(try scratch.read("master.key") == Array(repeating: 7, count: 32))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["master.key"])
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o601, 0o666])
    func `a file that other users can access is refused with the modes found and expected`(mode: Int) throws {
        let scratch = try Scratch()
        let path = try scratch.file("master.key", Array(repeating: 7, count: 32))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let detail = try #require(failure(path)).detail
        #expect(detail.contains("0" + String(mode, radix: 8)) && detail.contains("0600"))
    }

    @Test(arguments: [0, 31, 33, 64])
    func `a file of another length is refused with the length found`(count: Int) throws {
        let scratch = try Scratch()
        let path = try scratch.file("master.key", Array(repeating: 7, count: count))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let detail = try #require(failure(path)).detail
        #expect(detail.contains("holds \(count) bytes") && detail.contains("expected exactly 32"))
    }

    @Test func `a directory, a pipe and a missing file are refused without waiting`() throws {
        let scratch = try Scratch()
        #expect(try #require(failure(scratch.path)).detail.contains("regular file"))
        try Tool.run(["mkfifo", "-m", "600", "pipe"], in: scratch)
        #expect(try #require(failure("\(scratch.path)/pipe")).detail.contains("regular file"))
        #expect(try #require(failure("\(scratch.path)/none")).detail.contains("cannot be opened"))
    }

    @Test(.enabled(if: geteuid() == 0, "changing a file's owner needs root"))
    func `a file of another user is refused with the owner`() throws {
        let scratch = try Scratch()
        let path = try scratch.file("master.key", Array(repeating: 7, count: 32))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(chown(path, 12345, 0) == 0)
        #expect(try #require(failure(path)).detail.contains("belongs to uid 12345"))
    }
}
