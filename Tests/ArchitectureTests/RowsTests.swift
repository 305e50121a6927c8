import Foundation
import Testing

/// Compares every import in `Sources/` with the rows of modules in `Package.swift`.
@Suite struct RowsTests {
    /// Libraries that only some modules may import, and these modules.
    static let reserved: [String: Set<String>] = [
        "GRDB": ["SQLiteStore"],
        "CLibPQ": ["PostgresStore"],
        "Hummingbird": ["RESTKit", "AdminServer", "PortalServer"],
        "HummingbirdCore": ["RESTKit", "PortalServer"],
        "Mustache": ["PortalServer"],
        "X509": ["KeyCustody", "PassProvisioning", "SandboxKit"],
        "CryptoExtras": ["KeyCustody", "SandboxKit"],
        "AsyncHTTPClient": ["OutboundHTTP", "MerchantKeyClient", "SandboxKit"],
        "NIOSSL": ["OutboundHTTP", "PortalServer", "SandboxKit"],
        "NIOHTTP2": ["PortalServer"],
        "FoundationNetworking": ["AppleGateway"],
        "Yams": ["DaemonKit"],
        "Configuration": ["DaemonKit"],
        "ArgumentParser": ["DaemonKit", "AdminCommands", "SandboxKit"],
    ]

    @Test func `a module imports only from rows below its own`() throws {
        let map = try SourceTree.moduleMap()
        let imports = try SourceTree.imports()
        #expect(imports.count > 100)
        for found in imports {
            let own = try #require(map.row(of: found.module), "\(found.module) is in no row")
            guard let other = map.row(of: found.imported) else { continue }
            #expect(other < own, "\(found.module)/\(found.file) imports \(found.imported)")
        }
    }

    @Test func `only the named modules import a reserved library`() throws {
        for found in try SourceTree.imports() {
            guard let allowed = Self.reserved[found.imported] else { continue }
            #expect(allowed.contains(found.module), "\(found.module)/\(found.file) imports \(found.imported)")
        }
    }

    @Test func `MerchantCore imports only the listed modules`() throws {
        for found in try SourceTree.imports() where found.module == "MerchantCore" {
            #expect(
                ["Vocabulary", "Secrets", "Crypto", "FoundationEssentials", "Synchronization"].contains(found.imported),
                "\(found.file) imports \(found.imported)")
        }
    }

    @Test func `PassProvisioning imports only the listed modules`() throws {
        let allowed = [
            "Vocabulary", "StrictJSON", "Secrets", "Crypto", "X509", "SwiftASN1", "FoundationEssentials",
            "Synchronization",
        ]
        for found in try SourceTree.imports() where found.module == "PassProvisioning" {
            #expect(allowed.contains(found.imported), "\(found.file) imports \(found.imported)")
        }
    }

    @Test func `a program is one file of fewer than 20 lines`() throws {
        for program in try #require(SourceTree.moduleMap().rows.last) {
            let folder = SourceTree.root.appending(path: "Sources/\(program)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["main.swift"])
            let text = try String(contentsOf: folder.appending(path: "main.swift"), encoding: .utf8)
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 20, "\(program)")
        }
    }

    @Test func `every folder of Sources is in exactly one row`() throws {
        let modules = try SourceTree.moduleMap().rows.joined()
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: SourceTree.root.appending(path: "Sources").path)
        // Schema's sources are in schema/.
        #expect(modules.sorted() == (folders + ["Schema"]).sorted())
    }

    @Test func `a manifest without a row or with an empty row is refused`() throws {
        let rows = ModuleMap.rowNames.map { "let \($0): [Target] = [\n    module(\"\($0)Module\")\n]\n" }
        #expect(try ModuleMap(manifest: "\n" + rows.joined(separator: "\n")).rows.joined().count == rows.count)
        for broken in ["\n" + rows.dropLast().joined(separator: "\n"), "\nlet base: [Target] = [\n]\n"] {
            #expect(throws: ModuleMap.MissingRow.self) { try ModuleMap(manifest: broken) }
        }
    }
}
