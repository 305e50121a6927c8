import Foundation
import Glibc
import KeyCustody
import MerchantCore
import Testing

/// After a rotation, also one that a crash interrupted, the new key has the name of the old key. A key that the
/// database never needed is not overwritten.
@Suite struct MasterKeyFileTests {
    private let scratch: Scratch
    private let path: String

    init() throws {
        scratch = try Scratch()
        path = try scratch.file("master.key", [UInt8](repeating: 1, count: 32))
        try setMode600("master.key")
    }

    private func setMode600(_ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(scratch.path)/\(name)")
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }

    private func identifier(_ name: String) throws -> MasterKeyIdentifier {
        try MasterKey.load(from: "\(scratch.path)/\(name)").identifier
    }

    @Test func `the new key is written beside the old one, and then takes the old one's name`() throws {
        let file = MasterKeyFile(path)
        let old = try identifier("master.key")
        let fresh = try file.createNext(whileInUse: old).identifier
        #expect(try names() == ["master.key", "master.key.next"])
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
        try file.exchange(to: fresh, from: [old])
        #expect(try names() == ["master.key"])
        #expect(try identifier("master.key") == fresh)
    }

    @Test func `an exchange that was interrupted before the old key lost its name resumes`() throws {
        let file = MasterKeyFile(path)
        let old = try identifier("master.key")
        let fresh = try file.createNext(whileInUse: old).identifier
        #expect(link(path, "\(path).retired") == 0)
        try file.exchange(to: fresh, from: [old])
        #expect(try names() == ["master.key"])
        #expect(try identifier("master.key") == fresh)
    }

    @Test(arguments: [mode_t(0o600), 0o400])
    func `an exchange that was interrupted after the old key lost its name overwrites and removes the old key`(
        mode: mode_t
    ) throws {
        let kept = try scratch.file("another-name", [UInt8](repeating: 9, count: 32))
        #expect(link(kept, "\(path).retired") == 0)
        #expect(chmod(kept, mode) == 0)
        try MasterKeyFile(path).exchange(to: try identifier("master.key"), from: [])
        #expect(try names() == ["another-name", "master.key"])
        #expect(try scratch.read("another-name") == [UInt8](repeating: 0, count: 32))
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
    }

    @Test func `a second name of the key in use is removed, and the key stays`() throws {
        #expect(link(path, "\(path).retired") == 0)
        try MasterKeyFile(path).exchange(to: try identifier("master.key"), from: [])
        #expect(try names() == ["master.key"])
        #expect(try scratch.read("master.key") == [UInt8](repeating: 1, count: 32))
    }

    @Test func `the next key of an unstarted rotation is replaced`() throws {
        let file = MasterKeyFile(path)
        let old = try identifier("master.key")
        let first = try file.createNext(whileInUse: old).identifier
        #expect(try file.createNext(whileInUse: old).identifier != first)
        #expect(try names() == ["master.key", "master.key.next"])
    }

    @Test func `an unused next key does not replace the key that is needed`() throws {
        let file = MasterKeyFile(path)
        let needed = try identifier("master.key")
        _ = try file.createNext(whileInUse: needed)
        try file.exchange(to: needed, from: [])
        #expect(try identifier("master.key") == needed)
    }

    @Test func `no next key is generated while the file of the next key has the needed key`() throws {
        let file = MasterKeyFile(path)
        let fresh = try file.createNext(whileInUse: try identifier("master.key")).identifier
        #expect(throws: MerchantError.self) { _ = try file.createNext(whileInUse: fresh) }
        #expect(try identifier("master.key.next") == fresh)
    }

    @Test func `a key that the database never needed is not overwritten`() throws {
        let file = MasterKeyFile(path)
        let old = try identifier("master.key")
        let fresh = try file.createNext(whileInUse: old).identifier
        let foreign = try scratch.file("master.key", [UInt8](repeating: 5, count: 32))
        #expect(chmod(foreign, 0o600) == 0)
        #expect(throws: MerchantError.self) { try file.exchange(to: fresh, from: [old]) }
        #expect(try scratch.read("master.key") == [UInt8](repeating: 5, count: 32))
        #expect(try identifier("master.key.next") == fresh)
    }

    @Test func `nothing is overwritten while the needed key is missing`() throws {
        _ = try scratch.file("master.key.retired", [UInt8](repeating: 9, count: 32))
        let absent = MasterKeyIdentifier(bytes: [UInt8](repeating: 3, count: MasterKeyIdentifier.length))
        #expect(throws: MerchantError.self) { try MasterKeyFile(path).exchange(to: absent, from: []) }
        #expect(try scratch.read("master.key.retired") == [UInt8](repeating: 9, count: 32))
    }

    @Test func `a missing file is created with mode 0600, and an existing one is never overwritten`() throws {
        let file = MasterKeyFile(path)
        let lost = try identifier("master.key")
        #expect(!file.isMissing)
        #expect(throws: MerchantError.self) { _ = try file.createMissing(inPlaceOf: lost) }
        #expect(try identifier("master.key") == lost)
        #expect(unlink(path) == 0)
        #expect(file.isMissing)
        let fresh = try file.createMissing(inPlaceOf: lost).identifier
        #expect(fresh != lost)
        #expect(try identifier("master.key") == fresh)
        #expect(try names() == ["master.key"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a missing file is not created while the file of the next key has the needed key`() throws {
        let file = MasterKeyFile(path)
        let fresh = try file.createNext(whileInUse: try identifier("master.key")).identifier
        #expect(unlink(path) == 0)
        #expect(throws: MerchantError.self) { _ = try file.createMissing(inPlaceOf: fresh) }
        #expect(file.isMissing)
    }

    @Test func `a link to a missing file is not a missing file, because a volume may not be mounted`() throws {
        let name = "\(scratch.path)/link"
        #expect(symlink("\(scratch.path)/not-mounted/master.key", name) == 0)
        #expect(!MasterKeyFile(name).isMissing)
    }

    @Test func `if the old key is lost during a rotation, the new key still takes its name`() throws {
        let file = MasterKeyFile(path)
        let old = try identifier("master.key")
        let fresh = try file.createNext(whileInUse: old).identifier
        #expect(unlink(path) == 0)
        try file.exchange(to: fresh, from: [old])
        #expect(try names() == ["master.key"])
        #expect(try identifier("master.key") == fresh)
    }

    @Test func `a link to the key stays a link`() throws {
        let name = "\(scratch.path)/link"
        #expect(symlink(path, name) == 0)
        let file = MasterKeyFile(name)
        let old = try identifier("master.key")
        let fresh = try file.createNext(whileInUse: old).identifier
        try file.exchange(to: fresh, from: [old])
        #expect(try identifier("link") == fresh)
        #expect(try names() == ["link", "master.key"])
    }
}
