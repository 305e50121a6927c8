import Foundation
import Testing

/// Holds every import in Sources/ against the rows of the architecture, lowest first.
@Suite struct RowsTests {
    static let rows: [Set<String>] = [
        [
            "Vocabulary", "StrictJSON", "Secrets", "Schema", "CLibCrypto", "CLinux", "CSQLite", "LocalSocket",
            "HTTPKit",
            "CWipingAllocator", "NameResolution",
        ],
        ["MerchantCore", "PaymentToken", "WireAPI"],
        ["MerchantOperations"],
        ["ServerKit"],
        [
            "AdminServer", "DecryptorServer", "SQLiteStore", "KeyCustody", "AppleGateway", "EventDelivery",
            "MerchantKeyClient",
        ],
        ["DaemonKit", "AdminCommands", "SandboxKit"],
        ["merchantkeyd", "merchantkeyctl", "applepay-sandbox"],
    ]

    /// What only some rooms may import, besides the standard library and FoundationEssentials.
    static let reserved: [String: Set<String>] = [
        "GRDB": ["SQLiteStore"],
        "Hummingbird": ["AdminServer"],
        "HummingbirdRouter": ["AdminServer"],
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

    static func imports() throws -> [(target: String, file: String, module: String)] {
        let sources = root.appending(path: "Sources")
        let enumerator = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var found: [(String, String, String)] = []
        for case let file as URL in enumerator where file.pathExtension == "swift" {
            let target = file.path.dropFirst(sources.path.count + 1).split(separator: "/")[0]
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard
                    let match = line.wholeMatch(
                        of: /(?:(?:package|public|internal) )?import (?:struct |enum |class |func )?(\w+).*/)
                else { continue }
                found.append((String(target), file.lastPathComponent, String(match.1)))
            }
        }
        return found
    }

    static func row(of target: String) -> Int? { rows.firstIndex { $0.contains(target) } }

    @Test func `a target imports only from rows below its own`() throws {
        let imports = try Self.imports()
        #expect(imports.count > 100)
        for (target, file, module) in imports {
            let own = try #require(Self.row(of: target), "\(target) is in no row")
            guard let other = Self.row(of: module) else { continue }
            #expect(other < own, "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `what reaches outside is imported where it belongs only`() throws {
        for (target, file, module) in try Self.imports() {
            guard let allowed = Self.reserved[module] else { continue }
            #expect(allowed.contains(target), "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `the domain does no input or output`() throws {
        for (target, file, module) in try Self.imports() where target == "MerchantCore" {
            #expect(
                ["Vocabulary", "Secrets", "Crypto", "FoundationEssentials", "Synchronization"].contains(module),
                "\(target)/\(file) imports \(module)")
        }
    }

    @Test func `a program is a main function and its composition`() throws {
        for program in try #require(Self.rows.last) {
            let text = try String(
                contentsOf: Self.root.appending(path: "Sources/\(program)/main.swift"), encoding: .utf8)
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 20, "\(program)")
        }
    }

    @Test func `the manifest names every target that has sources, in the row it belongs to`() throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        for target in Self.rows.joined() { #expect(manifest.contains("\"\(target)\""), "\(target)") }
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
        for folder in folders { #expect(Self.row(of: folder) != nil, "Sources/\(folder) is in no row") }
    }
}
