import Foundation
import KeyCustody
import MerchantCore
import Testing

/// Every state in which a crash can leave the files of a rotation ends with the fresh key under the one name.
@Suite struct MasterKeyFileTests {
    private let scratch: Scratch
    private let path: String

    init() throws {
        scratch = try Scratch()
        path = try scratch.file("master.key", [UInt8](repeating: 1, count: 32))
        try close("master.key")
    }

    private func close(_ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(scratch.path)/\(name)")
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }

    @Test func `the fresh key is there beside the old one, and then takes its name`() throws {
        let file = MasterKeyFile(path)
        let fresh = try file.makeNext().identifier
        #expect(try names() == ["master.key", "master.key.next"])
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
        try file.exchange()
        #expect(try names() == ["master.key"])
        #expect(try MasterKey.load(from: path).identifier == fresh)
    }

    @Test func `cut short before the old key lost its name, the exchange goes on`() throws {
        let file = MasterKeyFile(path)
        let fresh = try file.makeNext().identifier
        #expect(link(path, "\(path).old") == 0)
        try file.exchange()
        #expect(try names() == ["master.key"])
        #expect(try MasterKey.load(from: path).identifier == fresh)
    }

    @Test func `cut short after the old key lost its name, it is overwritten and gone`() throws {
        let kept = try scratch.file("another-name", [UInt8](repeating: 9, count: 32))
        #expect(link(kept, "\(path).old") == 0)
        try MasterKeyFile(path).exchange()
        #expect(try names() == ["another-name", "master.key"])
        #expect(try scratch.read("another-name") == [UInt8](repeating: 0, count: 32))
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
    }

    @Test func `a second name of the key in use is removed, and the key stays`() throws {
        #expect(link(path, "\(path).old") == 0)
        try MasterKeyFile(path).exchange()
        #expect(try names() == ["master.key"])
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
    }

    @Test func `a leftover of a rotation that never began is replaced`() throws {
        let file = MasterKeyFile(path)
        let first = try file.makeNext().identifier
        #expect(try file.makeNext().identifier != first)
        #expect(try names() == ["master.key", "master.key.next"])
    }

    @Test func `a link to the key stays a link`() throws {
        let name = "\(scratch.path)/link"
        #expect(symlink(path, name) == 0)
        let file = MasterKeyFile(name)
        let fresh = try file.makeNext().identifier
        try file.exchange()
        #expect(try MasterKey.load(from: name).identifier == fresh)
        #expect(try names() == ["link", "master.key"])
    }
}
