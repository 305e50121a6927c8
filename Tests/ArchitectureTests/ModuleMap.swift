import Foundation

/// The rows of modules. Only `Package.swift` lists them.
struct ModuleMap {
    /// The names of the arrays in the manifest, lowest row first.
    static let rowNames = [
        "base", "domain", "useCases", "servers", "restServers", "edges", "composition", "programs",
    ]

    /// The modules of each row, lowest row first.
    let rows: [[String]]

    /// - Throws: ``MissingRow`` if an array is missing or has no module.
    init(manifest: String) throws(MissingRow) {
        var rows: [[String]] = []
        for name in Self.rowNames {
            guard let start = manifest.range(of: "\nlet \(name): [Target] = ["),
                let end = manifest.range(of: "\n]", range: start.upperBound..<manifest.endIndex)
            else { throw MissingRow(name: name) }
            // The first string of a target is its name.
            let modules = manifest[start.upperBound..<end.lowerBound]
                .matches(of: /(?:module|program|\.systemLibrary|\.target)\(\s*(?:name:\s*)?"([^"]+)"/)
                .map { String($0.1) }
            guard !modules.isEmpty else { throw MissingRow(name: name) }
            rows.append(modules)
        }
        self.rows = rows
    }

    struct MissingRow: Error { let name: String }

    func row(of module: String) -> Int? { rows.firstIndex { $0.contains(module) } }
}

/// The project's root folder, and the imports in `Sources/`.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct Import {
        let module: String
        let file: String
        let imported: String
    }

    static func moduleMap() throws -> ModuleMap {
        try ModuleMap(
            manifest: String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8))
    }

    static func imports() throws -> [Import] {
        let sources = root.appending(path: "Sources")
        let enumerator = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var found: [Import] = []
        for case let file as URL in enumerator ?? FileManager.DirectoryEnumerator() where file.pathExtension == "swift"
        {
            let module = file.path.dropFirst(sources.path.count + 1).split(separator: "/")[0]
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where line.hasPrefix("import ") || line.hasPrefix("package ") || line.hasPrefix("public ")
                || line.hasPrefix("internal ")
            {
                guard
                    let match = line.wholeMatch(
                        of: /(?:(?:package|public|internal) )?import (?:struct |enum |class |func )?(\w+).*/)
                else { continue }
                found.append(
                    Import(module: String(module), file: file.lastPathComponent, imported: String(match.1)))
            }
        }
        return found
    }
}
