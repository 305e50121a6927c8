import Foundation
import Testing

/// Compares every import in Sources/ with the rows of the manifest.
@Suite struct RowsTests {
    static let manifest = (try? String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8))
        .map(Manifest.init)

    /// What only some targets may import, besides the standard library and FoundationEssentials.
    static let reserved: [String: Set<String>] = [
        "GRDB": ["SQLiteStore"],
        "Hummingbird": ["AdminServer"],
        "HummingbirdCore": ["AdminServer"],
        "X509": ["KeyCustody", "SandboxKit"],
        "CryptoExtras": ["KeyCustody", "SandboxKit"],
        "AsyncHTTPClient": ["AppleGateway", "EventDelivery", "MerchantKeyClient", "SandboxKit"],
        "NIOSSL": ["AppleGateway", "EventDelivery", "SandboxKit"],
        "FoundationNetworking": ["AppleGateway"],
        "Yams": ["DaemonKit"],
        "Configuration": ["DaemonKit"],
        "ArgumentParser": ["DaemonKit", "AdminCommands", "SandboxKit"],
    ]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Read once: it takes seconds.
    static let imports = Result { try readImports() }

    private static func readImports() throws -> [(target: String, file: String, module: String)] {
        let sources = root.appending(path: "Sources")
        let enumerator = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var found: [(String, String, String)] = []
        for case let file as URL in enumerator where file.pathExtension == "swift" {
            let target = file.path.dropFirst(sources.path.count + 1).split(separator: "/")[0]
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard line.contains("import "),
                    let match = line.wholeMatch(
                        of: /(?:(?:package|public|internal) )?import (?:struct |enum |class |func )?(\w+).*/)
                else { continue }
                found.append((String(target), file.lastPathComponent, String(match.1)))
            }
        }
        return found
    }

    @Test func `a target imports only from rows below its own`() throws {
        let imports = try Self.imports.get()
        #expect(imports.count > 100)
        let manifest = try #require(Self.manifest)
        for (target, file, module) in imports {
            let own = try #require(manifest.row(of: target), "\(target) is in no row")
            guard let other = manifest.row(of: module) else { continue }
            #expect(other < own, "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `what reaches outside is imported where it belongs only`() throws {
        for (target, file, module) in try Self.imports.get() {
            guard let allowed = Self.reserved[module] else { continue }
            #expect(allowed.contains(target), "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `the domain does no input or output`() throws {
        for (target, file, module) in try Self.imports.get() where target == "MerchantCore" {
            #expect(
                ["Vocabulary", "Secrets", "Crypto", "FoundationEssentials", "Synchronization"].contains(module),
                "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `a program is a main function and its composition`() throws {
        for program in try #require(Self.manifest?.rows.last) {
            let text = try String(
                contentsOf: Self.root.appending(path: "Sources/\(program)/main.swift"), encoding: .utf8)
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 20, "\(program)")
        }
    }

    @Test func `every target that has sources is in one row of the manifest`() throws {
        let manifest = try #require(Self.manifest)
        for (name, row) in zip(Manifest.rowNames, manifest.rows) { #expect(!row.isEmpty, "\(name)") }
        let targets = manifest.rows.flatMap(Array.init)
        #expect(targets.count == Set(targets).count)
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
        for folder in folders { #expect(manifest.row(of: folder) != nil, "Sources/\(folder) is in no row") }
    }
}
